package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/shim/wire"
)

// runUser simulates a user with one job.
func (w *world) runUser(a *app) {
	w.until(a.at)
	spec := embedded.JobSpec{
		Name: a.name, User: "ada", UID: 1000, GID: 1000, Nodes: a.nodes, Limit: a.limit, Runs: a.runs,
		Comment: a.request, Managed: a.request != "" && !a.held, Hold: a.held, Silent: a.manner == silent,
	}
	if a.request != "" {
		spec.Script = w.script(a)
	}
	key, err := w.submit(spec)
	if err != nil {
		w.violation("submission of %s: %v", a.name, err)
		return
	}
	w.note("%s is job %d", a.name, key.ID)
	w.mu.Lock()
	w.apps[key], w.keys[a.name] = a, key
	w.mu.Unlock()
	type deed struct {
		at   time.Duration
		what func() error
	}
	deeds := []deed{
		{a.cancel, func() error {
			if !w.has(a, key) {
				return nil
			}
			w.note("%s cancels", a.name)
			return w.system.Cancel(key)
		}},
		{a.free, func() error {
			if j, err := w.system.Inspect(context.Background(), key); err != nil || !j.HeldByUser || !w.has(a, key) {
				return err // the job has been adopted: root holds it, so that Slurm would refuse the release
			}
			w.note("%s is released by its user", a.name)
			return w.system.Release(context.Background(), key)
		}},
	}
	slices.SortFunc(deeds, func(x, y deed) int { return int(x.at - y.at) })
	for _, d := range deeds {
		if d.at > 0 {
			w.until(a.at + d.at)
			_ = d.what() // the error does not matter, because the batch system may have forgotten the job after a restart
		}
	}
}

// submit submits a job. If the batch system is down, it first waits until the batch system is up again.
func (w *world) submit(spec embedded.JobSpec) (adapter.Key, error) {
	for w.silent() {
		time.Sleep(w.dice.span(100*time.Millisecond, 300*time.Millisecond, "submission", w.count("submission")))
	}
	return w.system.Submit(spec)
}

// has reports whether the key still identifies the job a. After a restart in which the batch system
// forgot the job, another job may have the same number and the same second of submission. A real user
// would notice this, because the other job has another name.
func (w *world) has(a *app, key adapter.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.apps[key] == a
}

// isPart records that the key belongs to a job of a part. Before a restart of the batch system, another
// job may have had the same number and the same second of submission.
func (w *world) isPart(key adapter.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.apps, key)
}

// apply applies one event.
func (w *world) apply(e event) {
	w.until(e.at)
	w.note("EVENT %v", e)
	switch e.what {
	case "lost":
		_ = w.system.KillNode(e.node)
	case "drained":
		_ = w.system.DrainNode(e.node)
	case "back":
		_ = w.system.ReviveNode(e.node)
	case "kill":
		w.mu.Lock()
		l := w.process
		w.mu.Unlock()
		l.die()
	case "restart":
		saved := w.system.Save()
		time.Sleep(e.lasts)
		w.system.Restart(saved)
		w.mu.Lock()
		w.restarts = append(w.restarts, time.Now())
		w.quiet = true
		w.mu.Unlock()
		w.note("the batch system restarts")
		// The batch system is not up again in the same second in which it went down. So two jobs with the same number have different
		// seconds of submission.
		time.Sleep(max(w.dice.span(0, 4*time.Second, "down", e.number), time.Until(time.Now().Truncate(time.Second).Add(time.Second))))
		w.mu.Lock()
		w.quiet = false
		w.mu.Unlock()
	case "shrink":
		w.mu.Lock()
		key := w.keys[e.who]
		other := w.apps[key] != nil && w.apps[key].name != e.who
		w.mu.Unlock()
		if j, err := w.system.Inspect(context.Background(), key); err == nil && len(j.Nodes) > 1 && !other {
			_ = w.system.Shrink(context.Background(), key, j.Nodes[:1])
		}
	}
}

// script returns the script of a managed job.
func (w *world) script(a *app) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		odd := w.dice.span(0, time.Millisecond, "odd "+a.name, w.count("run "+a.name))
		for i, work := range a.work {
			if err := h.Work(ctx, work+odd); err != nil {
				return err
			}
			if a.manner == failing && i == len(a.work)/2 {
				return errBroken
			}
			if a.manner == silent || i == len(a.work)-1 {
				continue
			}
			if err := w.boundary(ctx, a, h, i+1); err != nil {
				return err
			}
		}
		return nil
	}
}

// boundary asks for the nodes of the next step. How it asks depends on the behavior of the application (a.manner).
func (w *world) boundary(ctx context.Context, a *app, h *embedded.Handle, step int) error {
	if !w.served { // there is no sidecar in this simulation, and the job runs as an ordinary job
		return nil
	}
	q := wire.Request{Step: step}
	nth := w.count("boundary " + a.name)
	switch a.manner {
	case impatient:
		q.Waits = int64(w.dice.below(8, "patience "+a.name, nth)) + 1
	case choosy:
		nodes := h.Nodes()
		n := w.dice.below(len(nodes), "choice "+a.name, nth)
		if w.dice.chance(500, "keep "+a.name, nth) {
			q.Keep = strings.Join(nodes[n:], ",")
		} else {
			q.Release = strings.Join(nodes[n:], ",")
		}
	case confused:
		q.Step = w.dice.below(6, "confusion "+a.name, nth)
		q.Keep = []string{"", "n1", "n99", "n["}[w.dice.below(4, "nonsense "+a.name, nth)]
	}
	for {
		p, err := h.Step(ctx, q)
		if err != nil {
			return err
		}
		w.note("%s: step %d is over -> %s, %d nodes %s, step %d: %s", a.name, step, p.Status, p.Count, p.Nodes, p.Step, p.Why)
		if p.Status != wire.Refused || q.Keep == "" && q.Release == "" {
			return nil
		}
		q.Keep, q.Release = "", "" // removes what was wrong with the request
	}
}

// keyOf returns the record of the newest job with the ID.
func (w *world) keyOf(id core.JobID) (embedded.Record, bool) {
	var found embedded.Record
	ok := false
	for _, r := range w.system.Jobs() {
		if r.ID == id {
			found, ok = r, true
		}
	}
	return found, ok
}
