// Package jobs reads Slurm's jobs: all of them or one, of a console or of squeue, and says what of that is to be believed.
//
// It acts on none. A user may write anything into his job's name, account, comment and paths, whole forged records included.
// squeue ends its free fields with a word that nobody can guess; of what a console shows only that is believed which no user
// can write. So one user's texts are one user's trouble.
//
//	lookup.go  one job, by its number and the second of its submission
//	list.go    all jobs: a console is asked, and squeue where that is not certain
//	oaths.go   what is known to be true of jobs, so that squeue need not be asked again
//	show.go    a job's record as a console shows it
//	layout.go  where the keys of a record stand, and which are in doubt
//	cuts.go    where the records of an answer begin
//	rivals.go  where a record begins that may begin at several places
package jobs
