// Package pass is the scheduler that OAR calls for a queue.
//
// OAR's meta-scheduler runs an executable for each queue with waiting jobs, one after the other, and reads from the
// database what that has planned. OAR checks none of it, neither sizes nor overlaps, and waits for as long as it takes.
// So a pass reads everything in a few flat queries, plans (package gantt, and core/queue where hosts are alike), checks the
// plan as if somebody else had made it, and writes it in one transaction, within a deadline of its own.
//
// Jobs that evolve are not its to plan: the sidecar does so, and both meet in Accordion's tables (package tables). A pass lets
// a released job begin on exactly the places that the sidecar has given it, with all of its first companions or not at all,
// and keeps the others out of the sidecar's reservations, which it shows to queues below. Under a policy by which few jobs have a
// reservation those that wait for the sidecar have their turn in the pass, and nobody behind them has what they are about to have.
//
//	report, err := pass.Schedule(ctx, conf, pass.Pass{Queue: "evolve", Now: 1763780000, Patience: 10 * time.Second, Statistics: read})
//	for _, l := range report.Launches {
//		fmt.Println(l) // SCHEDRUN JOB_ID=7 MOLDABLE_JOB_ID=9 RESOURCES=3,4
//	}
//	fmt.Println(report) // queue evolve: 12 planned, 3 of them now; 1 without a place; 0.08 s
//	time.Sleep(report.Rest)
//
// Schedule starts no job: OAR does, when it reads that. It does not see besteffort jobs that run, unless its queue holds such
// jobs: OAR ends them where a plan wants their resources.
package pass
