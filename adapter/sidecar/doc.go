// Package sidecar is the loop beside a batch system: it reads it, plans with core/sched, and acts on the difference.
//
//	absorb -> plan -> decide -> carry out
//
// One goroutine owns all state (Sidecar.Run). It never waits for the batch system: readings and operations happen in
// goroutines of their own, which report back to it. What it must remember is in the journal before it is true outside;
// after a crash the batch system is right, and the journal says what was meant.
//
// It is not a batch system: ordinary jobs are scheduled by Slurm or OAR, as ever; with the sidecar dead, everything
// it made there expires by itself.
//
// Sidecar (sidecar.go) is a loop over parts, each with its own state in a file of its own:
//
//	notes         what is written into the journal and the log
//	workers          what is under way beside the loop
//	readings      the newest reading, and how hard it was to have
//	jobs          the managed jobs; reconcile, undone: what a reading or a failure does to one
//	nodes         since when each node is idle, lost or away; nudges and wakes
//	reservations  what was done to each
//	orphans        left-over expanders
//	parts         parts of applications, by orders (adapter/delegated/orders)
//	pacing        when to read, and when to wake
//	clock         a clock that is set
//
// What was decided about a job is carried out and concluded in carry.go; calls.go hears what applications ask. Nothing is done without the
// cluster's lease (package lease).
//
//	loop := sidecar.New(sidecar.Options{System: slurm, Journal: j, Calls: server.Calls(), Settings: settings})
//	err := loop.Run(ctx) // until ctx ends
package sidecar
