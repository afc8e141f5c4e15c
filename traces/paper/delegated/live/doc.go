// Package live makes Figure 12 of RR-7389. Instead of simulating the jobs of a file, it runs a launcher process for each job, and "accordion
// serve" over embedded clusters. It counts the bytes of the messages, and the processor time of the processes.
//
//	l := live.Live{Program: "/usr/local/bin/accordion", Clusters: 8, Pace: 10}
//	counted, err := l.Run(ctx, jobs)
//
// live.go makes a run, sidecar.go has the sidecar's process and its configuration, launchers.go the launchers' processes. point.go compares
// a run with the simulation of the same jobs.
package live
