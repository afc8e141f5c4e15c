package sched

import "accordion/core"

// Local describes the load that one cluster has of its own, for a planner of several clusters (core/delegated).
// It has the jobs that run there with their promises, guards and reservations, and the jobs that wait. The
// planner adds the requests of its applications to this load.
type Local struct {
	// State has all running jobs and reservations, and no waiting job. The receiver of a Local must clone the State before
	// changing it.
	State Viewer
	// Waiting are the waiting jobs in the order of their ranks, lowest first.
	Waiting []Ranked
	// Windows has the times at which individual hosts are free. If it is nil, the planner only needs the number
	// of free hosts. If certain hosts are planned for later, enough hosts may be free in each second although
	// no host is free for the whole time of a request. State does not show this, because it only counts hosts.
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
