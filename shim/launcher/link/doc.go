// Package link is a launcher's or a part's end of a session with the sidecar (docs/protocol.md, version 2).
//
//	l := link.Open(ctx, link.Options{Dial: shim.Dialer(os.LookupEnv), Hello: launcher.Hello{Name: "cem"}})
//	for e := range l.Events() {
//		switch m := e.Message.(type) {
//		case *launcher.Welcome: // connected; send messages over e.Session
//		case *launcher.Change:
//			…
//			l.Has(m.View)
//		case nil: // disconnected because of e.Err; for good if e.Over is set
//		}
//	}
//
// A link sends the hello, reconnects as the same application when the connection breaks, answers pings and sends pings. It does not
// interpret other messages. A message that was sent before a connection broke may or may not have arrived; the next welcome contains what
// the sidecar knows.
package link
