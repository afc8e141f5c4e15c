// Package web shows a cluster in a browser: the queue with its plan, which jobs hold which nodes and when, promises and broken ones, and
// each job with the sentences of `accordion explain`. It is read-only, has no login, and shows no more than `accordion queue` does.
//
//	server := web.New(web.Options{Journal: j, Clock: clock.Now})
//	loop := sidecar.New(sidecar.Options{Subscriber: server, …})
//	listener, err := web.Listen("127.0.0.1:9821")
//	err = server.Serve(ctx, listener) // until ctx ends
//
// The loop passes a view.Snapshot when the server wants one, and never waits. One goroutine of the
// server composes a version from it: the whole state, and what changed since the previous version,
// each encoded once for all readers (version.go). The server stores for a reader only the number of
// the version that it sent last. The reader receives what changed since that version, or the whole
// state if it fell behind. So a slow reader delays no other and uses no memory (stream.go). past.go
// keeps what jobs held before, which snapshots do not contain. access.go decides which requests are
// accepted.
package web
