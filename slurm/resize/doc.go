// Package resize makes running jobs larger and smaller. It allocates nodes for a job, merges them into the job or keeps them in a
// companion, and gives nodes back.
//
// slurm/growth decides in which way a job grows. The sidecar makes sure that the nodes are free and reserved.
//
//	resizer.go    what a Resizer holds
//	resize.go     expand, merge, shrink
//	allocate.go   an allocation at once or not at all
//	merge.go      an expander's nodes become the job's
//	pace.go       one change of size a second
//	companion.go  jobs that stay beside the job
package resize
