// Package adapter has the vocabulary between the sidecar and the batch systems: jobs, nodes,
// reservations, and BatchSystem, the interface that each batch system implements. It contains no
// logic of the sidecar (adapter/sidecar), so that an implementation of BatchSystem depends only on
// this package.
//
//	var system adapter.BatchSystem = slurm.New(config)
//	reading, err := system.Observe(ctx)
package adapter
