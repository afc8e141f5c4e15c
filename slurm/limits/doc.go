// Package limits reads the limits of associations and QOS and their usage. It computes how many nodes they leave a
// job, the parts of a job's rank, and whether slurmctld has miscounted. It also generates the files with limits,
// nodes and operators for job_submit.lua. It is pure: its input is what Slurm printed.
//
//	policies.go       associations and QOS, and a job's ceilings
//	rank.go           the parts of a waiting job's rank
//	miscount.go       jobs that slurmctld counts and that do not exist
//	luafile.go nodesfile.go operatorsfile.go    the files for job_submit.lua
package limits
