// Package growth decides in which way jobs grow on a cluster and returns the way and its terms as data. Package
// slurm/resize carries growths and shrinks out. The decision follows from the cluster's settings. The package
// also computes counts and arguments for Slurm's commands, but runs no commands.
//
//	site.go        which settings decide the way, and the decision
//	terms.go       how one job grows, and what it needs on its nodes
//	allocation.go  the allocation that is requested for a growth
package growth
