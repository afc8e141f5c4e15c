// Package delegated runs the experiments of C. Klein and C. Pérez, "Untying RMS from Application Scheduling", RR-7389 (2010), section 6. They
// compare delegated scheduling with a batch system like OAR, which receives all configurations of an application.
//
//	counters, err := delegated.Setup{Clusters: 4, FairStart: 5, Timer: 1}.Run(jobs)
//
// The RMS is core/delegated, and the launchers use the algorithms of core/moldable. So the experiments run production code in virtual time.
// docs/delegated.md explains how we interpret the paper, and lists the results.
package delegated
