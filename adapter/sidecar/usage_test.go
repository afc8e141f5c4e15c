package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/managed"
	"accordion/adapter/view"
)

// wasteful submits a user's job that ends before it grows.
func (w *world) wasteful(user string) adapter.Key {
	w.t.Helper()
	return w.submit(embedded.JobSpec{User: user, Nodes: 1, Comment: "ep=1x60s,15x60s", Managed: true, Script: embedded.Phases(50 * time.Second)})
}

// ahead returns the names of the reservations for later steps of jobs that exist in the batch
// system.
func (w *world) ahead() (names []string) {
	w.t.Helper()
	s, err := w.Observe(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range s.Reservations {
		if !strings.HasSuffix(r.Name, "-0") {
			names = append(names, r.Name)
		}
	}
	return names
}

// queue returns what `accordion queue` shows.
func (w *world) queue() (q view.Queue) {
	w.t.Helper()
	data, err := w.journal.Queue()
	if err == nil {
		err = json.Unmarshal(data, &q)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func TestLaterStepsOfAUserWhoLeavesThemUnusedAreNotReservedAhead(t *testing.T) {
	inWorld(t, embedded.Options{Nodes: 16}, func(w *world) {
		w.halt()
		w.settings.Unused = managed.Unused{Pool: 80, HalfLife: 7 * 86400} // 1,280 node-seconds
		w.serve()
		c := w.counts()
		w.at(5)
		w.wasteful("mallory")
		w.at(20)
		if all := w.ahead(); len(all) != 1 {
			t.Fatalf("at first %v are reserved ahead, want one", all)
		}
		w.at(80)
		w.wasteful("mallory")
		w.at(160)
		q := w.queue()
		if q.Usage == nil || !q.Usage.Over("mallory", q.At) {
			t.Fatalf("two jobs left unused %+v, beyond the limit", q.Usage)
		}
		c.with(func() {
			if c.unused < 1400 || c.unused > 1600 || c.over != 1 {
				t.Errorf("counted are %d node-seconds, and %d users over the limit", c.unused, c.over)
			}
		})

		// From now on no nodes are reserved ahead for the user, even after a restart of the
		// sidecar. Nothing changes for other users, and the user's job still grows.
		w.restart()
		job := w.wasteful("mallory")
		w.at(180)
		if all := w.ahead(); len(all) != 0 {
			t.Errorf("%v are reserved ahead for a user over the limit", all)
		}
		if i := slices.IndexFunc(w.queue().Jobs, func(e view.Entry) bool { return e.User == "mallory" }); i < 0 || !w.queue().Jobs[i].Unreserved {
			t.Errorf("the queue does not say that nothing is reserved ahead: %+v", w.queue().Jobs)
		}
		if says := w.explained(job); !strings.Contains(says, "No nodes are reserved ahead for its later steps") || !strings.Contains(says, "accordion limits reset mallory") {
			t.Errorf("explain says\n%s", says)
		}
		w.at(240)
		grows := w.submit(embedded.JobSpec{User: "mallory", Nodes: 1, Comment: "ep=1x30s,4x30s", Managed: true, Script: embedded.Phases(29*time.Second, 29*time.Second)})
		w.at(330)
		if got := w.sizes(grows); !strings.HasPrefix(got, "1@") || !strings.Contains(got, " 4@") {
			t.Errorf("a job of a user over the limit has the sizes %q, want 1 and 4", got)
		}
		honest := w.evolving("1x60s,2x60s")
		w.at(350)
		if all := w.ahead(); len(all) != 1 || all[0] != fmt.Sprintf("accordion-%d-1", honest.ID) {
			t.Errorf("%v are reserved ahead for another user", all)
		}

		// An administrator resets the count.
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		if had, err := w.sidecar.ResetUnused(ctx, "mallory"); !had || err != nil {
			t.Errorf("reset: %v, %v", had, err)
		}
		w.at(480)
		w.wasteful("mallory")
		w.at(500)
		if all := w.ahead(); len(all) != 1 {
			t.Errorf("after the reset %v are reserved ahead, want one", all)
		}
		w.quiet(700)
	})
}

func TestAJobThatTheBatchSystemTookLeavesNothingUnused(t *testing.T) {
	inWorld(t, embedded.Options{Nodes: 16}, func(w *world) {
		job := w.evolving("1x60s,15x60s")
		w.at(30)
		if err := w.KillNode(w.record(job).Spans[0].Node); err != nil {
			t.Fatal(err)
		}
		w.quiet(200)
		if q := w.queue(); q.Usage == nil || q.Usage.Users[0].Unused != 0 || q.Usage.Users[0].Used == 0 {
			t.Errorf("a job on a node that was lost left unused %+v", q.Usage)
		}
	})
}
