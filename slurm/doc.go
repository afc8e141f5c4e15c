// Package slurm is the sidecar's hand on Slurm: an adapter.BatchSystem for Slurm 20.11 and later.
//
// It runs Slurm's own client programs and reads what they print: the letters and keys of squeue and scontrol have been
// stable for ten years, while the JSON and REST layouts change with every release. It is not a binding to libslurm, it
// schedules nothing, and what it remembers between two calls saves programs and decides nothing: what Slurm says is the truth.
//
// Most of it is asked of consoles: programs of scontrol that live for minutes and carry out hundreds of commands (see
// slurm/client). squeue is run where what a console shows is not certain, salloc and scancel for what scontrol cannot do.
//
//	cluster, err := slurm.New(slurm.Config{Partitions: []string{"main"}})
//	if err != nil {
//		return err
//	}
//	for _, f := range cluster.Preflight(ctx) {
//		fmt.Println(f) // what would go wrong on this cluster, and how to mend it
//	}
//	now, err := cluster.Observe(ctx) // nodes, jobs and reservations of the pool
//	cluster.Close()
//
// What is here and in the packages that it stands on:
//
//	slurm.go observe.go array.go kinds.go limits.go counts.go preempt.go  a reading of the pool, and what is added to it
//	acts.go waiting.go reserve.go tell.go                                    acts on jobs and reservations; slurm/resize has the others
//	nodes.go                                                              nodes that Slurm has lost, and those that sleep
//	admit.go preflight.go trial.go                                        programs a minute; is the cluster fit, and does it work
//
// It must run as root on a machine where Slurm's clients work: only root (or SlurmUser) may hold, mark and resize the
// jobs of others.
//
// What can be trusted: a job's name, account, comment and paths are its owner's, who may write anything into them, line ends and
// whole forged records included. squeue therefore ends its free fields with a word that nobody can guess (see slurm/output), consoles
// put another in front of each time that they print, and of what a console shows only that is believed which no
// user can write (see slurm/jobs). So one user's texts are one user's trouble.
package slurm
