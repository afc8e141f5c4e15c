// Package embedded is a batch system inside the process: nodes n1…nN, a queue with EASY back-filling, reservations,
// holds, expanders, merges and shrinks, on a clock that may be virtual.
//
// It serves the demonstration and the tests of the sidecar's loop, and so follows Slurm where Slurm is awkward: a
// reservation over nodes whose holders' limits end too late is busy, limits are enforced by a sweep, a job's nodes come
// free only after an epilog, a job that is still tied to a reservation ends with it, merging into a finished job leaves
// the expander behind. It is not a model of a machine's speed: a job runs as long as its JobSpec says.
//
// Nothing happens but at an instant of the clock, in the order of the instants; so inside testing/synctest a whole day
// passes in no time and always in the same way.
//
//	system, err := embedded.New(embedded.Options{Nodes: 16})
//	if err != nil {
//		return err
//	}
//	defer system.Close()
//	job, err := system.Submit(embedded.JobSpec{User: "ada", Nodes: 4, Limit: 600, Runs: 300})
package embedded
