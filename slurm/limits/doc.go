// Package limits reads the limits of associations and QOS, and how much of them is used. It computes how many nodes
// these limits leave a job, the parts of a job's rank, and whether slurmctld has miscounted. It also generates the
// files with limits, nodes and operators for job_submit.lua. It runs no programs: its input is Slurm's output.
//
//	policies.go       associations and QOS, and a job's ceilings
//	rank.go           the parts of a waiting job's rank
//	miscount.go       jobs that slurmctld counts although they do not exist
//	luafile.go nodesfile.go operatorsfile.go    the files for job_submit.lua
package limits
