// Package loop runs applications. One goroutine owns an apps.Machine: it hears launchers and clusters, writes the records of
// applications into their journal, and then carries out what the machine decided.
//
//	applications := loop.New(loop.Options{Clusters: …, Events: events, Journal: journal, Clock: adapter.Wall{}})
//	err := applications.Run(ctx)
package loop
