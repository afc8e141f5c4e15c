// Package oar implements adapter.BatchSystem for OAR 2.5 and 2.6 (System). It writes the sidecar's decisions into
// Accordion's tables in OAR's database and notifies OAR's server. OAR calls package scheduler for the queue, and
// package cpuset when a job starts and ends. Package setup installs Accordion in an OAR.
//
//	c, err := conf.Read(conf.DefaultFile)
//	if err != nil {
//		return err
//	}
//	system, err := oar.Open(ctx, c, oar.Options{Queue: "evolve"})
//
//	system.go       fields and deadlines of System
//	adopt.go        adopt, refuse and shape waiting jobs
//	start.go        start jobs: attach to a reservation, release, hold, detach
//	companion.go    companions, the nodes of a job above its base; grow.go, shrink.go
//	walltime.go     ask for a longer walltime
//	end.go          end jobs and their companions
//	reservation.go  reservations
//	talk.go         messages and signals to jobs; nodefile.go: their hosts files and node files
//	observe.go      readings, which package observe makes
//	job.go          helpers for transactions on one job
//	besteffort.go   remove besteffort jobs from reserved nodes
//	lease.go        the lease of the one active sidecar
//	audit.go        data for accordion audit
//	await.go        wait until OAR has done what it was asked for
package oar
