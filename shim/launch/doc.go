// Package launch starts one program over all allocations of a job, as srun starts it in one: `accordion run`.
//
// Each allocation gets an srun of its own, because no step spans two. Decide says which nodes and tasks each one has and what its
// srun is told; Start carries that out: the input goes to all, the output of all comes out line by line, the exit status is the worst,
// signals reach every srun.
//
//	plan, err := launch.Decide(launch.World{Allocations: list, Getenv: os.LookupEnv, ReadFile: os.ReadFile}, line)
//	status := launch.Start(plan, os.Environ(), launch.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// A task knows its place in the whole by ACCORDION_PROCID, ACCORDION_NTASKS, ACCORDION_NODEID and ACCORDION_NNODES; what SLURM_* say
// to it is of its own allocation.
package launch
