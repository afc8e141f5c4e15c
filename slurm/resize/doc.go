// Package resize grows and shrinks running jobs. It allocates nodes for a job, merges them into the job or keeps them
// in a companion, and releases nodes.
//
// Package slurm/growth decides in which way a job grows. The caller must make sure that the nodes are free and
// reserved.
//
//	resizer.go    the Resizer
//	resize.go     Expand, Merge and Shrink
//	allocate.go   makes an allocation immediately or not at all
//	merge.go      moves an expander's nodes into the job
//	pace.go       at most one change of a job's size in a second
//	companion.go  jobs that extend another job without a merge
package resize
