// Package jobs reads Slurm's jobs, all of them or one, from a console or from squeue, and decides which parts of the
// output can be trusted. It does not change jobs.
//
// A user may write anything into a job's name, account, comment and paths, including whole forged records. squeue
// ends its free fields with a random word. From a console's output the package trusts only what no user can write.
// One user's texts can therefore only harm that user.
//
//	lookup.go  one job, by its number and time of submission
//	list.go    all jobs: from a console, and from squeue if the console's output is not certain
//	cache.go   verified records of jobs, so that squeue need not run again
//	show.go    a job's record as a console shows it
//	layout.go  the positions of the keys in a record, and which fields are in doubt
//	cuts.go    where the records of an answer begin
//	rivals.go  at which of several possible positions a record begins
package jobs
