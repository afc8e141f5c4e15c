// Package plan computes which jobs start and change when, and on which nodes by name. It also
// computes the reservations that the plan needs. Make receives everything that it uses as
// arguments. It makes no calls, writes no log, and changes none of its inputs. Package core/sched
// schedules counts of nodes, and core/place names the nodes.
//
//	world := plan.Make(plan.Input{Now: now, Snapshot: reading, Jobs: jobs, Settings: settings})
//	world.Apply() // courses and promises into the jobs' records
//	reservations, keep := world.Wanted()
package plan
