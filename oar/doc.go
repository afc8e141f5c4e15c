// Package oar is OAR 2.5 and 2.6 as a batch system (System): it writes what the sidecar decides into Accordion's tables in OAR's
// database, and tells OAR's server. It is not the scheduler that OAR calls for the queue (package pass), nor what is installed
// in an OAR (package setup), nor what OAR calls when a job begins or is over (package hooks).
//
//	c, err := conf.Read(conf.DefaultFile)
//	if err != nil {
//		return err
//	}
//	system, err := oar.Open(ctx, c, oar.Options{Queue: "evolve"})
//
//	acts.go        adopted, refused, shaped
//	start.go       attached, released, held; launch.go: beside OAR's pass
//	companions.go  a growth's companion jobs, merged and given back; lengthen.go: as long as their job
//	observe.go     the reading; record.go: a job of it; ends.go: why one ended
//	reserve.go     reservations
//	reach.go       an application is spoken with: its script, signals, hosts and node files
//	await.go       what OAR was asked for is waited for
package oar
