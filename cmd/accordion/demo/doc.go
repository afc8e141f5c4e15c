// Package demo runs a small workload on a batch system in the process with the real sidecar, and draws the result.
//
// The demo has the same sidecar, planner and journal as a real cluster, on a fast clock. Only the batch system (adapter/embedded) is
// simulated, and the jobs wait instead of working.
//
//	jobs, err := demo.Parse(demo.Workload)
//	…
//	chart, err := demo.Play(ctx, demo.Options{Jobs: jobs, Nodes: 16, Speed: 60, Show: os.Stdout})
package demo
