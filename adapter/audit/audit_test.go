package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/hostlist"
)

// zero is the Unix second from which the tests count seconds.
const zero core.Time = 1_800_000_000

// journalWriter writes entries of a journal.
type journalWriter struct{ entries []journal.Entry }

// args returns the fields of an entry as the journal's reader returns them. Its arguments are keys,
// each followed by its value.
func args(pairs ...any) map[string]any {
	if len(pairs) == 0 {
		return nil
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			m[pairs[i].(string)] = v
		default:
			m[pairs[i].(string)] = json.Number(fmt.Sprint(v))
		}
	}
	return m
}

func (d *journalWriter) add(e journal.Entry, at float64, job core.JobID) {
	e.ID, e.At, e.Job = int64(len(d.entries)+1), time.UnixMicro(int64(zero)*1e6+int64(at*1e6)), int64(job)
	if job != 0 {
		e.Submitted = int64(zero) + int64(job)
	}
	d.entries = append(d.entries, e)
}

// event adds an event at a second.
func (d *journalWriter) event(at float64, job core.JobID, verb, text string, fields ...any) {
	d.add(journal.Entry{Kind: journal.KindEvent, Verb: verb, Text: text, Args: args(fields...)}, at, job)
}

// act adds an intent whose action succeeded after `took` seconds.
func (d *journalWriter) act(at float64, job core.JobID, verb string, took float64, fields ...any) {
	d.add(journal.Entry{Kind: journal.KindIntent, Verb: verb, Args: args(fields...), Outcome: journal.Done, Took: time.Duration(took * float64(time.Second))}, at, job)
}

// key returns the key of the tests' job with the given ID.
func key(id core.JobID) adapter.Key { return adapter.Key{ID: id, Submitted: zero + core.Time(id)} }

