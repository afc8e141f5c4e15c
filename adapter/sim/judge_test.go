package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// judgeTouch checks that a call does not act on an ordinary job.
func (w *world) judgeTouch(verb string, key adapter.Key) {
	w.mu.Lock()
	a := w.apps[key]
	w.mu.Unlock()
	if a != nil && a.request == "" {
		w.violation("%s of ordinary job %s", verb, a.name)
	}
}

// readings lists the calls that change nothing in the batch system.
var readings = []string{"Observe", "Inspect", "Speaks"}

// judgeIntent checks that the journal has an open intent when the sidecar calls the batch system. Otherwise, after a crash, the next
// process would not know of the call.
func (w *world) judgeIntent(verb, target string) {
	if slices.Contains(readings, verb) {
		return
	}
	open, err := w.journal.Unfinished()
	if err != nil {
		w.violation("reading the open intents: %v", err)
		return
	}
	if !slices.ContainsFunc(open, func(e journal.Entry) bool { return intends(e, verb, target) }) {
		w.violation("%s of %s is done, and the journal has no open intent for it", verb, target)
	}
}

// intends reports whether the entry e is the intent of a call. The target of a call is a job, an expander of a job, a reservation or an
// application.
func intends(e journal.Entry, verb, target string) bool {
	return strings.EqualFold(e.Verb, verb) && (verb == "Nudge" || target == fmt.Sprint(e.Job) && e.Args["expander"] == nil ||
		slices.ContainsFunc([]string{"reservation", "expander", "application"}, func(arg string) bool {
			return e.Args[arg] != nil && target == fmt.Sprint(e.Args[arg])
		}) || verb == "Merge" && target == fmt.Sprint(e.Job))
}

