// Package link is a launcher's or a part's end of a session with the sidecar (docs/protocol.md, version 2).
//
//	l := link.Open(ctx, link.Options{Dial: shim.Dialer(os.LookupEnv), Hello: launcher.Hello{Name: "cem"}})
//	for e := range l.Events() {
//		switch m := e.Message.(type) {
//		case *launcher.Welcome: // a connection is there; what is sent goes over e.Session
//		case *launcher.Change:
//			…
//			l.Has(m.View)
//		case nil: // it is gone, e.Err says why; when e.Over is set, for good
//		}
//	}
//
// It says hello, comes back as the same application when the connection breaks, answers pings and sends its own. What
// messages mean is its caller's concern: what was sent before a connection broke may have arrived or not, and the next welcome says
// what the sidecar knows.
package link
