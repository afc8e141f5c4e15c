// Package web shows a cluster in a browser: the queue with its plan, who holds which nodes and will, what was promised and broken, and each job with
// the sentences of `accordion explain`. It is read-only, has no login, and shows what `accordion queue` shows and no more.
//
//	server := web.New(web.Options{Journal: j, Clock: clock.Now})
//	loop := sidecar.New(sidecar.Options{Subscriber: server, …})
//	listener, err := web.Listen("127.0.0.1:9821")
//	err = server.Serve(ctx, listener) // until ctx ends
//
// The loop hands over a view.Scene, when the server wants one, and never waits. The server's one composer makes an Edition of it: what changed since
// the one before, and the whole, each written down once for all readers (version.go). A reader has nothing but a number, that of the version that he
// was sent last, and gets what changed since, or the whole where he fell behind: he cannot make anybody wait, nor fill any memory (stream.go).
// What was held before, which no snapshot tells, is kept by the composer (past.go). access.go refuses who may not read.
package web
