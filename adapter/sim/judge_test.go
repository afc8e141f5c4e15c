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

// judgeTouch: no action on an ordinary job.
func (w *world) judgeTouch(verb string, key adapter.Key) {
	w.mu.Lock()
	a := w.apps[key]
	w.mu.Unlock()
	if a != nil && a.request == "" {
		w.violation("%s of ordinary job %s", verb, a.name)
	}
}

// readings are the calls that change nothing at the batch system.
var readings = []string{"Observe", "Inspect", "Speaks"}

// judgeIntent checks, when a sidecar calls the batch system, that the journal has the intent and
// that it is open: nothing is done that a successor could not know of.
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

// intends reports whether the intent is for a call. A call names a job, an expander of one, a reservation or an application.
func intends(e journal.Entry, verb, target string) bool {
	return strings.EqualFold(e.Verb, verb) && (verb == "Nudge" || target == fmt.Sprint(e.Job) && e.Args["expander"] == nil ||
		slices.ContainsFunc([]string{"reservation", "expander", "application"}, func(arg string) bool {
			return e.Args[arg] != nil && target == fmt.Sprint(e.Args[arg])
		}) || verb == "Merge" && target == fmt.Sprint(e.Job))
}

// judgeView: no node in two jobs, in what status shows.
func (w *world) judgeView(data []byte) {
	var view struct { // of view.Status
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

// unsettled says whether the batch system restarted so recently that the sidecar may not have seen it.
func (w *world) unsettled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.restarts, func(t time.Time) bool { return time.Since(t) < 6*deadline })
}

// judgeReply: an application that is told that its nodes are there holds exactly these. What was read of it may have been under way when it ended:
// for a deadline at the most, and nobody hears it.
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

// shrunk says whether users shrink their own jobs in this scenario.
func (w *world) shrunk() bool {
	return slices.ContainsFunc(w.scenario.events, func(e event) bool { return e.what == "shrink" })
}

// left is what is still there of the scenario: its jobs; and what else, nodes in use, reservations, and the journal's records
// and open intents.
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

// judge looks at the whole scenario when it is over.
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

// judgeManaged: a managed job ends by itself, or the journal says why not.
func (w *world) judgeManaged(a *app, r embedded.Record) {
	trouble := len(w.scenario.events) > 0
	switch {
	case r.Why == "COMPLETED":
	case r.Why == "FAILED" && a.manner == failing:
	case r.Why == "CANCELLED" && (a.cancel > 0 || w.explained(r.Key)):
	case r.Why == "TIMEOUT" && w.happened(r.Key, "promise broken", "changed"): // others used up its time
	case r.Why == "TIMEOUT" && w.happened(r.Key, "warned") && w.away(r): // it did, and was forgiven what no sidecar saw
	case r.Why == "TIMEOUT" && w.unattended(r): // nobody was there to see it through
	case (r.Why == "NODE_FAIL" || r.Why == "LOST") && trouble:
	default:
		w.violation("managed job %s ended %s: %v", a.name, r.Why, r.Output)
	}
}

// stint is how long a sidecar lived.
type lifetime struct{ from, to time.Time }

// unattended says whether no sidecar lived for two readings in the last minute of a job, or since it began.
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

// away says whether, while the job ran, a sidecar began or the batch system could not be read.
func (w *world) away(r embedded.Record) bool {
	return slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Kind == journal.KindEvent && (e.Verb == "ready" || e.Verb == "unreadable") && e.At.After(r.Start) && e.At.Before(r.End)
	})
}

// judgeNodes: no node in two jobs, and none back in a job in the second in which it left it, in the batch system's records.
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

// judgeOrdinary: an ordinary job ends as it would have without us.
func (w *world) judgeOrdinary(a *app, r embedded.Record) {
	trouble := len(w.scenario.events) > 0
	limit := time.Duration(a.limit-1) * time.Second // limits count from the whole second before the start
	switch {
	case r.Why == "COMPLETED" && a.runs <= a.limit+30 && r.End.Sub(r.Start) == time.Duration(a.runs)*time.Second:
	case r.Why == "COMPLETED" && a.runs > a.limit: // it ran on until before the sweep
	case r.Why == "TIMEOUT" && a.runs >= a.limit && r.End.Sub(r.Start) >= limit:
	case r.Why == "CANCELLED" && a.cancel > 0:
	case (r.Why == "NODE_FAIL" || r.Why == "LOST") && trouble:
	default:
		w.violation("ordinary job %s (%d s of %d) ended %s after %v", a.name, a.runs, a.limit, r.Why, r.End.Sub(r.Start))
	}
}

// pass is by how much an ordinary job may start later than without managed jobs behind it: a scheduling pass that saw a
// reservation where none had to be. Slurm's comes every 30 s; the sidecar counts on 45.
const pass = 45 * time.Second

// orphan is a reservation of a sidecar that died, until another sees to it. It withholds its nodes from ordinary jobs,
// and the batch system, which reads its end and nothing of our plans, lets others go before those that wait for them.
type orphan struct {
	name     string
	from, to time.Duration // to: zero while it is there
}

// orphan notes the reservations that a sidecar leaves behind.
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

// adopt notes that a reservation was written anew, or deleted, by a sidecar.
func (w *world) adopt(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.orphans {
		if o := &w.orphans[i]; o.name == name && (o.to == 0 || o.to > time.Since(w.begin)) {
			o.to = time.Since(w.begin)
		}
	}
}

// mourn ends the orphans that a sidecar begins with: after some readings it keeps those that it has not written because it
// wants them as they are.
func (w *world) endOrphans() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.orphans {
		if o := &w.orphans[i]; o.to == 0 {
			o.to = time.Since(w.begin) + 3*deadline
		}
	}
}

// plain returns the scenario to compare with, of a world without managed jobs. A job that asked for steps and that its user released before the
// sidecar could hold it is an ordinary job, which the batch system started: it is there, too.
func (s *scenario) withoutManaged(with outcome) *scenario {
	other := *s
	other.ordinary = with.ordinary
	return &other
}

// hurt compares the starts of ordinary jobs, all submitted before the managed ones, with those in a world without these.
// One for which, while it waited, a reservation of a dead sidecar kept nodes, is not ours to blame.
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

// judgeForged checks that no job of the stranger's began.
func (w *world) judgeForged() {
	for _, r := range w.system.Jobs() {
		if r.Job.User == stranger && !r.Start.IsZero() && adapter.IsPart(&r.Job) && len(w.restarts) == 0 {
			w.violation("a stranger's job %d with an application's mark began", r.ID)
		}
	}
}
