// Package place converts node counts to node IDs.
//
// The planner decides how many nodes a job has at each second. The nodes themselves can be chosen afterwards, because
// a mapping exists whenever the counts fit (Klein & Pérez, RR-7205, section 4.1). There are two functions. Assign is
// Algorithm 1 of that report: it goes through the change points of finished schedules, and the application chooses
// which nodes it frees. Name serves a machine in use: some nodes are held, promised to others or down, and earlier
// choices should stay, because each has a reservation in the batch system.
//
// A node is a number from 0 to N−1. Its name and its properties do not matter here. A job never migrates: it keeps a
// node until its count shrinks.
//
//	running := core.EP{{Duration: 60, Nodes: 2}, {Duration: 60, Nodes: 3}} // one node more in a minute
//	named := place.Name(4,
//		[]place.Claim{{Node: 0, From: 0, To: 500}}, // another user's job
//		[]place.Request{{Job: 7, Start: 0, EP: running, Held: []int{3, 1}}})
//	// named[0].Layers: nodes 3 and 1 from 0 to 120, node 2 from 60 to 120
package place
