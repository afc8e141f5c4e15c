// Package slurm implements adapter.BatchSystem for Slurm 20.11 and later.
//
// It runs Slurm's own client programs and reads what they print. The format letters of squeue and the keys of scontrol
// have been stable for ten years, while the JSON and REST layouts change with every release. The package is not a
// binding to libslurm, and it schedules nothing. Its caches only save client programs. Decisions follow what Slurm
// reports.
//
// Most questions go to consoles: scontrol programs that live for minutes and carry out hundreds of commands (see
// slurm/client). squeue runs where a console's answer is not certain. salloc and scancel do what scontrol cannot do.
//
//	cluster, err := slurm.New(slurm.Config{Partitions: []string{"main"}})
//	if err != nil {
//		return err
//	}
//	for _, f := range cluster.Preflight(ctx) {
//		fmt.Println(f) // what would go wrong on this cluster, and the remedy
//	}
//	now, err := cluster.Observe(ctx) // nodes, jobs and reservations of the pool
//	cluster.Close()
//
// The files, and the packages below this one:
//
//	slurm.go observe.go array.go kinds.go limits.go recount.go preempt.go  a reading of the pool, and what is added to it
//	acts.go hold_reservation.go reserve.go messages.go                     actions on jobs and reservations
//	nodes.go                                                               nodes that Slurm has lost, and powered-down nodes
//	admit.go preflight.go trial.go                                         programs a minute; checks of the cluster
//	lease.go operators.go plugin.go audit.go                               the lease, files for the plug-in, accounting
//	slurm/resize growth                                                    growing and shrinking running jobs, and in which way
//	slurm/jobs output number                                               reading jobs, and all other output
//	slurm/client cluster limits sacct setup                                programs, settings, limits, accounting, installation
//
// It must run as root on a machine where Slurm's clients work: only root (or SlurmUser) may hold, mark and resize
// other users' jobs.
//
// What can be trusted: a job's owner may write anything into its name, account, comment and paths, including line
// breaks and whole forged records. squeue therefore ends its free fields with a random word (see slurm/output), and
// consoles print another random word in front of each time. From a console's output the package trusts only what no user can
// write (see slurm/jobs). One user's texts can therefore only harm that user.
package slurm
