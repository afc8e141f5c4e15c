package apps

import (
	"cmp"
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// helloPart begins the session of a part. The part then waits at the barrier until all parts of its application run.
func (m *Machine) helloPart(s *session, hello *launcher.Hello) *refusal {
	a, p := m.partOf(s.user, hello.Part)
	if p == nil {
		return refuse(launcher.CodeUnknown, "part", "job %d on cluster %s is no part of an application of yours", hello.Part.Job, hello.Part.Cluster)
	}
	s.app, s.part = a, p
	m.sessions[s.id] = s
	at, _ := slices.BinarySearchFunc(a.barriers, s.id, func(t *session, id uint64) int { return cmp.Compare(t.id, id) })
	a.barriers = slices.Insert(a.barriers, at, s)
	m.welcome(s)
	return nil
}

// partOf returns the part whose batch job is l, with its application, if both belong to the user. Otherwise it returns nil.
func (m *Machine) partOf(user string, l *launcher.Part) (*application, *Part) {
	for _, a := range m.all {
		for _, p := range a.Parts {
			if a.User == user && p.Name == l.Cluster && p.Lost == 0 && l.Job != 0 && int64(m.jobOf(a, p)) == l.Job {
				return a, p
			}
		}
	}
	return nil, nil
}

// ready handles a part's report that its job runs.
func (m *Machine) ready(s *session, seq int64, id core.JobID) *refusal {
	a := s.app
	if id != s.part.Job && !m.clusters[s.part.Cluster].Embedded {
		return refuse(launcher.CodeJob, "job", "this session is job %d's, not job %d's", s.part.Job, id)
	}
	m.okay(s, seq)
	switch {
	case a.Phase == Starting && s.part.Hosts > 0:
		s.ready = true
		m.advance(a)
	case a.Phase == Running && s.part.Hosts > 0:
		m.send(s, a.goMessage())
	case a.Phase == Ending:
		m.close(s, &launcher.Abort{Why: "the application is over, or being ended"})
	default:
		m.close(s, &launcher.Abort{Why: "the application was not granted this", Again: true})
	}
	return nil
}

// partDone handles a part's report of its end. If other applications wait, the part's nodes are first reserved for them, and the part
// receives its answer only after that.
func (m *Machine) partDone(s *session, seq int64, code int) {
	a, p := s.app, s.part
	if a.Phase != Running || p.Done || p.Over || p.Hosts == 0 {
		m.okay(s, seq)
		return
	}
	p.Done, p.Code = true, code
	m.store(a)
	if m.keepReservation(a, p) {
		p.Okay = &pendingOkay{Session: s.id, Seq: seq, By: m.now + ghostWithin}
		return
	}
	m.okay(s, seq)
}

// ghostWithin is the longest time, in seconds, for which a part that has ended waits for the reservation of its ghost.
const ghostWithin core.Time = 10

// answerDone answers a part's report of its end if the reservation of the part's ghost exists, or is no longer expected.
func (m *Machine) answerDone(a *application, p *Part, s *mailbox.Standing) {
	if p.Okay != nil && (m.now >= p.Okay.By || m.now >= p.Ghost || s != nil && (s.Stand == mailbox.Ghosted || s.Stand == mailbox.Over)) {
		m.okay(m.sessions[p.Okay.Session], p.Okay.Seq)
		p.Okay = nil
		m.changed(a)
	}
}
