// Package growth decides how a running job is made larger on a cluster, and what is asked for then: from settings to a decision, and
// from a decision to counts and arguments.
//
// It asks Slurm nothing and changes nothing.
//
//	site.go        what of a cluster's settings decides the way, and the way
//	terms.go       how one job grows, and what that asks of its nodes
//	allocation.go  what Slurm is asked for beside a running job
package growth
