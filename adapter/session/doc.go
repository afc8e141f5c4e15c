// Package session is the sidecar's side of the launcher protocol: it takes the requests of shims off a Unix socket and
// hands them, each with the credentials of whoever asked, to the loop.
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
// A session may stay open for hours (an application that is early). It keeps no state that matters: when the sidecar
// stops or dies, the shim asks again.
package session
