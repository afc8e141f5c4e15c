package audit

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/hostlist"
)

// history is the content of the journal, sorted into runs of jobs.
type history struct {
	entries  []journal.Entry
	runs     []*run
	accepted map[adapter.Key]bool
	ids      map[core.JobID]bool // jobs that must be alone on their nodes
	clocks   []time.Time         // when the clock was set
}

// run is one execution of a managed job.
type run struct {
	key     adapter.Key
	user    string
	planned bool      // the sidecar chose the start of the run
	ends    core.Time // promised end, Unix second; 0 if not known
	profile core.EP   // the profile with which the run was started; nil if not known
	chosen  []string  // the nodes on which the run was started
	began   core.Time // Unix second
	ended   time.Time // when the sidecar saw the end of the run; zero if the run has not ended
	state   string    // the state in which the run ended, in the batch system's words; "" if not known
	text    string    // reason for the end of the run
	changes []change  // the sizes of the run, beginning with the start
	entries []journal.Entry
	rigid   bool // the job ran as an ordinary job, whose size the sidecar did not observe
	again   bool // the job was requeued

	unannounced bool // accounting has a change that the journal does not have
	unseen      bool // accounting has a change that the sidecar did not see in time
}

// change is a change of a job's nodes, at the job's start or later.
type change struct {
	entry journal.Entry
	verb  string
	at    float64  // Unix seconds at which the nodes changed
	slack float64  // number of seconds by which `at` may be wrong
	sure  bool     // the sidecar itself changed the nodes, so that `at` is known
	nodes []string // the job's nodes after the change
}

// readRuns sorts the journal's entries into runs of jobs.
func readRuns(entries []journal.Entry) *history {
	t := &history{entries: entries, accepted: map[adapter.Key]bool{}, ids: map[core.JobID]bool{}}
	waiting := map[adapter.Key]*run{} // runs that have not begun
	running := map[adapter.Key]*run{}
	user := map[adapter.Key]string{}
	for _, e := range entries {
		key := keyOf(e)
		if e.Kind == journal.KindIntent {
			for _, of := range []map[adapter.Key]*run{waiting, running} {
				if r := of[key]; r != nil {
					r.entries = append(r.entries, e)
				}
			}
			continue
		}
		switch e.Verb {
		case "clock":
			t.clocks = append(t.clocks, e.At)
			continue
		case "accepted":
			t.accepted[key], t.ids[key.ID] = true, true
			user[key] = text(e, "user")
		}
		if e.Job == 0 {
			continue
		}
		r := running[key]
		if r == nil {
			if r = waiting[key]; r == nil {
				r = &run{key: key}
				waiting[key] = r
			}
		}
		r.user = user[key]
		r.entries = append(r.entries, e)
		switch e.Verb {
		case "starting":
			r.planned, r.chosen = true, nodes(e, "nodes")
			if requested, err := ep.Parse(text(e, "profile")); err == nil {
				r.profile = requested
			}
		case "held", "sent back":
			r.planned = false
		case "started":
			if running[key] != nil { // the start was recorded twice, because the previous sidecar died between two writes
				r.found(e)
				break
			}
			if !r.start(e) { // a part of an application, whose size its launcher chooses
				break
			}
			delete(waiting, key)
			t.runs = append(t.runs, r)
			if !r.rigid {
				running[key] = r
			}
		case "grew", "shrank", "resized":
			r.resize(e)
		case "escaped":
			delete(t.ids, key.ID) // the job runs as an ordinary job, and may share its nodes
			r.found(e)
		case "changed", "forgotten":
			r.found(e)
		case "requeued":
			r.ended, r.again = e.At, true
			delete(running, key)
		case "ended":
			r.ended, r.state, r.text = e.At, text(e, "state"), e.Text
			delete(running, key)
			delete(waiting, key)
		}
	}
	return t
}

// start records the start of a run. It returns false for a part of an application, which is not recorded.
func (r *run) start(e journal.Entry) bool {
	began, ok := number(e, "began")
	ends, promised := number(e, "ends")
	r.began, r.ends, r.rigid = core.Time(began), core.Time(ends), !promised
	has := nodes(e, "nodes")
	sure := slices.Equal(has, r.chosen) || len(r.chosen) == 0 && seconds(e.At)-began <= grain // otherwise the user may have changed the job before the sidecar saw it running
	r.changes = []change{{entry: e, verb: e.Verb, at: began, slack: grain, sure: sure, nodes: has}}
	return ok
}

