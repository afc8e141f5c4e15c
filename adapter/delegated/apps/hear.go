package apps

import (
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// hear takes a message of a session.
func (m *Machine) hear(e Heard) {
	s := m.sessions[e.Session]
	hello, first := e.Message.(*launcher.Hello)
	switch {
	case s == nil && first:
		m.greet(e, hello)
		return
	case s == nil: // closed, and its end is under way
		return
	case first:
		m.say(s, Refuse(launcher.CodeState, "t", "this session has said hello").Message(e.Seq, nil))
		return
	}
	defer m.touch(s.app)
	var wrong *Refusal
	if s.part != nil {
		wrong = m.hearPart(s, e.Seq, e.Message)
	} else {
		wrong = m.hearLauncher(s, e.Seq, e.Message)
	}
	if wrong == nil {
		return
	}
	answer := wrong.Message(e.Seq, &s.app.Application)
	if wrong.Code == launcher.CodeFlood && s.floods.Over() {
		m.close(s, answer)
		return
	}
	m.say(s, answer)
}

func (m *Machine) hearLauncher(s *session, seq int64, message launcher.Message) *Refusal {
	switch l := message.(type) {
	case *launcher.Subscribe:
		return m.subscribe(s, seq, l)
	case *launcher.List:
		m.say(s, m.list())
	case *launcher.Ack:
		return m.ack(s.app, l.View)
	case *launcher.Request:
		return m.request(s, l)
	case *launcher.Parts:
		return m.parts(s, seq, l)
	case *launcher.Done:
		m.launcherDone(s, seq, l.Code)
	default:
		return Refuse(launcher.CodeType, "t", "a launcher does not send %s", message.Type())
	}
	return nil
}

// list returns the clusters whose state is known.
func (m *Machine) list() *launcher.Clusters {
	return m.listOf(func(c int) bool { return m.clusters[c].State != nil })
}

func (m *Machine) hearPart(s *session, seq int64, message launcher.Message) *Refusal {
	switch l := message.(type) {
	case *launcher.Ready:
		return m.ready(s, seq, core.JobID(l.Job))
	case *launcher.Done:
		m.partDone(s, seq, l.Code)
	case *launcher.List:
		m.say(s, m.list())
	default:
		return Refuse(launcher.CodeType, "t", "a part does not send %s", message.Type())
	}
	return nil
}

// greet answers a session's first message.
func (m *Machine) greet(e Heard, hello *launcher.Hello) {
	s := &session{id: e.Session, user: e.User}
	var wrong *Refusal
	switch {
	case hello.Part != nil:
		wrong = m.greetPart(s, hello)
	case hello.App != 0:
		wrong = m.comeBack(s, hello)
	default:
		wrong = m.enter(s, hello)
	}
	if wrong != nil {
		m.out.Said = append(m.out.Said, Say{Session: s.id, Message: wrong.Message(e.Seq, nil), Close: true})
	}
}
