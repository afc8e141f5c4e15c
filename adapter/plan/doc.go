// Package plan is the world of a cycle and the plan made of it: which jobs begin and change when, on which nodes by name,
// and which reservations that needs. Everything that it goes by is given, nothing is remembered but in the jobs; it asks no
// batch system and writes no log. The scheduling itself is core/sched's and core/place's.
//
//	world := plan.Make(plan.Input{Now: now, Snapshot: reading, Jobs: jobs, Settings: settings})
//	reservations, keep := world.Wanted()
package plan
