// Package sim is a deterministic simulation of the whole sidecar: the very code that serves a cluster, on the embedded
// batch system, in virtual time, with everything going wrong that may go wrong. It holds tests only.
//
// A seed is a scenario: a small machine, users with ordinary, evolving and moldable jobs, and faults. The same seed tells the
// same scenario in every run, because no two things happen at the same instant: every call out, every write to the journal
// and every step of an application takes its own odd number of nanoseconds, drawn from the seed.
//
//	go test ./adapter/sim                                    some seeds
//	go test ./adapter/sim -run Seeds -accordion.seeds=8500   as ./scripts/test --real does
//	go test ./adapter/sim -run Seeds -accordion.long         a million
//	go test ./adapter/sim -run Seed$ -accordion.seed=4711    one scenario again; the smallest part of it that still goes wrong, told in full
//	go test ./adapter/sim -run FreshSeeds -accordion.fresh=2000    scenarios of seeds that nobody has tried; a red one is kept, and fails nothing
//
// A scenario that failed once is in testdata/seeds, with what was wrong, and every run tells it. A
// seed that fails goes there when the fault is mended.
//
// # What goes wrong
//
// Calls to the batch system are lost before or after they were carried out, carried out after the caller gave up, carried
// out twice, slow, refused, or half done; a reading sees the jobs of one second beside the nodes of another. The sidecar
// is killed before or after any write to its journal, and at any second. The batch system restarts with its state of up
// to five seconds ago, and gives ids out again. Nodes are lost, drained and returned. Users cancel at any moment, release
// held jobs, shrink their running jobs themselves. Applications are early, late, too late, silent, impatient, wrong about
// which nodes they keep, and fail; ordinary jobs overrun their limits until the sweep.
//
// # What is demanded
//
//   - No node is in two jobs, neither in the batch system's records nor in what status shows.
//   - An application that is told that its nodes are there holds exactly these.
//   - Ordinary jobs are never touched, and none that was submitted before the managed ones starts later than without them,
//     by more than a pass.
//   - A promise is kept, or the journal has an event that says why not.
//   - Once the trouble is over, every job ends, and nothing of ours is left: no reservation, expander, held node, record
//     or intent without an outcome.
//
// That two sidecars never act in the same lease is demanded in scenarios of their own (lease_test.go); those of a seed have one
// sidecar, which keeps none.
//
// Applications that have parts on two such clusters have scenarios of their own (parts_test.go,
// delegated_test.go, -accordion.parts=N, -accordion.partseed=4711). ./scripts/test --real tells 8,500 of
// them, which are shorter and have more faults. They demand more. No part runs without an order to
// start it, nor on nodes that were not prepared for it. No part is let through before all are at
// the barrier, and an application keeps its rank. A launcher that lies is refused and believed in
// nothing. Nothing is left of parts when their orders are gone. The kinds of jobs, launchers and
// faults are counted, and each has to occur often enough (tally_test.go).
//
// # What cannot be demanded
//
// After a restart of the batch system that lost seconds, a job may hold other nodes than its application was told, and its
// rest is fitted again: that counts as explained. A job whose promise was broken by others may run into the limit that it
// was started with, which is never changed: that is explained by the same event.
//
// An ordinary job that ends before its limit leaves nodes that nobody planned with; a managed job that began meanwhile may
// be in the way of an ordinary one that could have begun there, as with every back-filling. So the comparison with and
// without managed jobs is made in scenarios whose ordinary jobs use their limits to the second. The sidecar counts on their
// guard all the same, as at a site, where nobody knows beforehand when in it a job ends.
//
// A sidecar that dies leaves its reservations, that of a job which it has just started among them. Until the next one deletes
// them, or they expire, their nodes are kept from ordinary jobs; and the batch system, which knows their end and not our
// plans, may let a longer ordinary job overtake one that waits for these nodes (11574). So an ordinary job that waited while
// there was such a reservation may start later.
package sim
