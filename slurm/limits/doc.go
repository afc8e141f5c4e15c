// Package limits knows the limits of associations and QOS, and what is used of them: how many nodes they leave a job, what its rank is
// made of, and whether slurmctld has miscounted. Pure: it is given what Slurm printed.
//
//	policies.go  associations and QOS, and the ceilings that they are to a job
//	luafile.go   the same for job_submit.lua
//	rank.go      what a waiting job's rank is made of
//	miscount.go  jobs that slurmctld counts and that are not there
package limits
