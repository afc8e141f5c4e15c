// Package launch implements `accordion run`: it starts one program on all allocations of a job, as srun starts one in a
// single allocation.
//
// Each allocation gets an srun of its own, because no step spans two allocations. Decide chooses the nodes, the tasks and the arguments of
// each srun. Start runs the sruns. It passes the input to all of them, writes their output line by line, forwards signals to all of them,
// and returns the highest exit status.
//
//	plan, err := launch.Decide(launch.World{Allocations: list, Getenv: os.LookupEnv, ReadFile: os.ReadFile}, line)
//	status := launch.Start(plan, os.Environ(), launch.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// The environment variables ACCORDION_PROCID, ACCORDION_NTASKS, ACCORDION_NODEID and ACCORDION_NNODES of a task count over all allocations.
// The variables SLURM_* describe only the task's own allocation.
package launch
