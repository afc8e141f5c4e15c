// Package gantt plans jobs on resources that differ: it decides when each job starts and which resources it has, as OAR's
// schedulers do.
//
// It is pure: it knows neither OAR's database nor the clock. What it does not do is count: where all that a queue asks
// for is so many like hosts, core/queue plans it, and only the names are given here.
//
//	hosts := gantt.Property{0, 0, 1, 1} // four cores on two hosts
//	tree := gantt.NewTree(cores, hosts) // cores is a gantt.Set with all four in it
//	cal := gantt.NewCalendar(cores)
//	cal.Take(first, 100, 400) // first has the first host's: they are taken from 100 to 400
//	job := gantt.Job{ID: 7, Choices: []gantt.Choice{{ID: 9, Duration: 60, Groups: []gantt.Group{{Tree: tree, Counts: []int{2}}}}}}
//	placed := gantt.Plan(cal, 100, []gantt.Job{job}, nil)
//	// placed[0].Start is 400, its resources are 0, 1, 2, 3
//
// A resource is a number from 0, in the order in which they are to be taken.
package gantt
