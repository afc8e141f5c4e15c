package application

import (
	"fmt"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/core/moldable"
	"accordion/shim/wire/launcher"
)

// start handles the start of the application. The message may come again after a lost connection.
func (l *Launcher) start(m *launcher.Start) []Act {
	if l.phase == running {
		return nil
	}
	var acts []Act
	if l.phase != started {
		acts = append(acts, Say{fmt.Sprintf("started on %s, until %s", l.granted(m.Hosts), clock(m.By))})
	}
	l.phase, l.parts, l.unanswered, l.estimate = started, m.Hosts, false, 0
	return acts
}

// letThrough handles the message Go, which means that all parts run and may continue.
func (l *Launcher) letThrough(m *launcher.Go) []Act {
	if l.phase == running {
		return nil
	}
	l.phase = running
	if len(m.Hosts) > 0 {
		l.parts = m.Hosts
	}
	what := "all parts run"
	if len(l.parts) == 1 {
		what = "it runs"
	}
	return append([]Act{Say{what}}, l.work()...)
}

// work starts the command on this host, once.
func (l *Launcher) work() []Act {
	if l.works || l.submits() {
		return nil
	}
	l.works = true
	var hosts []Host
	var parts []moldable.Part
	for _, p := range l.parts {
		parts = append(parts, moldable.Part{Cluster: p.C, Hosts: len(p.Hosts)})
		for _, name := range p.Hosts {
			hosts = append(hosts, Host{l.names[p.C], name})
		}
	}
	return []Act{Work{Application: l.app, Hosts: hosts, Parts: parts}}
}

// submits reports whether the parts are batch jobs.
func (l *Launcher) submits() bool {
	for _, p := range l.places {
		if p.Batch {
			return true
		}
	}
	return false
}

// abort handles a failed start. A command on this host that runs already is not started a second time when the application starts again.
func (l *Launcher) abort(m *launcher.Abort) []Act {
	acts := append([]Act{Say{"the start is given up: " + m.Why}}, l.stop()...)
	if !m.Again {
		return append(acts, l.exit(1)...)
	}
	l.again()
	l.works = false
	return append(acts, l.reportParts()...)
}

// answered handles the answer to a message of this launcher.
func (l *Launcher) answered(e Answered) []Act {
	switch to := e.To.(type) {
	case *launcher.List:
		if e.Refuse != nil {
			return l.fail(refusal(e.Refuse))
		}
	case *launcher.Subscribe:
		if l.phase != subscribing {
			return nil
		}
		if e.Refuse != nil && e.Refuse.Code != launcher.CodeState { // CodeState means that the launcher had subscribed before the connection broke
			return l.fail(refusal(e.Refuse))
		}
		l.phase = waiting
	case *launcher.Parts:
		return l.confirmed(to, e.Refuse)
	case *launcher.Request:
		if e.Refuse != nil {
			return l.refused(to, e.Refuse)
		}
	case *launcher.Done:
		if l.phase == leaving {
			return l.exit(l.code)
		}
	}
	return nil
}

// confirmed handles the answer to Parts. During a start the sidecar accepts no new jobs, so the launcher reports them again later.
func (l *Launcher) confirmed(to *launcher.Parts, r *launcher.Refuse) []Act {
	l.reporting = false
	if r != nil && r.Code == launcher.CodeState {
		return nil
	}
	for _, j := range to.Jobs {
		p := l.at(j.Cluster)
		if p == nil || p.job != j.Job || p.submitting {
			continue
		}
		p.unconfirmed = false
		if r != nil {
			return l.fail(fmt.Sprintf("job %d on %s: %s", j.Job, j.Cluster, refusal(r)))
		}
	}
	return l.reportParts()
}

// refused handles a refused request. The request before it stays in force, if there was one.
func (l *Launcher) refused(to *launcher.Request, r *launcher.Refuse) []Act {
	if l.phase != waiting || to.Tag != l.tag || r.Code == launcher.CodeState { // CodeState means that a start is under way
		return nil
	}
	if r.Code == launcher.CodeView || r.Code == launcher.CodeFlood { // the request itself was valid, so the launcher waits for the next view and answers it
		l.unanswered = to.View == l.sight.View
		l.unsure = true
		return l.acknowledge()
	}
	return l.fail("the request is refused: " + refusal(r))
}

// leave reports the end of the application, and waits a moment for the answer.
func (l *Launcher) leave(code int) []Act {
	if l.phase == leaving {
		return nil
	}
	if l.app == 0 {
		return l.exit(code)
	}
	l.phase, l.code = leaving, code
	return []Act{Send{&launcher.Done{Code: code}}, Expect{farewell}}
}

// fail withdraws the application.
func (l *Launcher) fail(why string) []Act {
	if l.phase == leaving {
		return nil
	}
	return append(append(l.stop(), Say{why}), l.leave(1)...)
}

func (l *Launcher) interrupted() []Act {
	const status = 130 // exit status of shells after ^C
	if l.phase == leaving {
		return l.exit(status) // the second interrupt
	}
	return append(append(l.stop(), Say{"interrupted: the application is withdrawn, its jobs end"}), l.leave(status)...)
}

// stop ends the command on this host.
func (l *Launcher) stop() []Act {
	if !l.works {
		return nil
	}
	return []Act{Stop{}}
}

func (l *Launcher) exit(code int) []Act {
	l.phase = over
	return []Act{Exit{code}}
}

// complain reports a problem to the user, but not twice in a row.
func (l *Launcher) complain(why string) []Act {
	if l.said == why {
		return nil
	}
	l.said = why
	return []Act{Say{why}}
}

func (l *Launcher) granted(hosts []launcher.Names) string {
	var all []string
	for _, p := range hosts {
		all = append(all, fmt.Sprintf("%s: %d hosts, %s", l.names[p.C], len(p.Hosts), hostlist.Compact(p.Hosts)))
	}
	return strings.Join(all, "; ")
}

// ends describes why an application ends.
func ends(m *launcher.End) string {
	why := map[string]string{
		launcher.WhyOverrun:   "it has used up its time",
		launcher.WhySilent:    "its launcher did not answer for too long",
		launcher.WhyViolation: "its launcher broke the protocol",
		launcher.WhyLost:      "a part of it is lost",
		launcher.WhyCancelled: "it was cancelled",
		launcher.WhyNewer:     "another connection speaks for it now",
	}[m.Why]
	if why == "" {
		why = m.Why
	}
	text := "the application is ended: " + why
	if m.In > 0 {
		text += fmt.Sprintf("; its hosts are taken in %s", span(m.In))
	}
	return text
}

func refusal(r *launcher.Refuse) string {
	text := "refused"
	if r.Field != "" {
		text += " (" + r.Field + ")"
	}
	if r.Text == "" {
		return text + ": " + r.Code
	}
	return text + ": " + r.Text
}

func nameList(all []launcher.Cluster) string {
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func clock(t core.Time) string { return time.Unix(t, 0).Format(time.DateTime) }

func span(t core.Time) string {
	if t <= 0 {
		return "0s"
	}
	return core.FormatDuration(t)
}
