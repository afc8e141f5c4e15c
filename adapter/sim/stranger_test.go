package sim

import (
	"fmt"
	"testing"
	"time"

	"accordion/adapter/session"
	"accordion/core"
	"accordion/shim/wire"
)

// The stranger is a hostile user of the cluster, who asks for the nodes of other users' jobs, and
// submits jobs with the marks of other users' applications. The stranger also claims to be the launcher
// or a part of such applications, and sends very many calls to the sidecar.
const (
	stranger    = "eve"
	strangerUID = 2000
)

// pester makes the stranger ask for the nodes of other users' jobs every few seconds, until the faults
// end. Sometimes the stranger makes many calls at the same time. Each answer must be a refusal.
func (w *world) pester() {
	for n := 1; time.Since(w.begin) < w.scenario.calm; n++ {
		time.Sleep(w.dice.span(500*time.Millisecond, 5*time.Second, "stranger", n))
		jobs := w.system.Jobs()
		if len(jobs) == 0 {
			continue
		}
		calls := 1
		if w.dice.chance(100, "stranger floods", n) {
			calls = 50
		}
		for i := range calls {
			key := jobs[w.dice.below(len(jobs), fmt.Sprint("stranger asks ", i), n)].Key
			w.crew.Go(func() { w.impersonate(key.ID, wire.Request{Job: int64(key.ID), Step: 1 + i%3}) })
		}
	}
}

// impersonate asks, as the stranger, for the next step of another user's job.
func (w *world) impersonate(id core.JobID, q wire.Request) {
	answer, gone := make(chan wire.Reply, 1), make(chan struct{})
	defer close(gone)
	call := session.Call{Request: q, UID: strangerUID, Gone: gone, Answer: func(p wire.Reply) {
		select {
		case answer <- p:
		default:
		}
	}}
	patience := time.After(30 * time.Second)
	select {
	case w.calls <- call:
	case <-patience:
		return // no sidecar runs
	}
	select {
	case p := <-answer:
		if p.Status != wire.Refused && p.Status != wire.Busy || p.Nodes != "" {
			w.violation("a stranger speaks for job %d, and is answered %+v", id, p)
		}
	case <-patience:
		if l := w.lifeNow(); l != nil && !l.over() {
			w.violation("a stranger who speaks for job %d is not answered", id)
		}
	}
}

// lifeNow returns the present process of the sidecar.
func (w *world) lifeNow() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// withStranger returns the seed's scenario with a stranger added.
func withStranger(seed uint64) *scenario {
	s := generate(seed)
	s.stranger = true
	return s
}

// TestAStrangerWhoSpeaksForOthersJobsIsRefusedAndChangesNothing simulates scenarios with the stranger. All checks of other scenarios apply.
func TestAStrangerWhoSpeaksForOthersJobsIsRefusedAndChangesNothing(t *testing.T) {
	everySeed(60, func(i int) {
		seed := *fromFlag + uint64(i)
		for _, wrong := range tryScenario(t, withStranger(seed)) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	})
}
