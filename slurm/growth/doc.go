// Package growth decides in which way running jobs grow on a cluster, by the cluster's settings, and computes the
// counts and arguments for Slurm's commands. It runs no commands.
//
//	site.go        which settings decide the way, and the decision
//	terms.go       how one job grows, and what it needs on its nodes
//	allocation.go  the allocation that is requested for a growth
package growth
