// Package delegate runs applications: one goroutine that owns an applications.Machine, hears launchers and clusters, keeps the journal of
// applications, and carries out what the machine decides, the records first.
//
//	loop := delegate.New(delegate.Options{Clusters: …, Events: events, Journal: journal, Clock: adapter.Wall{}})
//	err := loop.Run(ctx)
package delegate
