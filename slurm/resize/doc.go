// Package resize makes running jobs larger and smaller: allocations beside them, merged or kept as companions, and nodes given back.
//
// Which way a job grows is slurm/growth's decision. That its nodes are free and reserved, the sidecar sees to.
//
//	hand.go       what it holds
//	resize.go     expand, merge, shrink
//	allocate.go   an allocation at once or not at all
//	merge.go      an expander's nodes become the job's
//	pace.go       one change of size a second
//	companion.go  jobs that stay beside the job
package resize
