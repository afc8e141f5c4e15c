// Package loop runs applications. One goroutine owns an apps.Machine, and passes the messages of launchers and the states of clusters to
// it. The goroutine writes the records of applications into their journal, and then carries out the other effects of the machine.
//
//	applications := loop.New(loop.Options{Clusters: …, Events: events, Journal: journal, Clock: adapter.Wall{}})
//	err := applications.Run(ctx)
package loop
