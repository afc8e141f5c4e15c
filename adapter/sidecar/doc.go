// Package sidecar is the loop that runs next to a batch system. It reads the batch system, plans with core/sched, and acts on the
// difference.
//
//	absorb -> plan -> decide -> carry out
//
// One goroutine owns all state (Sidecar.Run). It never waits for the batch system: readings and operations run in goroutines of their
// own, which report back to it. What it must remember is in the journal before it is true outside. After a crash the batch system is
// right, and the journal says what was meant.
//
// Slurm or OAR schedule ordinary jobs, as ever. When the sidecar is dead, everything that it made in the batch system ends by itself.
//
// Sidecar (sidecar.go) is a loop over parts. Each part has its own state, in a file of its own:
//
//	eventLog      what is written into the journal and the log
//	workers       what runs in other goroutines
//	readings      the newest reading, and how hard it was to get
//	jobs          the managed jobs; reconcile.go and undone.go: what a reading or a failure changes in a job
//	nodes         since when each node is idle, lost or away; repairs and power
//	reservations  what was done to each reservation
//	orphans       expanders whose job is gone
//	parts         parts of applications, by orders (adapter/delegated/orders)
//	pacing        when to read, and when to wake
//	lease         that this is the only sidecar of the cluster; without it nothing is done
//	gate          when ordinary jobs may start, where the whole partition is the sidecar's
//	clock         a clock that was set
//
// carry.go carries out what was decided about a job and takes in the result. calls.go receives what applications ask.
//
//	loop := sidecar.New(sidecar.Options{System: slurm, Journal: j, Calls: server.Calls(), Settings: settings})
//	err := loop.Run(ctx) // until ctx ends
package sidecar