func list(t testing.TB, nodes string) []string {
	t.Helper()
	if nodes == "" {
		return nil
	}
	all, err := hostlist.Expand(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// held returns a Hold of the nodes from the second `from` until just before the second `to`.
func held(t testing.TB, nodes string, from, to core.Time) adapter.Hold {
	return adapter.Hold{Nodes: list(t, nodes), From: zero + from, To: zero + to}
}

// clean returns the data of a small cluster at second 2000, in which Judge must find nothing wrong.
//
//	17  alice, evolving, over: n[1-2] from 1000, n[1-5] from 1100 by expander 24, n[1-3] from 1200 until 1300
//	18  bob, ordinary, over: n8 from 1000 until 1150
//	19, 20  carol, ordinary, share n9
//	30  dave, evolving, over: n6 from 1000, n[6-7] from 1400 by companion 31, until 1500
//	40  erin, evolving, runs on n[1-2] since 1600; its later step has a reservation; 42 is its companion on n3
//	41  erin, evolving, waits in its reservation
func clean(t testing.TB) Input {
	d := &journalWriter{}
	d.event(900, 0, "ready", "the sidecar begins", "managed", 0, "interrupted", 0)
	start := func(at float64, id core.JobID, user, profile, nodes string, ends int) {
		d.event(at-3, id, "accepted", "ep="+profile, "user", user)
		d.act(at-3, id, "adopt", 0.01)
		d.act(at-2.9, id, "reserve", 0.01, "reservation", fmt.Sprintf("accordion-%d-0", id))
		d.event(at-2, id, "starting", "on its nodes", "nodes", nodes, "planned", int(zero)+int(at), "ends", int(zero)+ends, "profile", profile)
		d.act(at-2, id, "shape", 0.01)
		d.act(at-1, id, "attach", 0.01)
		d.act(at-0.9, id, "release", 0.01)
		d.event(at+0.5, id, "started", "on its nodes", "nodes", nodes, "planned", int(zero)+int(at), "began", int(zero)+int(at), "ends", int(zero)+ends)
		d.act(at+0.6, id, "detach", 0.01)
		d.act(at+0.7, id, "unreserve", 0.01, "reservation", fmt.Sprintf("accordion-%d-0", id))
	}
	start(1000, 17, "alice", "2x100s,5x100s,3x100s", "n[1-2]", 1300)
	start(1000, 30, "dave", "1x400s,2x100s", "n6", 1500)
	d.act(1099.9, 17, "expand", 0.2, "nodes", "n[3-5]")
	d.act(1100.1, 17, "merge", 0.5, "expander", 24)
	d.event(1100.7, 17, "grew", "from 2 to 5 nodes", "nodes", "n[1-5]", "planned", int(zero)+1100, "lateness", 0.7, "step", 2, "usable", float64(zero)+1100.7)
	d.act(1200.1, 17, "shrink", 0.2, "keep", "n[1-3]")
	d.event(1200.4, 17, "shrank", "from 5 to 3 nodes", "nodes", "n[1-3]", "planned", int(zero)+1200, "lateness", 0.4, "step", 3, "usable", float64(zero)+1200.4)
	d.event(1300.5, 17, "ended", "after step 3 of 3", "state", "COMPLETED")
	d.act(1400.1, 30, "expand", 0.2, "nodes", "n7")
	d.act(1400.3, 30, "merge", 0.2, "expander", 31)
	d.event(1400.6, 30, "grew", "from 1 to 2 nodes", "nodes", "n[6-7]", "planned", int(zero)+1400, "lateness", 0.6, "step", 2, "usable", float64(zero)+1400.6)
	d.event(1500.9, 30, "ended", "after step 2 of 2", "state", "COMPLETED")
	start(1600, 40, "erin", "3x600s,5x100s", "n[1-3]", 2300)
	d.event(1900, 41, "accepted", "ep=1x100s,2x100s", "user", "erin")
	d.act(1900.1, 41, "adopt", 0.01)

	booked := func(id core.JobID, user, partition, state string, holds ...adapter.Hold) adapter.AccountedRun {
		b := adapter.AccountedRun{Key: key(id), User: user, Partition: partition, Alone: partition == "main", State: state, Holds: holds}
		b.Sum = float64(b.NodeSeconds())
		return b
	}
	beside := func(b adapter.AccountedRun, of core.JobID, stays bool) adapter.AccountedRun {
		b.Expands, b.Stays, b.Merged = of, stays, !stays
		return b
	}
	runs := func(b adapter.AccountedRun) adapter.AccountedRun { b.Open = true; return b }
	books := &adapter.Accounting{Grain: 1, Jobs: []adapter.AccountedRun{
		booked(17, "alice", "main", "COMPLETED", held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1200), held(t, "n[1-3]", 1200, 1300)),
		booked(18, "bob", "main", "COMPLETED", held(t, "n8", 1000, 1150)),
		booked(19, "carol", "shared", "COMPLETED", held(t, "n9", 1000, 1200)),
		booked(20, "carol", "shared", "FAILED", held(t, "n9", 1100, 1300)),
		beside(booked(24, "alice", "main", "RESIZING", held(t, "n[3-5]", 1100, 1101)), 17, false),
		booked(30, "dave", "main", "COMPLETED", held(t, "n6", 1000, 1500)),
		beside(booked(31, "dave", "main", "CANCELLED", held(t, "n7", 1400, 1501)), 30, true),
		runs(booked(40, "erin", "main", "RUNNING", held(t, "n[1-2]", 1600, 2000))),
		runs(beside(booked(42, "erin", "main", "RUNNING", held(t, "n3", 1600, 2000)), 40, true)),
	}}
	live := []adapter.Job{
		{Key: key(40), User: "erin", Partition: "main", State: adapter.Running, Started: zero + 1600, Nodes: list(t, "n[1-2]"), Mark: "accordion:ep=3x600s,5x100s"},
		{Key: key(42), User: "erin", Partition: "main", State: adapter.Running, Started: zero + 1600, Nodes: list(t, "n3"), Expands: 40},
		{Key: key(41), User: "erin", Partition: "main", State: adapter.Pending, Held: true, Mark: "accordion:ep=1x100s,2x100s", Reservation: "accordion-41-0"},
	}
	standing := &adapter.CurrentState{At: time.Unix(zero+2000, 0), Jobs: live, Companions: []core.JobID{42, 31}, Exclusive: []string{"main"},
		Reservations: []adapter.Reservation{
			{Name: "accordion-40-1", Nodes: list(t, "n[4-5]"), Start: zero + 2200, End: zero + 2320, User: "erin"},
			{Name: "accordion-41-0", Nodes: list(t, "n6"), Start: zero + 2100, End: zero + 2300, User: "erin"},
			{Name: "accordion-park", Nodes: list(t, "n9"), Start: zero + 300_000_000, End: zero + 300_000_060},
			{Name: "accordion-lease", Start: zero + 1990, End: zero + 2050},
			{Name: "maintenance", Nodes: list(t, "n8"), Start: zero + 9000, End: zero + 9900},
		},
		Kept: []adapter.Leftover{
			{What: "hosts file", Name: "/tmp/accordion-1004/lab-40.hosts", Job: adapter.Key{ID: 40}, Age: 400, Fix: "rm it"},
			{What: "hosts file", Name: "/tmp/accordion-1001/lab-17.hosts", Job: adapter.Key{ID: 17}, Age: 800, Fix: "rm it"},
			{What: "cpuset", Name: "n3", Job: adapter.Key{ID: 40}, Fix: "restart the sidecar"},
		}}
	for _, n := range list(t, "n[1-9]") {
		standing.Nodes = append(standing.Nodes, adapter.Node{Name: n, Usable: true, Idle: n > "n3", Why: map[bool]string{true: "IDLE", false: "ALLOCATED"}[n > "n3"]})
	}
	in := Input{From: zero + 500, Now: zero + 2000, Entries: d.entries, Alive: true, Current: standing, Accounting: books, Watch: watched(live),
		Records: []journal.Record{{Job: 40, Submitted: zero + 40}, {Job: 41, Submitted: zero + 41}}}
	in.arrange()
	return in
}

// watched returns the states at three successive seconds.
func watched(jobs []adapter.Job) (all []adapter.CurrentState) {
	for i := range core.Time(3) {
		all = append(all, adapter.CurrentState{At: time.Unix(zero+1990+i, 0), Jobs: slices.Clone(jobs), Exclusive: []string{"main"}})
	}
	return all
}

// entry returns the journal entry with the given job and verb, so that a test can change it.
func (in *Input) entry(t testing.TB, job int64, verb string) *journal.Entry {
	t.Helper()
	i := slices.IndexFunc(in.Entries, func(e journal.Entry) bool { return e.Job == job && e.Verb == verb })
	if i < 0 {
		t.Fatalf("the set has no %q of job %d", verb, job)
	}
	return &in.Entries[i]
}

func (in *Input) row(t testing.TB, job core.JobID) *adapter.AccountedRun {
	t.Helper()
	i := slices.IndexFunc(in.Accounting.Jobs, func(b adapter.AccountedRun) bool { return b.ID == job })
	if i < 0 {
		t.Fatalf("the set has no row of job %d", job)
	}
	return &in.Accounting.Jobs[i]
}

func (in *Input) drop(job int64, verb string) {
	in.Entries = slices.DeleteFunc(in.Entries, func(e journal.Entry) bool { return e.Job == job && e.Verb == verb })
}

func (in *Input) forget(job core.JobID) {
	in.Accounting.Jobs = slices.DeleteFunc(in.Accounting.Jobs, func(b adapter.AccountedRun) bool { return b.ID == job })
}

// tell inserts an event at its time.
func (in *Input) tell(at float64, job core.JobID, verb, text string, fields ...any) {
	d := journalWriter{in.Entries}
	d.event(at, job, verb, text, fields...)
	in.Entries = d.entries
	in.arrange()
}

// does inserts an intent at its time.
func (in *Input) does(at float64, job core.JobID, verb string, fields ...any) {
	d := journalWriter{in.Entries}
	d.act(at, job, verb, 0.1, fields...)
	in.Entries = d.entries
	in.arrange()
}

// arrange sorts the entries by time.
func (in *Input) arrange() {
	slices.SortStableFunc(in.Entries, func(a, b journal.Entry) int { return a.At.Compare(b.At) })
	for i := range in.Entries {
		in.Entries[i].ID = int64(i + 1)
	}
}

func TestCleanSetHasNoFindings(t *testing.T) {
	r := Judge(clean(t))
	for _, f := range r.Findings {
		t.Error(f.Line(time.UTC))
	}
	want := Report{Jobs: 6, Managed: 3, Actions: 27, Seconds: 1500, NodeSeconds: 1600, Sightings: 3}
	if r.Jobs != want.Jobs || r.Managed != want.Managed || r.Actions != want.Actions || r.Seconds != want.Seconds || r.NodeSeconds != want.NodeSeconds || r.Sightings != want.Sightings {
		t.Errorf("checked %+v, want %+v", r, want)
	}
}
