// Package output parses the output of Slurm's client programs, and derives from it what the sidecar needs to know. It
// starts no processes and reads neither the clock nor files.
//
// Package client runs the programs. Package jobs keeps the list of jobs that a console prints and verifies it.
//
//	text.go       single words: counts, times, limits, amounts of memory
//	fields.go     several fields; keeps the first error
//	settings.go   scontrol show config, and what follows from settings
//	inventory.go  scontrol show node, reservation, partition
//	pool.go       queries of an inventory: the nodes of a pool, the smallest of some nodes
//	nodekind.go   the kinds of nodes that jobs can distinguish, and whether a node suits a job
//	nodestate.go  the states of nodes
//	repeat.go     repeating reservations
//	sharing.go    how a partition shares nodes
//	record.go     a job, from either program
//	roles.go      the role of a job for another job, from its name and its mark
//	arrays.go     the tasks of arrays
//	squeue.go     squeue's list of jobs
//	steps.go      scontrol show step
//	snapshot.go   the snapshot from which the sidecar plans
package output
