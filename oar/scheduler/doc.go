// Package scheduler is the scheduler that OAR calls for a queue.
//
// OAR's meta-scheduler runs an executable for each queue with waiting jobs, one after another. It then reads the executable's plan from the
// database. OAR checks neither sizes nor overlaps, and has no timeout. So a pass has a deadline of its own. A pass reads everything in a
// few flat queries. It plans with core/sched if hosts are alike, and with package planner otherwise. Independent code checks the plan,
// which is then written in one transaction.
//
// The sidecar plans evolving jobs, and communicates with the pass through Accordion's tables (package tables). A pass lets a released job
// start on exactly the places that the sidecar gave it, with all companions of its first step or not at all. It keeps other jobs out of the
// sidecar's reservations, and shows the reservations to queues with a lower priority. Under policies that give few jobs a reservation, a
// pass also considers the evolving jobs that wait for the sidecar, so that no job behind them gets their nodes.
//
//	report, err := scheduler.Schedule(ctx, conf, scheduler.Pass{Queue: "evolve", Now: 1763780000, Patience: 10 * time.Second, Statistics: read})
//	for _, l := range report.Launches {
//		fmt.Println(l) // SCHEDRUN JOB_ID=7 MOLDABLE_JOB_ID=9 RESOURCES=3,4
//	}
//	fmt.Println(report) // queue evolve: 12 planned, 3 of them now; 1 without a place; 0.08 s
//	time.Sleep(report.Rest)
//
// Schedule starts no job. OAR starts the jobs when it reads these lines. Schedule ignores running besteffort jobs,
// because OAR ends them if a plan needs their resources. It counts them only when it plans the queue of besteffort
// jobs.
package scheduler
