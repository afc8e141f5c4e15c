// Package sim simulates the whole sidecar deterministically: the code that serves a cluster, on the
// embedded batch system, in virtual time, with every kind of fault. The package contains only
// tests. They are not in package embedded, because the test scripts run them separately, with their
// own flags.
//
// A seed determines a scenario: a small machine, users with ordinary, evolving and moldable jobs,
// and faults. The same seed has the same result in every run, because no two events happen at the
// same instant. Every call, every write to the journal and every step of an application takes its
// own number of nanoseconds, drawn from the seed.
//
//	go test ./adapter/sim                                    some seeds
//	go test ./adapter/sim -run Seeds -accordion.seeds=8500   as ./scripts/test --real does
//	go test ./adapter/sim -run Seeds -accordion.long         a million
//	go test ./adapter/sim -run Seed$ -accordion.seed=4711    one scenario again, with its trace; if it fails, the smallest part of it that still fails
//	go test ./adapter/sim -run FreshSeeds -accordion.fresh=2000    scenarios of new seeds; a failing seed is recorded, but fails no test
//
// Seeds that failed once are in testdata/seeds, with the cause, and every run simulates them. A failing seed is added when its fault is
// fixed.
//
// # Faults
//
// Calls to the batch system are lost before or after they were carried out. Others are carried out
// twice, or after the caller gave up. Others are slow, refused, or only half done. A reading may
// mix the jobs of one second with the nodes of another. The sidecar is killed before or after any
// write to its journal, and at any second. The batch system restarts with a state that is up to
// five seconds old, and then uses job IDs again. Nodes are lost, drained and returned. Users cancel
// jobs at any moment, release held jobs, and shrink their running jobs themselves. Applications are
// early, late, too late, silent or impatient, ask to keep nodes that they do not have, or fail.
// Ordinary jobs overrun their limits until the sweep.
//
// # Checks
//
//   - No node is in two jobs, neither in the batch system's records nor in what status shows.
//   - An application that receives the reply "resized" holds exactly the nodes in the reply.
//   - Ordinary jobs are never changed. If one was submitted before the managed ones, it starts at most one scheduling pass later than
//     without them.
//   - A promise is kept, or the journal has an event that says why not.
//   - After the faults every job ends, and nothing of the sidecar's is left: no reservation, expander, held node, record
//     or intent without an outcome.
//
// lease_test.go has its own scenarios, with two sidecars, to check that they never act in the same lease. The scenarios of a seed have one
// sidecar and no lease.
//
// Applications with parts on two such clusters have their own scenarios (parts_test.go, delegated_test.go, -accordion.parts=N,
// -accordion.partseed=4711). ./scripts/test --real simulates 8,500 of them, which are shorter and have more faults. They have further
// checks. No part runs without an order to start it, nor on nodes that were not prepared for it. No part passes the barrier before all have
// arrived, and an application keeps its rank. A launcher's false message is refused and has no effect. Nothing is left of parts when their
// orders are gone. The kinds of jobs, launchers and faults are counted, and each has to occur often enough (tally_test.go).
//
// # What cannot be checked
//
// If a restart of the batch system lost its last seconds, a job may hold other nodes than its
// application knows, and the rest of the job's profile is planned again. The checks accept this as
// explained. A job whose promise was broken by others may reach its original time limit, which
// never changes. The event of the broken promise explains this, too.
//
// An ordinary job that ends before its limit releases nodes that no plan had expected. A managed
// job that began in the meantime may delay an ordinary job that could have used these nodes, as
// under any back-filling. So the comparison with and without managed jobs uses scenarios whose
// ordinary jobs run to their limits. The sidecar does not know that these jobs run to their limits,
// and still plans each with the time by which it may overrun its limit.
//
// A sidecar that dies leaves its reservations, including that of a job which it has just started.
// Until the next sidecar deletes the reservations, or they expire, ordinary jobs cannot use the
// reserved nodes. The batch system knows when the reservations end, but not the sidecar's plan. So
// it may start a longer ordinary job before a job that waits for the reserved nodes (seed 11574).
// So an ordinary job that waited while such a reservation existed may start later.
package sim
