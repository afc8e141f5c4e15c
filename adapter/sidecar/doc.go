// Package sidecar is the loop beside a batch system: it observes a batch system, plans with core/queue, and acts on the difference.
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
//	loop := sidecar.New(sidecar.Options{System: slurm, Journal: j, Calls: server.Calls(), Settings: settings})
//	err := loop.Run(ctx) // until ctx ends
package sidecar
