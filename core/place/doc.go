// Package place turns node counts into node numbers.
//
// The planner decides how many nodes a job has at each second; which nodes these are can be decided afterwards, because
// wherever the counts fit a mapping exists (Klein & Pérez, RR-7205, section 4.1). There are two mappers. Assign is
// Algorithm 1 of that report: it walks through the change points of finished schedules, and the application chooses which
// nodes it frees. Name serves a machine that is in use: some nodes are held, promised to others or down, and names given
// before should stay, because a reservation stands behind each.
//
// A node is a number from 0 to N−1; what it is called, and whether nodes differ, is no matter here. A job never migrates:
// a node that it was given stays with it until its count shrinks.
//
//	running := core.EP{{Duration: 60, Nodes: 2}, {Duration: 60, Nodes: 3}} // one node more in a minute
//	named := place.Name(4,
//		[]place.Claim{{Node: 0, From: 0, To: 500}}, // somebody else's job
//		[]place.Wish{{Job: 7, Start: 0, EP: running, Held: []int{3, 1}}})
//	// named[0].Layers: nodes 3 and 1 from 0 to 120, node 2 from 60 to 120
package place
