// Package sidecar is the loop that runs next to a batch system. It reads the batch system, plans
// with core/sched, and makes the calls that turn the present state into the planned one.
//
//	absorb -> plan -> decide -> carry out
//
// One goroutine owns all state (Sidecar.Run). It never waits for the batch system: readings and
// operations run in other goroutines, which send it their results. Before the sidecar acts, it
// writes into the journal what it has to know after a crash. After a crash the batch system shows
// which calls were carried out, and the journal has which calls were intended.
//
// Slurm or OAR schedule ordinary jobs as they would without the sidecar. If the sidecar stops, its
// reservations in the batch system expire by themselves.
//
// A Sidecar (sidecar.go) has these parts. Each has its own state:
//
//	eventLog      writes events into the journal and the log
//	workers       makes calls in other goroutines
//	readings      the newest reading, and how long it took
//	jobs          the managed jobs; reconcile.go compares them with a reading
//	nodes         since when each node is idle, lost or away; repairs and boots nodes
//	reservations  what was done to each reservation
//	orphans       ends expanders whose job has ended
//	parts         parts of applications over several clusters (adapter/delegated/orders)
//	pacing        when the batch system is read, and when the loop wakes
//	lease         makes sure that this is the only sidecar of the cluster; without the lease nothing is done
//	gate          whether ordinary jobs start without the sidecar, if the sidecar manages the whole partition
//	time          finds out that the clock was set
//
// carry.go carries out decisions about jobs and takes their results. questions.go receives
// questions of applications.
//
//	loop := sidecar.New(sidecar.Options{System: slurm, Journal: j, Calls: server.Calls(), Settings: settings})
//	err := loop.Run(ctx) // until ctx ends
package sidecar
