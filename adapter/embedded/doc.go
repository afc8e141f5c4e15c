// Package embedded is a batch system inside the process: nodes n1…nN, a queue with EASY back-filling, reservations, holds, expanders,
// merges and shrinks, on a clock that may be virtual.
//
// It serves the demonstration and the tests of the sidecar's loop. So it imitates the behavior of
// Slurm that is hard for the sidecar. Reserve fails if the limits of jobs on the nodes end too
// late. A sweep enforces limits. A job's nodes become free only after an epilog. A job that is
// still attached to a reservation ends with it. Merging into a job that has ended leaves the
// expander behind. It does not model the speed of a machine: a job runs as long as its JobSpec
// says.
//
// Events happen at instants of the clock, in the order of these instants. Inside testing/synctest a
// whole day takes no real time and every run is the same.
//
//	system, err := embedded.New(embedded.Options{Nodes: 16})
//	if err != nil {
//		return err
//	}
//	defer system.Close()
//	job, err := system.Submit(embedded.JobSpec{User: "ada", Nodes: 4, Limit: 600, Runs: 300})
package embedded
