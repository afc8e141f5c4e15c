package sidecar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/sched"
)

// entry returns the job as `accordion queue` shows it.
func (w *world) entry(key adapter.Key) view.Entry {
	w.t.Helper()
	data, err := w.journal.Queue()
	var q view.Queue
	if err := errors.Join(err, json.Unmarshal(data, &q)); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range q.Jobs {
		if e.Key() == key {
			return e
		}
	}
	w.t.Fatalf("job %d is not in the queue", key.ID)
	return view.Entry{}
}

// reserved returns the start of the job's reservation ahead, in seconds of the world; −1 if it has
// none.
func (w *world) reserved(key adapter.Key) core.Time {
	w.t.Helper()
	snapshot, err := w.Observe(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range snapshot.Reservations {
		if strings.HasPrefix(r.Name, adapter.Prefix) && r.User == "ada" && strings.HasSuffix(r.Name, "-0") && strings.Contains(r.Name, "-"+fmt.Sprint(key.ID)+"-") {
			return r.Start - w.begin.Unix()
		}
	}
	return -1
}

// An ordinary job has ten of 16 nodes for five minutes. The first evolving job needs twelve nodes.
// The second evolving job fits now, but would delay the start of the first one. The third evolving
// job fits now, and would delay no other job.
func TestWhoFitsStartsAndOneHasAReservation(t *testing.T) {
	for _, c := range []struct {
		name          string
		policy        sched.Policy
		at60, at100   string    // what the queue shows of the first evolving job at seconds 60 and 100
		ahead         core.Time // start of the first evolving job's reservation, as observed at second 100
		due           core.Time
		first, second core.Time // when the first two evolving jobs started
	}{
		{"repeated", sched.Repeated{}, "", "", 302, 0, 304, 329},
		{"easy-evolving", sched.Patient{}, "reserved", "reserved", 302, 0, 304, 329},
		{"patient", sched.Patient{Factor: 2, Most: 24 * 3600}, "unreserved", "reserved", 476, 81, 507, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				w.settings.Policy = c.policy
				w.serve()
				w.submit(embedded.JobSpec{Nodes: 10, Limit: 300, Runs: 300})
				w.at(1)
				first := w.evolving("12x20s,4x20s")
				w.at(2)
				second := w.evolving("6x250s,5x250s")
				w.at(3)
				w.evolving("6x60s,2x60s")
				stands := func(second int, turn string) {
					t.Helper()
					w.at(second)
					e, ahead := w.entry(first), w.reserved(first)
					if e.Turn != turn || (ahead >= 0) != (turn != view.Unreserved) || (e.Start > 0) != (ahead >= 0) {
						t.Errorf("at %d its turn is %q, its reservation begins at %d, and its start is planned for %d; want %q", second, e.Turn, ahead, e.Start, turn)
					}
					if e.Due != 0 && e.Due-w.begin.Unix() != c.due || e.Due == 0 && c.due != 0 {
						t.Errorf("it is due at %d, want %d", e.Due-w.begin.Unix(), c.due)
					}
				}
				stands(60, c.at60)
				stands(100, c.at100)
				about := func(what string, got, want core.Time) {
					t.Helper()
					if got < want-3 || got > want+6 { // because a start and a resize take some seconds
						t.Errorf("%s at %d, want about %d\n%s", what, got, want, w.history())
					}
				}
				about("its reservation begins", w.reserved(first), c.ahead)
				w.quiet(2000)
				w.clean()
				about("the first one begins", w.record(first).Start.Unix()-w.begin.Unix(), c.first)
				about("the second one begins", w.record(second).Start.Unix()-w.begin.Unix(), c.second)
			})
		})
	}
}
