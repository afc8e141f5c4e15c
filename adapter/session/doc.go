// Package session is the sidecar's side of the launcher protocol: it takes the requests of shims off a Unix socket, and
// off TCP where jobs run on other hosts, and hands them, each with who asked, to the loop.
//
//	server, err := session.Listen(session.Options{Path: wire.Socket, Log: log})
//	go server.Serve(ctx)
//	for {
//		select {
//		case call := <-server.Calls():
//			if !mayAsk(call.UID, call.Request.Job) {
//				call.Answer(wire.Reply{Status: wire.Refused, Why: "job 7 is not yours"})
//			}
//			…
//		}
//	}
//
// A session is one connection, one request, one reply. The server knows frames, credentials, deadlines and bounds; it
// does not know jobs: whether a user may speak for one is the loop's decision, because the loop knows whose they are.
//
// A connection whose first frame is of version 2 is a launcher's, and handed as it is to Options.Launchers (adapter/delegated/server): who asks
// and the bounds on sessions are the same.
//
// On the socket the kernel tells who asks. On TCP munge does (package seal), and a host that vanishes frees its sessions
// within a minute (keep-alive). A session over TCP costs two munge programs on this host, a few milliseconds each.
//
// A session may stay open for hours (an application that is early). It keeps no state that matters: when the sidecar
// stops or dies, the shim asks again.
package session