// resizes maps each event of a resize to the verbs of the actions that may have caused it. When the last of these actions ends, the job
// has the nodes in the event.
var resizes = map[string][]string{"grew": {"expand"}, "shrank": {"shrink"}, "resized": {"expand", "shrink"}}

// resize records a growth or shrink by the sidecar. The job holds added nodes from the end of the action "expand", and removed nodes
// until the end of the action "shrink".
func (r *run) resize(e journal.Entry) {
	c := change{entry: e, verb: e.Verb, at: seconds(e.At), slack: grain, nodes: nodes(e, "nodes")}
	for _, a := range slices.Backward(r.entries) {
		if len(r.changes) > 0 && a.ID <= r.changes[len(r.changes)-1].entry.ID {
			break
		}
		if a.Kind == journal.KindIntent && a.Outcome == journal.Done && slices.Contains(resizes[e.Verb], a.Verb) {
			c.at, c.slack, c.sure = seconds(a.At.Add(a.Took)), grain+a.Took.Seconds(), true
			break
		}
	}
	r.changes = append(r.changes, c)
}

// found records that the sidecar found a job with other nodes than before, without having changed them.
func (r *run) found(e journal.Entry) {
	if n := nodes(e, "nodes"); len(n) > 0 && len(r.changes) > 0 {
		r.changes = append(r.changes, change{entry: e, verb: e.Verb, at: seconds(e.At), slack: grain, nodes: n})
	}
}

// failed reports whether nodes were allocated for a growth that then failed. The journal does not show
// for how long these nodes were held.
func (r *run) failed() bool {
	open := false
	for _, e := range r.entries {
		switch {
		case e.Kind == journal.KindIntent && e.Verb == "expand" && (e.Outcome == journal.Done || strings.HasPrefix(e.Outcome, "interrupted")):
			if open {
				return true
			}
			open = true
		case e.Kind == journal.KindEvent && (e.Verb == "grew" || e.Verb == "resized" || e.Verb == "shrank"):
			open = false
		}
	}
	return open
}

// unreported returns when the sidecar began a resize whose result no event reports. The cause is that
// the sidecar died, and the job ended before the next sidecar started. From that second on, the
// journal does not show which nodes the job had. ok is false if there is no such resize.
func (r *run) unreported() (from float64, ok bool) {
	last := int64(0)
	if n := len(r.changes); n > 0 {
		last = r.changes[n-1].entry.ID
	}
	for _, e := range r.entries {
		if e.Kind == journal.KindIntent && e.ID > last && slices.Contains([]string{"expand", "merge", "shrink"}, e.Verb) {
			return seconds(e.At), true
		}
	}
	return 0, false
}

// next returns the second of the run's next change after the second `at`. If there is none, it returns the run's end.
func (r *run) next(at core.Time) core.Time {
	for _, c := range r.changes {
		if c.entry.At.Unix() > at {
			return c.entry.At.Unix()
		}
	}
	return r.ended.Unix()
}

// has reports whether the journal has an event of one of the kinds for the run.
func (r *run) has(kinds ...string) bool {
	return slices.ContainsFunc(r.entries, func(e journal.Entry) bool { return e.Kind == journal.KindEvent && slices.Contains(kinds, e.Verb) })
}

// clockSet reports whether the clock was set within an hour of an instant, so that times in the journal cannot be compared.
func (t *history) clockSet(at time.Time) bool {
	return slices.ContainsFunc(t.clocks, func(c time.Time) bool { return c.Sub(at).Abs() < time.Hour })
}

func keyOf(e journal.Entry) adapter.Key {
	return adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
}

// text returns a field of an entry, or "" if there is no such text.
func text(e journal.Entry, field string) string {
	s, _ := e.Args[field].(string)
	return s
}

// number returns a field of an entry as a number, whether the entry was read from JSON or made in Go.
func number(e journal.Entry, field string) (float64, bool) {
	switch v := e.Args[field].(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}

// nodes returns the node names of the host list in a field of an entry, sorted.
func nodes(e journal.Entry, field string) []string {
	all, err := hostlist.Expand(text(e, field))
	if err != nil {
		return nil
	}
	hostlist.Sort(all)
	return all
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func second(s float64) core.Time { return core.Time(math.Floor(s)) }
