package sched

import "accordion/core"

// Local describes what one cluster has of its own for a planner of several clusters (core/delegated): the jobs that run there with their
// promises, guards and reservations, and the jobs that wait. Such a planner adds the requests of its applications to that.
type Local struct {
	// State has everything that runs, and no waiting job. Who gets a Local does not change it, but clones it.
	State Viewer
	// Waiting are the waiting jobs in the order of their ranks, lowest first.
	Waiting []Ranked
	// Windows lists when hosts are free by name. nil means that the number of free hosts is enough to know. Where certain hosts are
	// planned for later, enough hosts may be free in each second although no host is free for the whole time of a request. State counts
	// hosts and does not know their names.
	Windows []Window
}

// Ranked is a waiting job. An application goes before it only if it subscribed no later than the second of Rank.
type Ranked struct {
	core.Job
	Rank core.Time
}

// Window is a number of hosts, each of which is free from From until before To (core.Forever: with no end).
type Window struct {
	From, To core.Time
	Hosts    int
}
