// Package session is the server side of the protocol of `accordion step`. It receives the requests
// of shims on a Unix socket, and over TCP from other hosts, and passes each request and its user to
// the sidecar's loop.
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
// A session is one connection with one request and one reply. The server handles frames,
// credentials, deadlines and bounds. The loop decides whether a user may ask for a job, because it
// knows the jobs' owners.
//
// A connection whose first frame has version 2 is a launcher's. It is passed to Options.Launchers
// (adapter/delegated/server). Credentials and bounds are the same.
//
// On the socket the kernel identifies the user. Over TCP munge does (package seal). The sessions of
// a host that vanishes end within a minute (keep-alive). A session over TCP runs two munge programs
// on this host, which take a few milliseconds each.
//
// A session may stay open for hours, when an application ends its step early. It has no durable
// state: when the sidecar stops or dies, the shim asks again.
package session
