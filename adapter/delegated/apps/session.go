package apps

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// session is one of a launcher, or of a part's barrier.
type session struct {
	id   uint64
	user string
	app  *application

	part  *Part // nil: a launcher's
	ready bool  // the part said so, in this session

	answered int64 // the view that its last request was by
	floods   Flood
}

func (m *Machine) say(s *session, message launcher.Message) {
	if s != nil {
		m.out.Said = append(m.out.Said, Say{Session: s.id, Message: message})
	}
}

// close ends a session with a last message, nil for none.
func (m *Machine) close(s *session, last launcher.Message) {
	if s == nil {
		return
	}
	m.out.Said = append(m.out.Said, Say{Session: s.id, Message: last, Close: true})
	m.leave(s.id)
}

func (m *Machine) okay(s *session, seq int64) { m.say(s, &launcher.Okay{To: seq}) }

// enter makes a new application.
func (m *Machine) enter(s *session, hello *launcher.Hello) *Refusal {
	mine := 0
	for _, a := range m.all {
		if a.User == s.user && a.Phase != Ending {
			mine++
		}
	}
	if m.settings.PerUser > 0 && mine >= m.settings.PerUser {
		return Refuse(launcher.CodeFull, "", "you have %d applications, and may have %d at a time: let one end first", mine, m.settings.PerUser)
	}
	m.last++
	a := newApplication(Application{ID: m.last, User: s.user, Name: hello.Name, Phase: Fresh, Tag: -1, Since: m.now})
	m.byID[a.ID] = a
	m.place(a)
	m.out.Stored = append(m.out.Stored, Record{ID: counter, Data: fmt.Append(nil, m.last)})
	m.store(a)
	m.attach(s, a)
	return nil
}

// comeBack gives an application its launcher back.
func (m *Machine) comeBack(s *session, hello *launcher.Hello) *Refusal {
	a := m.byID[hello.App]
	if a == nil || a.User != s.user || a.Phase == Ending && m.now >= a.EndAt {
		return Refuse(launcher.CodeUnknown, "app", "you have no application %d: it is over, or never was", hello.App)
	}
	if old := a.launcher; old != nil {
		m.close(old, &launcher.End{Why: launcher.WhyNewer})
	}
	m.attach(s, a)
	if hello.Have == 0 || hello.Have != a.Acked {
		a.acked, a.told = nil, untold
	}
	a.sent, a.owes, a.listed = a.acked, 0, nil
	m.stir(a)
	switch {
	case a.Phase.Started():
		m.say(s, a.StartsOn())
		if a.Phase == Running {
			m.say(s, a.Goes())
		}
	case a.Phase == Ending:
		m.say(s, &launcher.End{Why: a.Reason, In: max(0, a.EndAt-m.now)})
	}
	for _, p := range a.Parts {
		if p.Lost > 0 {
			m.say(s, p.Gone())
		}
	}
	return nil
}

// attach makes a session an application's launcher, and welcomes it.
func (m *Machine) attach(s *session, a *application) {
	s.app, a.launcher, a.away = a, s, 0
	m.sessions[s.id] = s
	m.unsettled = true
	m.touch(a)
	m.welcome(s)
}

func (m *Machine) welcome(s *session) {
	m.say(s, &launcher.Welcome{
		Version: launcher.Version, App: s.app.ID, State: m.state(s.app), Now: m.now, Pace: m.settings.Pace, Tag: s.app.Tag,
		Grace: m.settings.Grace, Timer: m.settings.Timer, Fair: m.settings.FairStart, Answer: m.settings.Answer,
	})
}

// leave is the end of a session.
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
		a.launcher, a.away, a.owes, a.pending = nil, m.now, 0, nil
		m.unsettled = true
		m.touch(a)
	}
}

// state is what launchers are told.
func (m *Machine) state(a *application) string {
	return a.State(a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) == delegated.Waiting, m.now)
}
