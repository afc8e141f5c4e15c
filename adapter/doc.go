// Package adapter is the words between the sidecar and the batch systems: what a job, a node, a reservation and a
// reading are, and what a batch system must be able to do (BatchSystem). It is not the sidecar (adapter/sidecar), and it
// has no engine, no journal and no clock behind it: a driver that imports it gets the words only.
//
//	var system adapter.BatchSystem = slurm.New(config)
//	reading, err := system.Observe(ctx)
package adapter
