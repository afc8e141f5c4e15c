// Package live is Figure 12 of RR-7389: the jobs of a file as processes, each a launcher, with the program's own sidecar over embedded clusters,
// instead of a simulation. It counts what they say to each other, and what processor time that takes.
//
//	l := live.Live{Program: "/usr/local/bin/accordion", Clusters: 8, Pace: 10}
//	counted, err := l.Run(ctx, jobs)
//
// Files: live.go is a run, sidecar.go the sidecar's process and its configuration, launchers.go the launchers', point.go a run beside the
// simulation of the same jobs.
package live
