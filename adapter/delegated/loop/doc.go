// Package loop runs applications. One goroutine owns an apps.Machine and passes it the messages of launchers and the states of clusters.
// It writes the records of applications into their journal, and then carries out what the machine decided.
//
//	applications := loop.New(loop.Options{Clusters: …, Events: events, Journal: journal, Clock: adapter.Wall{}})
//	err := applications.Run(ctx)
package loop
