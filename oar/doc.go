// Package oar is OAR 2.5 and 2.6 as a batch system (System): it writes what the sidecar decides into Accordion's tables in OAR's
// database, and tells OAR's server. Package scheduler is what OAR calls for the queue, package setup what is installed in an OAR, and
// package cpuset what OAR calls when a job starts and ends.
//
//	c, err := conf.Read(conf.DefaultFile)
//	if err != nil {
//		return err
//	}
//	system, err := oar.Open(ctx, c, oar.Options{Queue: "evolve"})
//
//	system.go       what it holds, and its deadlines
//	adopt.go        adopted, refused, shaped
//	start.go        tied to a reservation, released, held, untied
//	companion.go    what a job has above its base; grow.go, shrink.go
//	walltime.go     a longer walltime is asked for
//	end.go          ended, with its companions
//	reservation.go  nodes kept free
//	talk.go         an application is spoken with; nodefile.go: its hosts file, and OAR's file of its nodes
//	observe.go      the reading, which package observe makes
//	job.go          one job, as the acts go by it
//	besteffort.go   besteffort jobs that make way
//	lease.go        that no other sidecar acts
//	audit.go        what accordion audit compares
//	await.go        what OAR was asked for is waited for
package oar
