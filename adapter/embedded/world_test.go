package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// world is a batch system in virtual time, whose clock begins at second 0.
type world struct {
	*System
	t     *testing.T
	ctx   context.Context
	begin time.Time
}

func inWorld(t *testing.T, o Options, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer system.Close()
		story(&world{System: system, t: t, ctx: t.Context(), begin: time.Now()})
	})
}

// at waits until the given second.
func (w *world) at(second int) {
	time.Sleep(time.Until(w.begin.Add(time.Duration(second) * time.Second)))
}

// unix returns the Unix time of the given second.
func (w *world) unix(second core.Time) core.Time { return w.begin.Unix() + second }

func (w *world) submit(spec JobSpec) adapter.Key {
	w.t.Helper()
	if spec.User == "" {
		spec.User = "ada"
	}
	key, err := w.Submit(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mustBe(err, want error) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Fatalf("error is %v, want %v", err, want)
	}
}

func (w *world) reserve(name, user string, from, to core.Time, nodes ...string) {
	w.t.Helper()
	w.must(w.Reserve(w.ctx, w.reservationOf(name, user, from, to, nodes...)))
}

func (w *world) reservationOf(name, user string, from, to core.Time, nodes ...string) adapter.Reservation {
	return adapter.Reservation{Name: name, Nodes: nodes, Start: w.unix(from), End: w.unix(to), User: user}
}

// shows fails the test unless a job is in the state `want`, such as "running n1,n2" or "pending Resources".
func (w *world) shows(key adapter.Key, want string) {
	w.t.Helper()
	j, err := w.Inspect(w.ctx, key)
	w.must(err)
	got := string(j.State) + " " + strings.Join(j.Nodes, ",")
	if j.State == adapter.Pending || j.State == adapter.Done {
		got = string(j.State) + " " + j.Why
	}
	if got != want {
		w.t.Errorf("at second %d job %d is %q, want %q", time.Since(w.begin)/time.Second, key.ID, got, want)
	}
}

// history returns which jobs held which nodes and when, in seconds: "1: n1 0-20 n2 0-20".
func (w *world) history() string {
	var b strings.Builder
	for _, r := range w.Jobs() {
		if len(r.Spans) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d:", r.ID)
		for _, s := range r.Spans {
			fmt.Fprintf(&b, " %s %d-%d", s.Node, int(s.From.Sub(w.begin).Seconds()), int(s.To.Sub(w.begin).Seconds()))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// audit returns an error if two jobs held the same node at the same time.
func audit(records []Record) error {
	type owned struct {
		Span
		job core.JobID
	}
	var all []owned
	for _, r := range records {
		for _, s := range r.Spans {
			if !s.From.Before(s.To) {
				return fmt.Errorf("job %d holds %s from %v to %v", r.ID, s.Node, s.From, s.To)
			}
			all = append(all, owned{s, r.ID})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Node == b.Node && a.From.Before(b.To) && b.From.Before(a.To) {
				return fmt.Errorf("%s is in jobs %d and %d at %v", a.Node, a.job, b.job, latest(a.From, b.From))
			}
		}
	}
	return nil
}