// judgeView checks that no node is in two jobs in the document that `accordion status` shows.
func (w *world) judgeView(data []byte) {
	var view struct { // some fields of view.Status
		Jobs []struct {
			ID    core.JobID `json:"id"`
			Nodes string     `json:"nodes"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(data, &view); err != nil {
		w.violation("view: %v", err)
		return
	}
	owner := map[string]core.JobID{}
	for _, j := range view.Jobs {
		nodes, err := hostlist.Expand(j.Nodes)
		if err != nil && j.Nodes != "" {
			w.violation("view: job %d: %v", j.ID, err)
		}
		for _, n := range nodes {
			if other, taken := owner[n]; taken && !w.unsettled() {
				w.violation("status shows node %s in jobs %d and %d", n, other, j.ID)
			}
			owner[n] = j.ID
		}
	}
}

// unsettled reports whether the batch system restarted so recently that the sidecar may not have noticed it yet.
func (w *world) unsettled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.restarts, func(t time.Time) bool { return time.Since(t) < 6*deadline })
}

// judgeReply checks that an application holds exactly the nodes that are in the answer to its request.
// It ignores an answer that no application received, because the job ended while the answer was on its
// way. An answer takes at most as long as the deadline of a call.
func (w *world) judgeReply(q wire.Request, p wire.Reply) {
	if p.Status != wire.Resized {
		return
	}
	r, ok := w.keyOf(core.JobID(q.Job))
	told, err := hostlist.Expand(p.Nodes)
	if err != nil || len(told) != p.Count {
		w.violation("job %d is told of %d nodes %q: %v", q.Job, p.Count, p.Nodes, err)
	}
	if !r.End.IsZero() && time.Since(r.End) < deadline {
		return
	}
	slices.Sort(told)
	held := slices.Sorted(slices.Values(r.Nodes))
	if ok && !slices.Equal(told, held) && !w.unsettled() && !w.shrunk() {
		w.violation("job %d is told that it has %v, and holds %v", q.Job, told, held)
	}
}

// shrunk reports whether users themselves shrink their jobs in this scenario.
func (w *world) shrunk() bool {
	return slices.ContainsFunc(w.scenario.events, func(e event) bool { return e.what == "shrink" })
}

// left returns a description of everything that still exists, or empty texts. The result `jobs`
// describes jobs. The result `rest` describes nodes in use, reservations, and the journal's records and
// open intents.
func (w *world) left(managed bool) (jobs, rest string) {
	snapshot, err := w.system.Observe(context.Background())
	if err != nil {
		return err.Error(), ""
	}
	for _, j := range snapshot.Jobs {
		jobs += fmt.Sprintf("job %d (%s) %s %s; ", j.ID, j.Name, j.State, j.Why)
	}
	if w.parts != nil {
		select {
		case <-w.ordered:
		default:
			jobs += "orders for parts; "
		}
	}
	for _, r := range snapshot.Reservations {
		rest += fmt.Sprintf("reservation %s of %v; ", r.Name, r.Nodes)
	}
	for _, n := range snapshot.Nodes {
		if !n.Idle || !n.Usable {
			rest += "node " + n.Name + " " + n.Why + "; "
		}
	}
	if !managed || jobs+rest != "" {
		return jobs, rest
	}
	stored, err := w.journal.Records()
	if err != nil {
		return "", err.Error()
	}
	for _, r := range stored {
		rest += fmt.Sprintf("record of job %d: %s; ", r.Job, r.Data)
	}
	open, err := w.journal.Unfinished()
	if err != nil {
		return "", err.Error()
	}
	for _, e := range open {
		rest += fmt.Sprintf("intent %d: %s of job %d; ", e.ID, e.Verb, e.Job)
	}
	return "", rest
}

// judge checks the whole scenario after its end.
func (w *world) judge(managed bool) {
	records := w.system.Jobs()
	w.judgeNodes(records)
	for _, r := range records {
		switch a := w.apps[r.Key]; {
		case a == nil: // an expander
		case a.request == "":
			w.judgeOrdinary(a, r)
		case managed:
			w.judgeManaged(a, r)
		}
	}
	if managed {
		w.judgeForged()
		w.judgeAudit()
	}
}

// judgeManaged checks that a managed job ended by itself, or that the scenario or the journal has a reason why it did not.
func (w *world) judgeManaged(a *app, r embedded.Record) {
	trouble := len(w.scenario.events) > 0
	switch {
	case r.Why == "COMPLETED":
	case r.Why == "FAILED" && a.manner == failing:
	case r.Why == "CANCELLED" && (a.cancel > 0 || w.explained(r.Key)):
	case r.Why == "TIMEOUT" && w.happened(r.Key, "promise broken", "changed"): // other jobs delayed this job, so that it reached its time limit
	case r.Why == "TIMEOUT" && w.happened(r.Key, "warned") && w.away(r): // the job was warned, but the warning could not take into account the time without a sidecar
	case r.Why == "TIMEOUT" && w.unattended(r): // no sidecar ran that could have ended it earlier
	case (r.Why == "NODE_FAIL" || r.Why == "LOST") && trouble:
	default:
		w.violation("managed job %s ended %s: %v", a.name, r.Why, r.Output)
	}
}

// lifetime is the time in which one process of the sidecar ran.
type lifetime struct{ from, to time.Time }

// unattended reports whether no sidecar ran for long enough to read twice in the last minute of a job. If the job ran for less than a
// minute, the time since its start counts.
func (w *world) unattended(r embedded.Record) bool {
	from := r.End.Add(-time.Minute)
	if from.Before(r.Start) {
		from = r.Start
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(w.stints, func(s lifetime) bool {
		return s.to.After(from) && s.from.Before(r.End) && s.to.Sub(s.from) > 2*w.scenario.interval
	})
}

// away reports whether a sidecar started, or the batch system could not be read, while the job ran.
func (w *world) away(r embedded.Record) bool {
	return slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Kind == journal.KindEvent && (e.Verb == "ready" || e.Verb == "unreadable") && e.At.After(r.Start) && e.At.Before(r.End)
	})
}

// judgeNodes checks the batch system's records. No node may be in two jobs at the same time. No job may
// receive a node in the same second in which it released that node.
func (w *world) judgeNodes(records []embedded.Record) {
	type owned struct {
		embedded.Span
		job core.JobID
	}
	byNode := map[string][]owned{}
	for _, r := range records {
		for _, s := range r.Spans {
			byNode[s.Node] = append(byNode[s.Node], owned{s, r.ID})
		}
	}
	for node, spans := range byNode {
		slices.SortFunc(spans, func(a, b owned) int { return a.From.Compare(b.From) })
		for i := 1; i < len(spans); i++ {
			if spans[i].From.Before(spans[i-1].To) {
				w.violation("node %s is in jobs %d and %d at once", node, spans[i-1].job, spans[i].job)
			}
		}
		left := map[core.JobID]time.Time{}
		for _, s := range spans {
			if from := left[s.job]; from.Unix() == s.From.Unix() && len(w.restarts) == 0 {
				w.violation("node %s left job %d at %v and came back to it in the same second", node, s.job, from.Sub(w.begin))
			}
			left[s.job] = s.To
		}
	}
}

// judgeOrdinary checks that an ordinary job ended as it would have ended without the sidecar.
func (w *world) judgeOrdinary(a *app, r embedded.Record) {
	trouble := len(w.scenario.events) > 0
	limit := time.Duration(a.limit-1) * time.Second // minus a second, because limits count from the job's start rounded down to a whole second
	switch {
	case r.Why == "COMPLETED" && a.runs <= a.limit+30 && r.End.Sub(r.Start) == time.Duration(a.runs)*time.Second:
	case r.Why == "COMPLETED" && a.runs > a.limit: // the job ended by itself after its limit, but before the sweep
	case r.Why == "TIMEOUT" && a.runs >= a.limit && r.End.Sub(r.Start) >= limit:
	case r.Why == "CANCELLED" && a.cancel > 0:
	case (r.Why == "NODE_FAIL" || r.Why == "LOST") && trouble:
	default:
		w.violation("ordinary job %s (%d s of %d) ended %s after %v", a.name, a.runs, a.limit, r.Why, r.End.Sub(r.Start))
	}
}

// pass is the longest time by which managed jobs, even if they come later in the queue, may delay an ordinary job. A scheduling pass may
// have seen a reservation that was not needed, so that the ordinary job starts only in the next pass. Slurm makes a pass every 30 s; the
// sidecar assumes 45 s.
const pass = 45 * time.Second

// orphan is a reservation of a sidecar that died, until another sidecar changes or deletes the
// reservation. Meanwhile ordinary jobs cannot use the reserved nodes. The batch system knows when the
// reservation ends, but does not know the sidecar's plan. So it may start other jobs before jobs that
// wait for these nodes.
type orphan struct {
	name     string
	from, to time.Duration // to is zero while the reservation exists
}

// orphan records the reservations that a dead sidecar leaves.
func (w *world) orphan() {
	snapshot, err := w.system.Observe(context.Background())
	if err != nil {
		w.violation("reading the reservations: %v", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range snapshot.Reservations {
		w.orphans = append(w.orphans, orphan{name: r.Name, from: time.Since(w.begin)})
	}
}

// adopt records that a sidecar wrote or deleted a reservation, so that the reservation is no orphan any more.
func (w *world) adopt(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.orphans {
		if o := &w.orphans[i]; o.name == name && (o.to == 0 || o.to > time.Since(w.begin)) {
			o.to = time.Since(w.begin)
		}
	}
}

// endOrphans sets, when a sidecar starts, the end of all orphans to a few readings later. A
// reservation that the new sidecar has not deleted by then is a part of its plan.
func (w *world) endOrphans() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.orphans {
		if o := &w.orphans[i]; o.to == 0 {
			o.to = time.Since(w.begin) + 3*deadline
		}
	}
}

// withoutManaged returns the scenario without managed jobs, for a comparison. It keeps jobs with a request that their user released
// before the sidecar could hold them, because the batch system started these as ordinary jobs.
func (s *scenario) withoutManaged(with outcome) *scenario {
	other := *s
	other.ordinary = with.ordinary
	return &other
}

// delayed returns a text for each ordinary job that started too late, compared with the scenario
// without managed jobs. All ordinary jobs were submitted before the managed ones. A delay is accepted
// if a reservation of a dead sidecar existed while the job waited.
func (s *scenario) delayed(with outcome, without map[string]time.Duration) []string {
	var wrong []string
	for _, a := range s.apps {
		start := with.starts[a.name]
		orphaned := func(o orphan) bool { return o.from < start && (o.to == 0 || o.to > a.at) }
		if a.request != "" || slices.ContainsFunc(with.orphans, orphaned) {
			continue
		}
		if late := start - without[a.name]; late > pass {
			wrong = append(wrong, fmt.Sprintf("ordinary job %s starts at %v, %v later than without managed jobs behind it", a.name, start, late))
		}
	}
	return wrong
}

// judgeForged checks that no job of the stranger with the mark of an application has begun.
func (w *world) judgeForged() {
	for _, r := range w.system.Jobs() {
		if r.Job.User == stranger && !r.Start.IsZero() && adapter.IsPart(&r.Job) && len(w.restarts) == 0 {
			w.violation("a stranger's job %d with an application's mark began", r.ID)
		}
	}
}
