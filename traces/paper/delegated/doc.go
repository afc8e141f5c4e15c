// Package delegated runs the experiments of C. Klein and C. Pérez, "Untying RMS from Application Scheduling", RR-7389 (2010),
// section 6: delegated scheduling against a batch system of the kind of OAR, which is told all configurations.
//
//	counters, err := delegated.Setup{Clusters: 4, FairStart: 5, Timer: 1}.Run(jobs)
//
// The RMS is core/delegated, the launchers' algorithms are core/moldable's: what runs here is what a real system would run, in
// virtual time. docs/delegated.md has the readings, and what came out.
package delegated
