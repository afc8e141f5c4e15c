// Package output reads what Slurm's programs print, and says what it means: pure, without processes, clock or files.
//
// It is not how they are run (slurm/client), nor how a console's list of jobs is read and believed: that stands with those who ask.
//
//	text.go       small words: counts, times, limits, amounts of memory, generic resources
//	fields.go     many of them, with the first error
//	settings.go   scontrol show config, and what follows from settings
//	inventory.go  scontrol show node, reservation, partition
//	pool.go       what is asked of an inventory: the nodes of a pool, the least of some nodes
//	nodekind.go   what jobs may tell a node apart by, and whether it suits a job
//	sharing.go    how a partition shares nodes
//	record.go     a job, by whatever program
//	roles.go      what a job is to another one: by its name and its mark
//	arrays.go     the tasks of arrays
//	squeue.go     squeue's list of jobs
//	snapshot.go   all of it as the sidecar sees it
package output
