package applications

import (
	"container/heap"
	"fmt"
	"maps"

	kept "accordion/adapter/application"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// patience is how many times Answer a launcher may owe an answer.
const patience = 10

// at goes on to a second, and notes what is due then. One that is past counts as the latest that was.
func (m *Machine) at(now core.Time) {
	if now > m.now {
		m.now = now
		for a := range m.undated { // it may have passed what was not in the agenda yet
			m.touch(a)
		}
		m.plan()
		for _, c := range m.clusters {
			c.changed = c.changed || len(c.strays) > 0
		}
	}
	for a := m.agenda.take(m.now); a != nil; a = m.agenda.take(m.now) {
		m.touch(a)
	}
}

// plan enters into the agenda what is not there.
func (m *Machine) plan() {
	for a := range m.undated {
		m.agenda.put(a, m.deadline(a))
	}
	m.undated.clear()
}

// deadlines does what the passing of time wants, of applications of which something is due or may have changed.
func (m *Machine) deadlines() {
	m.silence()
	m.unsettled = true
	maps.Copy(m.awaited, m.pending)
	all := m.awaited.byRank()
	m.awaited.clear()
	for _, a := range all {
		m.retry(a)
		if reason := m.silent(a); reason != "" {
			in := core.Time(0)
			if a.Phase.Started() {
				in = endIn
			}
			m.end(a, launcher.WhySilent, reason, in)
		}
		switch {
		case a.Phase == preparing && m.now >= a.Since+prepareWithin:
			m.late(a, func(p *piece) bool { return p.Prepared }, fmt.Sprintf("not prepared within %d s", prepareWithin))
		case a.Phase == starting && m.now >= m.upBy(a):
			m.late(a, m.up(a), fmt.Sprintf("not up within %d s", m.settings.BringUp))
		case a.Phase == running && m.now >= a.By:
			m.end(a, launcher.WhyOverrun, "its walltime is over", endIn)
		}
		for _, p := range a.Parts {
			m.pay(a, p, nil)
		}
		m.advance(a)
	}
}

// upBy is when all parts of an application must be up: after a restart they get their time anew.
func (m *Machine) upBy(a *application) core.Time { return max(a.Since, m.begun) + m.settings.BringUp }

// late gives up a try whose parts did not come so far in time.
func (m *Machine) late(a *application, far func(*piece) bool, why string) {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !far(p) {
			m.refused(a, p, why)
			return
		}
	}
}

// silent says why nobody waits for an application's launcher any more; "": it is heard.
func (m *Machine) silent(a *application) string {
	s := m.settings
	switch {
	case a.Phase == ending:
	case a.launcher == nil && m.now >= a.away+s.Grace:
		return fmt.Sprintf("its launcher was away for %d s", s.Grace)
	case a.owes != 0 && m.now >= a.owes+patience*s.Answer:
		return fmt.Sprintf("its launcher did not acknowledge view %d within %d s", a.owed, patience*s.Answer)
	case a.Phase == fresh && a.pending == nil && m.now >= a.Since+patience*s.Answer:
		return fmt.Sprintf("its launcher did not subscribe within %d s", patience*s.Answer)
	case a.Phase == subscribed || a.Phase == waiting:
		for _, p := range a.Parts {
			if p.Lost > 0 && p.Hosts > 0 && m.now >= p.Lost+patience*s.Answer {
				return fmt.Sprintf("its launcher did not submit job %d on %s again within %d s", p.Job, p.Name, patience*s.Answer)
			}
		}
	}
	return ""
}

// agenda has the applications of which something will be due, the first of them first: a heap.
type agenda []*application

// first is when something is due; core.Forever: never.
func (g agenda) first() core.Time {
	if len(g) == 0 {
		return core.Forever
	}
	return g[0].due
}

// put notes when something is due of an application; core.Forever: never.
func (g *agenda) put(a *application, due core.Time) {
	switch a.due = due; {
	case due == core.Forever:
		g.remove(a)
	case a.slot >= 0:
		heap.Fix(g, a.slot)
	default:
		heap.Push(g, a)
	}
}

func (g *agenda) remove(a *application) {
	if a.slot >= 0 {
		heap.Remove(g, a.slot)
	}
}

// take is an application of which something is due now, which is then in the agenda no more; nil: there is none.
func (g *agenda) take(now core.Time) *application {
	if g.first() > now || len(*g) == 0 {
		return nil
	}
	return heap.Pop(g).(*application)
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (g agenda) Len() int           { return len(g) }
func (g agenda) Less(i, j int) bool { return g[i].due < g[j].due }

func (g agenda) Swap(i, j int) {
	g[i], g[j] = g[j], g[i]
	g[i].slot, g[j].slot = i, j
}

func (g *agenda) Push(x any) {
	a := x.(*application)
	a.slot = len(*g)
	*g = append(*g, a)
}

func (g *agenda) Pop() any {
	last := len(*g) - 1
	a := (*g)[last]
	a.slot, (*g)[last] = -1, nil
	*g = (*g)[:last]
	return a
}

// deadline is the next second at which something is due of an application.
func (m *Machine) deadline(a *application) core.Time {
	next := core.Forever
	at := func(t core.Time) { next = min(next, t) }
	later := func(t core.Time) { // once it is past it is nothing any more
		if t > m.now {
			at(t)
		}
	}
	s := m.settings
	if a.Phase != ending && a.launcher == nil {
		at(a.away + s.Grace)
	}
	if a.Phase != ending && a.owes != 0 {
		at(a.owes + patience*s.Answer)
	}
	if a.pending != nil {
		at(a.pending.at + readWithin)
	}
	switch a.Phase {
	case fresh:
		if a.pending == nil {
			at(a.Since + patience*s.Answer)
		}
	case waiting:
		later(a.RetryAt())
	case preparing:
		at(a.Since + prepareWithin)
	case starting:
		at(m.upBy(a))
	case running:
		at(a.By)
	case ending:
		later(a.EndAt)
	}
	for _, p := range a.Parts {
		if p.Lost > 0 {
			later(p.Lost + s.Answer)
			later(p.Lost + patience*s.Answer)
		}
		if p.Ghost > 0 {
			later(p.Ghost - kept.Leaving)
			later(p.Ghost)
		}
		if p.Owed != nil {
			at(p.Owed.By)
		}
	}
	return next
}
