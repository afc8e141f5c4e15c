// Package launch implements `accordion run`: it starts one program on all allocations of a job, as srun starts one in a
// single allocation.
//
// Each allocation gets an srun of its own, because no step spans two allocations. Decide chooses the nodes, the tasks
// and the arguments of each srun. Start runs them: it passes the input to all, writes the output of all line by line,
// forwards signals to every srun, and returns the worst exit status.
//
//	plan, err := launch.Decide(launch.World{Allocations: list, Getenv: os.LookupEnv, ReadFile: os.ReadFile}, line)
//	status := launch.Start(plan, os.Environ(), launch.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// The variables ACCORDION_PROCID, ACCORDION_NTASKS, ACCORDION_NODEID and ACCORDION_NNODES tell a task its place in the
// whole. The variables SLURM_* describe its own allocation.
package launch
