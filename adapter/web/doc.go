// Package web shows a cluster in a browser. The pages show the queue with its plan, which jobs hold which nodes and when, promises and
// broken promises, and each job with the sentences of `accordion explain`. They change nothing, need no login, and show no more than
// `accordion queue`.
//
//	server := web.New(web.Options{Journal: j, Clock: clock.Now})
//	loop := sidecar.New(sidecar.Options{Subscriber: server, …})
//	listener, err := web.Listen("127.0.0.1:9821")
//	err = server.Serve(ctx, listener) // until ctx ends
//
// The loop passes a view.Snapshot to the server when the server wants one. The loop never waits for the
// server. One goroutine of the server, the composer, makes a version from each snapshot. A version has
// the whole state, and the changes since the previous version. Both are encoded once for all readers
// (version.go). For each reader, the server stores only the number of the version that it last sent to
// the reader. Then it sends the changes since that version or, if the reader has missed versions, the
// whole state. So a slow reader does not delay other readers, and needs no memory for unsent messages
// (stream.go). Snapshots do not contain which nodes jobs held earlier, so past.go keeps that. access.go
// decides which requests are accepted.
package web
