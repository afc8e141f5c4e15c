// Package applications is what becomes of applications and of the launchers that speak for them (delegated scheduling, RR-7389): who waits
// with which request at which rank, who is prepared on which clusters, who runs until when, and what is told to whom.
//
// It is pure: a Machine has no clock, no goroutine, no input and no output. What happens comes in with its second, and what is to be done goes
// out as values; adapter/delegate carries these out, the records first:
//
//	m := applications.New(clusters, settings)
//	m.Step(now, applications.Heard{Session: 7, User: "ann", Seq: 1, Message: &launcher.Hello{…}})
//	m.Wake(now)             // what is due: passes, deadlines
//	effects := m.Effects()  // to be carried out in their order: records, then messages and orders
//	next := m.Next()        // the second of the next Wake
//
// Where a request fits is core/delegate's to say. How a batch system is made to start a part is the sidecar's (adapter/part).
package applications
