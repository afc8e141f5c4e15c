package apps

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// prepare begins a try to start an application. Each cluster of the request reserves idle nodes, or refuses if too few nodes are idle.
func (m *Machine) prepare(a *application) {
	m.leaveRMS(a)
	a.Phase, a.Since, a.By = Preparing, m.now, m.now+a.Walltime+m.extra(a, prepareWithin+m.settings.BringUp)
	a.Try++
	for _, p := range a.Parts {
		p.Prepared, p.Runs, p.Nodes = false, false, nil
	}
	m.note(a, "prepare", fmt.Sprintf("try %d on %s", a.Try, a.clusterNames()))
	m.store(a)
}

// advance moves an application to its next phase when all its parts are ready for that.
func (m *Machine) advance(a *application) {
	switch {
	case a.Phase == Preparing && a.each(func(p *Part) bool { return p.Prepared }):
		m.commit(a)
	case a.Phase == Starting && a.each(m.up(a)):
		m.release(a)
	case a.Phase == Running && a.each(func(p *Part) bool { return p.Over }):
		m.finish(a)
	case a.Phase == Ending && a.gone(m.now):
		m.close(a.launcher, nil)
		m.forget(a)
	}
}

// up returns a function that reports whether a part is up. A part is up if its job runs. If the application has several parts, the job
// must also have reported that it is ready.
func (m *Machine) up(a *application) func(*Part) bool {
	if a.onePart() {
		return func(p *Part) bool { return p.Runs }
	}
	ready := map[*Part]bool{}
	for _, s := range a.barriers {
		if s.ready {
			ready[s.part] = true
		}
	}
	return func(p *Part) bool { return p.Runs && (ready[p] || m.clusters[p.Cluster].Embedded) }
}

// commit decides that an application starts. From then on the start continues, even after a crash of the sidecar.
func (m *Machine) commit(a *application) {
	if a.Phase, a.At, a.Since = Starting, m.now, m.now; a.unackedSince != 0 {
		a.unackedSince, a.acked, a.listed = 0, nil, nil // the launcher need not acknowledge views now; if the start fails, it receives a complete view
	}
	m.note(a, "commit", fmt.Sprintf("try %d, for %s at most", a.Try, core.FormatDuration(a.By-m.now)))
	m.store(a)
	m.send(a.launcher, a.startMessage())
}

// release lets the parts pass the barrier. The walltime counts from now on. Jobs on clusters that the request does not use are ended.
func (m *Machine) release(a *application) {
	a.Phase, a.Went, a.Since, a.Slow, a.Tries = Running, m.now, m.now, false, nil
	a.By = min(a.By, m.now+a.Walltime)
	m.note(a, "go", fmt.Sprintf("all parts are up, %d s after the decision", m.now-a.At))
	m.store(a)
	goes := a.goMessage()
	m.send(a.launcher, goes)
	for _, s := range a.barriers {
		if s.ready {
			m.send(s, goes)
		}
	}
}

// retreat gives up a try. The application waits again, at its rank.
func (m *Machine) retreat(a *application, why string, failed bool) {
	committed := a.Phase == Starting
	a.Phase, a.Since, a.At, a.By = Waiting, m.now, 0, 0
	a.sentEstimate = noEstimate
	m.setViewDue(a)
	a.giveUp(a.Try)
	if failed || m.extra(a, 1) > 0 { // on real clusters every try is expensive, so each one that is given up counts as failed
		a.countFailure(m.now)
	}
	if failed {
		a.Failed, a.moved = why, "a start came to nothing: "+why
	}
	m.note(a, "abort", fmt.Sprintf("try %d: %s", a.Try, why))
	m.store(a)
	if committed {
		abort := &launcher.Abort{Why: why, Again: true}
		m.send(a.launcher, abort)
		for _, s := range slices.Clone(a.barriers) {
			m.close(s, abort)
		}
	}
}

// refused records that a cluster could not prepare or could not start its part of an application, and gives up the try.
func (m *Machine) refused(a *application, p *Part, why string) {
	m.out.Failed = append(m.out.Failed, Failure{Cluster: p.Name, Why: why})
	m.retreat(a, p.Name+": "+why, true)
}
