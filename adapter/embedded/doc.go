// Package embedded implements a batch system inside the process. It has nodes n1…nN, a queue with EASY back-filling, reservations, holds,
// expanders, merges and shrinks. Its clock may be virtual.
//
// It is used for demonstrations, and for tests of the sidecar's loop. So it imitates the behavior of
// Slurm that is difficult for the sidecar. Reserve fails if the time limits of jobs on the nodes end
// after the reservation begins. Limits are enforced only at intervals, by a sweep. A job's nodes
// become free only after an epilog. A job that is still attached to a reservation ends when the
// reservation ends. Merging into a job that has ended leaves the expander behind. The package does
// not model the speed of a machine: a job runs for as long as its JobSpec says.
//
// Events happen in the order of their times on the clock. Inside testing/synctest a whole day takes
// hardly any real time, and every run has the same result.
//
//	system, err := embedded.New(embedded.Options{Nodes: 16})
//	if err != nil {
//		return err
//	}
//	defer system.Close()
//	job, err := system.Submit(embedded.JobSpec{User: "ada", Nodes: 4, Limit: 600, Runs: 300})
package embedded
