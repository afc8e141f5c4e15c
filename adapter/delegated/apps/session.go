package apps

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// session is a session of a launcher or of a part.
type session struct {
	id   uint64
	user string
	app  *application

	part  *Part // nil if the session is a launcher's
	ready bool  // the part has reported in this session that it is ready

	answered int64 // number of the view that the last request answered
	floods   requestRate
}

func (m *Machine) send(s *session, message launcher.Message) {
	if s != nil {
		m.out.Sent = append(m.out.Sent, Outgoing{Session: s.id, Message: message})
	}
}

// close ends a session. `last` is the last message of the session; nil if there is none.
func (m *Machine) close(s *session, last launcher.Message) {
	if s == nil {
		return
	}
	m.out.Sent = append(m.out.Sent, Outgoing{Session: s.id, Message: last, Close: true})
	m.leave(s.id)
}

func (m *Machine) okay(s *session, seq int64) { m.send(s, &launcher.Okay{To: seq}) }

// register adds a new application for the launcher of a session.
func (m *Machine) register(s *session, hello *launcher.Hello) *refusal {
	mine := 0
	for _, a := range m.all {
		if a.User == s.user && a.Phase != Ending {
			mine++
		}
	}
	if m.settings.PerUser > 0 && mine >= m.settings.PerUser {
		return refuse(launcher.CodeFull, "", "you have %d applications, and may have %d at a time: let one end first", mine, m.settings.PerUser)
	}
	m.last++
	a := newApplication(Application{ID: m.last, User: s.user, Name: hello.Name, Phase: Fresh, Tag: -1, Since: m.now})
	m.byID[a.ID] = a
	m.place(a)
	m.out.Stored = append(m.out.Stored, Record{ID: lastNumber, Data: fmt.Append(nil, m.last)})
	m.store(a)
	m.attach(s, a)
	return nil
}

// reconnect attaches a new session of a launcher to the application that the launcher had before.
func (m *Machine) reconnect(s *session, hello *launcher.Hello) *refusal {
	a := m.byID[hello.App]
	if a == nil || a.User != s.user || a.Phase == Ending && m.now >= a.EndAt {
		return refuse(launcher.CodeUnknown, "app", "you have no application %d: it has ended, or never existed", hello.App)
	}
	if old := a.launcher; old != nil {
		m.close(old, &launcher.End{Why: launcher.WhyNewer})
	}
	m.attach(s, a)
	if hello.Have == 0 || hello.Have != a.Acked {
		a.acked, a.sentEstimate = nil, noEstimate
	}
	a.sent, a.unackedSince, a.listed = a.acked, 0, nil
	m.setViewDue(a)
	switch {
	case a.Phase.Started():
		m.send(s, a.startMessage())
		if a.Phase == Running {
			m.send(s, a.goMessage())
		}
	case a.Phase == Ending:
		m.send(s, &launcher.End{Why: a.Reason, In: max(0, a.EndAt-m.now)})
	}
	for _, p := range a.Parts {
		if p.Lost > 0 {
			m.send(s, p.Gone())
		}
	}
	return nil
}

// attach makes s the session of the application's launcher, and sends a welcome.
func (m *Machine) attach(s *session, a *application) {
	s.app, a.launcher, a.away = a, s, 0
	m.sessions[s.id] = s
	m.unsettled = true
	m.changed(a)
	m.welcome(s)
}

func (m *Machine) welcome(s *session) {
	m.send(s, &launcher.Welcome{
		Version: launcher.Version, App: s.app.ID, State: m.state(s.app), Now: m.now, Pace: m.settings.Pace, Tag: s.app.Tag,
		Grace: m.settings.Grace, Timer: m.settings.Timer, Fair: m.settings.FairStart, Answer: m.settings.Answer,
	})
}

// leave removes a session that has ended.
func (m *Machine) leave(id uint64) {
	s := m.sessions[id]
	if s == nil {
		return
	}
	delete(m.sessions, id)
	a := s.app
	if s.part != nil {
		a.barriers = slices.DeleteFunc(a.barriers, func(t *session) bool { return s == t })
		return
	}
	if a.launcher == s {
		a.launcher, a.away, a.unackedSince, a.pending = nil, m.now, 0, nil
		m.unsettled = true
		m.changed(a)
	}
}

