// Package scheduler is the scheduler that OAR calls for a queue.
//
// OAR's meta-scheduler runs an executable for each queue with waiting jobs, one after another. It then reads from the
// database what the executable planned. OAR checks neither sizes nor overlaps, and waits without a limit. So a pass has
// a deadline of its own. It reads everything in a few flat queries and plans, with core/sched where hosts are alike,
// else with package planner. It checks the plan without trusting it, and writes it in one transaction.
//
// The sidecar plans evolving jobs, and both meet in Accordion's tables (package tables). A pass lets a released job
// start on exactly the places that the sidecar gave it, with all of its first companions or not at all. It keeps other
// jobs out of the sidecar's reservations, and shows these to the queues below. Under some policies few jobs have a
// reservation. Then jobs that wait for the sidecar have their turn in the pass, and no job behind them gets their
// nodes.
//
//	report, err := scheduler.Schedule(ctx, conf, scheduler.Pass{Queue: "evolve", Now: 1763780000, Patience: 10 * time.Second, Statistics: read})
//	for _, l := range report.Launches {
//		fmt.Println(l) // SCHEDRUN JOB_ID=7 MOLDABLE_JOB_ID=9 RESOURCES=3,4
//	}
//	fmt.Println(report) // queue evolve: 12 planned, 3 of them now; 1 without a place; 0.08 s
//	time.Sleep(report.Rest)
//
// Schedule starts no job: OAR does, when it reads these lines. It ignores running besteffort jobs, unless its queue
// holds such jobs: OAR ends them where a plan needs their resources.
package scheduler
