package sidecar_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// sizedBy sets the sidecar's sizing rule.
func (w *world) sizedBy(s sizing.Sizing) {
	w.t.Helper()
	w.halt()
	w.settings.Policy = sched.Repeated{Sizing: s}
	w.serve()
}

// moldable submits a moldable job that works for a time, whatever its size is.
func (w *world) moldable(list string, works time.Duration) adapter.Key {
	w.t.Helper()
	choices, err := adapter.ParseRequest("mold=" + list)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.submit(embedded.JobSpec{Nodes: choices[0][0].Nodes, Comment: "mold=" + list, Managed: true, Script: embedded.Phases(works)})
}

// announced returns why a waiting job has its size, as `accordion explain` shows it now. It returns
// nil if the job does not wait, or has no place in the plan yet.
func (w *world) announced(key adapter.Key) *status.SizeExplanation {
	w.t.Helper()
	x, err := status.Explain(w.journal, int64(key.ID))
	if err != nil {
		return nil // the sidecar has not seen the job
	}
	return x.Sizes
}

// begun returns from the journal how many nodes a job had at its start, and the numbers by which
// that size was chosen.
func (w *world) begun(key adapter.Key) (nodes int, sized view.AllowedSizes, sizing view.Sizing) {
	w.t.Helper()
	for e, err := range w.journal.JobEntries(int64(key.ID), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Verb != "starting" {
			continue
		}
		var event struct {
			Profile string
			Sized   view.AllowedSizes
			Sizing  view.Sizing
		}
		data, err := json.Marshal(e.Args)
		if err == nil {
			err = json.Unmarshal(data, &event)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		choices, err := adapter.ParseRequest("ep=" + event.Profile)
		if err != nil {
			w.t.Fatal(err)
		}
		nodes, sized, sizing = choices[0][0].Nodes, event.Sized, event.Sizing
	}
	return nodes, sized, sizing
}

// Many moldable jobs are submitted, on an idle machine and on a full one. Each job starts with the
// size that was announced, unless the numbers by which the size was chosen have changed. The
// journal has the numbers at the job's start.
func TestMoldableJobsGetTheSizesThatWereAnnounced(t *testing.T) {
	const list = "2x200s|4x130s|8x104s"
	for _, full := range []bool{false, true} {
		inWorld(t, slurmish, func(w *world) {
			w.sizedBy(sizing.Share{})
			if full {
				w.submit(embedded.JobSpec{Nodes: 16, Limit: 60, Runs: 60, User: "bob"})
				w.after(5)
			}
			var keys []adapter.Key
			for range 12 {
				keys = append(keys, w.moldable(list, 60*time.Second))
			}
			last := make([]*status.SizeExplanation, len(keys))
			over := make([]bool, len(keys)) // whether the job does not wait any more
			for range 100 {
				time.Sleep(2 * time.Second)
				for i, key := range keys {
					if over[i] {
						continue
					}
					x := w.announced(key)
					over[i] = x == nil && last[i] != nil
					if x != nil {
						last[i] = x
					}
				}
			}
			w.quiet(300)
			held := 0
			for i, key := range keys {
				nodes, sized, rule := w.begun(key)
				was := strings.Split(w.sizes(key), "@")[0]
				if number := view.Number(nodes).String(); nodes == 0 || was != number || nodes < sized.Least || nodes > sized.Most {
					t.Errorf("job %d held %s nodes; it began on %d of %d to %d", key.ID, was, nodes, sized.Least, sized.Most)
				}
				if rule.Rule != "share" || rule.Machine != 16 || rule.Waiting == 0 || sized.Reference != 4 {
					t.Errorf("job %d began by %+v, %+v", key.ID, rule, sized)
				}
				if x := last[i]; x != nil && x.Least == sized.Least && x.Most == sized.Most {
					held++
					if nodes != last[i].Taken {
						t.Errorf("job %d was announced %d nodes, and began on %d", key.ID, last[i].Taken, nodes)
					}
				}
			}
			if held < 4 {
				t.Errorf("%d jobs began by what was announced", held)
			}
		})
	}
}

// The rule is switched while jobs wait and run.
func TestASwitchedSizingRuleAppliesToWaitingJobs(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.sizedBy(nil)
		first := w.moldable("2x200s|4x130s|16x104s", 90*time.Second) // the reference of this job is 4 nodes
		w.after(10)
		second := w.moldable("2x200s|4x130s|16x104s", 60*time.Second)
		w.after(20)
		if x := w.announced(second); x != nil {
			t.Errorf("without a rule %+v is reported", x)
		}
		w.says(second, "Of its choices this is the one that is over first.", "starts on 16 nodes")
		w.sizedBy(sizing.Least{})
		w.after(30)
		w.says(second, "It is planned on 2, and not on more: the site's rule, least, gives no more.", "starts on 2 nodes")
		w.sizedBy(sizing.Reference{})
		w.after(40)
		w.says(second, "It is planned on 4, and not on more: the site's rule, reference, gives no more.", "starts on 4 nodes")
		w.quiet(600)
		if one, other := w.sizes(first), w.sizes(second); !strings.HasPrefix(one, "16@") || !strings.HasPrefix(other, "4@") {
			t.Errorf("they held %s and %s", one, other)
		}
		if got := w.events(first); strings.Contains(got, "broken") {
			t.Errorf("the first had %s", got)
		}
	})
}

func TestASizeThatLastsLongerThanASmallerOneIsReportedOnce(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.sizedBy(sizing.Share{})
		w.submit(embedded.JobSpec{Nodes: 16, Limit: 300, Runs: 300, User: "bob"})
		w.after(5)
		job := w.moldable("2x200s|8x250s|4x130s|4x140s", time.Second)
		w.after(15)
		const want = "never chosen, for they last longer than with as many nodes or fewer: 8x4m10s|4x2m20s"
		if got := w.explained(job); strings.Count(got, want) != 1 || !strings.Contains(got, "never: as many nodes or fewer are faster") {
			t.Errorf("explained:\n%s\nwant once %q", got, want)
		}
	})
}
