// Package output parses what Slurm's client programs print, and derives from it what the sidecar needs to know. It is
// pure: it starts no process and reads neither clock nor files.
//
// Package client runs the programs. Package jobs keeps the list of jobs that a console prints and verifies it.
//
//	text.go       single words: counts, times, limits, amounts of memory
//	fields.go     several fields, with the first error
//	settings.go   scontrol show config, and what follows from settings
//	inventory.go  scontrol show node, reservation, partition
//	pool.go       questions to an inventory: the nodes of a pool, the smallest of some nodes
//	nodekind.go   the kinds of nodes that jobs can tell apart, and whether a node suits a job
//	nodestate.go  the states of nodes
//	repeat.go     repeating reservations
//	sharing.go    how a partition shares nodes
//	record.go     a job, from either program
//	roles.go      what a job is for another one, by its name and its mark
//	arrays.go     the tasks of arrays
//	squeue.go     squeue's list of jobs
//	steps.go      scontrol show step
//	snapshot.go   the snapshot that the sidecar plans with
package output
