package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
)

// An operator holds a waiting job. The sidecar does not release it, and keeps no nodes for it. When
// the operator releases the job, the job has its place in the queue again, even if the sidecar was
// killed in the meantime.
func TestAWaitingJobThatAnOperatorHoldsStaysHeld(t *testing.T) {
	o := slurmish
	o.Nodes = 4
	inWorld(t, o, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 4, Limit: 60, Runs: 30})
		w.at(1)
		held := w.evolving("3x20s,4x20s")
		behind := w.evolving("3x40s,4x20s")
		w.at(5)
		if err := w.Stop(held); err != nil {
			t.Fatal(err)
		}
		w.at(8)
		w.says(held, "It is held by an operator; it goes on after scontrol release 2.", "it keeps no nodes", "stopped")
		if e := w.entry(held); e.Phase != "held" || e.Rank != 0 || e.Start != 0 {
			t.Errorf("it is shown as %+v", e)
		}
		if at := w.reserved(held); at >= 0 {
			t.Errorf("nodes are reserved for it from second %d on", at)
		}
		w.restart()
		w.at(200)
		if w.record(behind).Start.IsZero() || !w.record(held).Start.IsZero() {
			t.Errorf("the held job started: %v, the one behind it: %v", w.record(held).Start, w.record(behind).Start)
		}
		if got := w.events(held); got != "accepted planned stopped" {
			t.Errorf("its events are %q", got)
		}
		second := w.submit(embedded.JobSpec{Nodes: 4, Limit: 60, Runs: 30})
		w.at(203)
		after := w.evolving("3x20s,4x20s")
		w.at(205)
		if err := w.Unstop(held); err != nil {
			t.Fatal(err)
		}
		w.quiet(500)
		if w.record(held).Start.Before(w.record(second).End) || w.record(after).Start.Before(w.record(held).Start) {
			t.Errorf("released it started at %v, the job behind it at %v", w.record(held).Start.Sub(w.begin), w.record(after).Start.Sub(w.begin))
		}
		if w.steps(held) != "3 4" || !strings.Contains(w.events(held), "stopped let go") {
			t.Errorf("it ran on %s nodes, its events are %s", w.steps(held), w.events(held))
		}
		w.clean()
	})
}

// The operator holds the job after the sidecar released it and before it starts.
func TestAJobThatAnOperatorHoldsWhileItStartsStaysHeld(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 500 * time.Millisecond, 900 * time.Millisecond} {
		inWorld(t, slurmish, func(w *world) {
			job := w.evolving("2x20s,5x20s")
			w.at(1)
			time.Sleep(after)
			if err := w.Stop(job); err != nil {
				t.Fatal(err)
			}
			w.at(60)
			if r := w.record(job); !r.Start.IsZero() {
				t.Errorf("held after %v it started at %v\n%s", after, r.Start.Sub(w.begin), w.journalled())
			}
			if e := w.entry(job); e.Phase != "held" {
				t.Errorf("held after %v it is %s: %s", after, e.Phase, e.Why)
			}
			if at := w.reserved(job); at >= 0 {
				t.Errorf("nodes are reserved for it from second %d on", at)
			}
			if err := w.Unstop(job); err != nil {
				t.Fatal(err)
			}
			w.quiet(200)
			if w.steps(job) != "2 5" {
				t.Errorf("released it ran on %s nodes\n%s", w.steps(job), w.journalled())
			}
			w.clean()
		})
	}
}
