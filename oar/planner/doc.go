// Package planner plans jobs on resources that differ. It decides when each job starts and which resources it gets, as OAR's own
// schedulers do.
//
// It is pure: it uses neither OAR's database nor the clock. It plans individual resources, not numbers of nodes. If all jobs of a queue
// request only numbers of hosts that are alike, core/sched plans the queue, and this package only assigns the hosts.
//
//	hosts := planner.Property{0, 0, 1, 1} // four cores on two hosts
//	tree := planner.NewTree(cores, hosts) // cores is a planner.Set with all four in it
//	cal := planner.NewCalendar(cores)
//	cal.Take(first, 100, 400) // first has the first host's: they are taken from 100 to 400
//	job := planner.Job{ID: 7, Choices: []planner.Choice{{ID: 9, Duration: 60, Groups: []planner.Group{{Tree: tree, Counts: []int{2}}}}}}
//	placed := planner.Plan(cal, 100, []planner.Job{job}, nil)
//	// placed[0].Start is 400, its resources are 0, 1, 2, 3
//
// A resource is a number, counted from 0. Resources with smaller numbers are used first.
package planner
