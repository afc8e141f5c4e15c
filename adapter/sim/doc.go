// Package sim simulates the whole sidecar deterministically. The code that serves a cluster runs on the
// embedded batch system, in virtual time, with every kind of fault. The package contains only tests.
// They are not in package embedded, because the test scripts run them separately, with their own flags.
//
// A seed determines a scenario: a small machine, users with ordinary, evolving and moldable jobs, and
// faults. The same seed has the same result in every run, because two events hardly ever happen at the
// same instant. The duration of every call, every write to the journal and every step of an
// application is a random number of nanoseconds, which depends on the seed.
//
//	go test ./adapter/sim                                    some seeds
//	go test ./adapter/sim -run Seeds -accordion.seeds=8500   as ./scripts/test --real does
//	go test ./adapter/sim -run Seeds -accordion.long         a million
//	go test ./adapter/sim -run Seed$ -accordion.seed=4711    one scenario with its trace; if it fails, also the smallest part of it that still fails
//	go test ./adapter/sim -run FreshSeeds -accordion.fresh=2000    scenarios of new seeds; a failing seed is recorded, but the test passes
//
// Seeds that once failed are in testdata/seeds, with the cause. Every run of the tests simulates their scenarios. A failing seed is added
// when the fault is fixed.
//
// # Faults
//
// Some calls to the batch system are lost before they are carried out, or their answers are lost. Other
// calls are carried out twice, or only after the caller has given up. Still others are slow, refused,
// or only half done. A reading may have the jobs of one second and the nodes of another. The sidecar is
// killed before or after any write to its journal, and at any second. The batch system restarts with a
// state that is up to five seconds old, and then uses job IDs again. Nodes are lost, drained and
// returned. Users cancel jobs at any moment, release held jobs, and shrink their running jobs
// themselves. Applications are early, late, too late, silent or impatient, ask to keep nodes that they
// do not have, or fail. Ordinary jobs run past their limits, until the sweep ends them.
//
// # Checks
//
//   - No node is in two jobs, neither in the batch system's records nor in what status shows.
//   - An application that receives the reply "resized" holds exactly the nodes in the reply.
//   - Ordinary jobs are never changed. An ordinary job that was submitted before all managed jobs starts at most one scheduling pass
//     later than it would without managed jobs.
//   - A promise is kept, or the journal has an event that says why not.
//   - After the faults have ended, every job ends, and nothing that the sidecar made is left: no reservation, expander, held node, record,
//     or intent without an outcome.
//
// lease_test.go has other scenarios, with two sidecars, to check that only the sidecar that holds the lease acts. All other scenarios
// have one sidecar and no lease.
//
// Further scenarios have two clusters, and applications with parts on both (parts_test.go, delegated_test.go, -accordion.parts=N,
// -accordion.partseed=4711). They are shorter, and have more faults. ./scripts/test --real simulates 8,500 of them. They have further
// checks. No part runs without an order to start it, or on nodes that were not prepared for it. No part passes the barrier before all
// parts have arrived. An application keeps its rank. A launcher's false message is refused and has no effect. Nothing is left of a part
// when there is no order for it any more. The kinds of jobs, launchers and faults are counted, and each kind has to occur often enough
// (tally_test.go).
//
// # What cannot be checked
//
// When the batch system restarts, it loses its last seconds. Then a job may hold other nodes than its
// application knows, and the rest of the job's profile is planned again. The checks accept this. If
// other jobs broke a job's promise, the job may reach its original time limit, which never changes. The
// checks accept this too, because the journal has the event of the broken promise.
//
// An ordinary job that ends before its limit releases nodes earlier than any plan had expected. A
// managed job that has begun meanwhile may delay an ordinary job that could have used these nodes. That
// happens under any back-filling. So the starts of ordinary jobs are compared with and without managed
// jobs only in scenarios whose ordinary jobs run exactly to their limits. The sidecar does not know
// this, and plans each of these jobs with the time by which it may overrun its limit.
//
// When a sidecar dies, its reservations remain, including the reservation of a job that it has just
// started. Until the next sidecar deletes the reservations, or they expire, ordinary jobs cannot use
// the reserved nodes. The batch system knows when the reservations end, but does not know the sidecar's
// plan. So it may start a longer ordinary job before a job that waits for the reserved nodes (seed
// 11574). For this reason, an ordinary job that waited while such a reservation existed is allowed to
// start later.
package sim
