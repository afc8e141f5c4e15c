// Package demo plays a small workload on a batch system inside the process, with the real sidecar beside it, and draws
// what happened.
//
// It is the product without a cluster: the same sidecar, planner and journal as on Slurm, on a clock that runs fast. What
// is not real is the batch system (adapter/embedded) and the work of the jobs, which only wait.
//
//	jobs, err := demo.Parse(demo.Workload)
//	…
//	report, err := demo.Play(ctx, demo.Options{Jobs: jobs, Nodes: 16, Speed: 60, Show: os.Stdout})
package demo