// state returns an application's state as launchers receive it.
func (m *Machine) state(a *application) string {
	return a.stateWord(a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) == delegated.Waiting, m.now)
}

// receive handles a message of a session.
func (m *Machine) receive(e Received) {
	s := m.sessions[e.Session]
	hello, first := e.Message.(*launcher.Hello)
	switch {
	case s == nil && first:
		m.hello(e, hello)
		return
	case s == nil: // the session has already been closed
		return
	case first:
		m.send(s, refuse(launcher.CodeState, "t", "this session has said hello").Message(e.Seq, nil))
		return
	}
	defer m.changed(s.app)
	var wrong *refusal
	if s.part != nil {
		wrong = m.fromPart(s, e.Seq, e.Message)
	} else {
		wrong = m.fromLauncher(s, e.Seq, e.Message)
	}
	if wrong == nil {
		return
	}
	answer := wrong.Message(e.Seq, &s.app.Application)
	if wrong.Code == launcher.CodeFlood && s.floods.Over() {
		m.close(s, answer)
		return
	}
	m.send(s, answer)
}

func (m *Machine) fromLauncher(s *session, seq int64, message launcher.Message) *refusal {
	switch l := message.(type) {
	case *launcher.Subscribe:
		return m.subscribe(s, seq, l)
	case *launcher.List:
		m.send(s, m.list())
	case *launcher.Ack:
		return m.ack(s.app, l.View)
	case *launcher.Request:
		return m.request(s, l)
	case *launcher.Parts:
		return m.replaceParts(s, seq, l)
	case *launcher.Done:
		m.launcherDone(s, seq, l.Code)
	default:
		return refuse(launcher.CodeType, "t", "a launcher does not send %s", message.Type())
	}
	return nil
}

// list returns a message with the clusters whose state is known.
func (m *Machine) list() *launcher.Clusters {
	return m.listOf(func(c int) bool { return m.clusters[c].State != nil })
}

func (m *Machine) fromPart(s *session, seq int64, message launcher.Message) *refusal {
	switch l := message.(type) {
	case *launcher.Ready:
		return m.ready(s, seq, core.JobID(l.Job))
	case *launcher.Done:
		m.partDone(s, seq, l.Code)
	case *launcher.List:
		m.send(s, m.list())
	default:
		return refuse(launcher.CodeType, "t", "a part does not send %s", message.Type())
	}
	return nil
}

// hello answers the first message of a session.
func (m *Machine) hello(e Received, hello *launcher.Hello) {
	s := &session{id: e.Session, user: e.User}
	var wrong *refusal
	switch {
	case hello.Part != nil:
		wrong = m.helloPart(s, hello)
	case hello.App != 0:
		wrong = m.reconnect(s, hello)
	default:
		wrong = m.register(s, hello)
	}
	if wrong != nil {
		m.out.Sent = append(m.out.Sent, Outgoing{Session: s.id, Message: wrong.Message(e.Seq, nil), Close: true})
	}
}

// A session with mostExcess requests beyond the permitted rate within excessWindow seconds is closed.
const (
	mostExcess   = 20
	excessWindow = 10
)

// requestRate limits the requests of a session that do not answer a view. One such request is allowed each second.
type requestRate struct {
	free   core.Time   // when the next request is allowed
	lately []core.Time // seconds of recent requests that were not allowed
}

// Allow reports whether a request is allowed at the second now.
func (f *requestRate) Allow(now core.Time) bool {
	if now >= f.free {
		f.free = now + 1
		return true
	}
	f.lately = append(slices.DeleteFunc(f.lately, func(t core.Time) bool { return t <= now-excessWindow }), now)
	return false
}

// Over reports whether too many recent requests were not allowed.
func (f *requestRate) Over() bool { return len(f.lately) >= mostExcess }
