package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
	"accordion/adapter/managed"
)

// No plug-in refuses the job at its submission here, so the user reads the reason in the job's
// output.
func TestSidecarRefusesShortSteps(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		w.settings.Limits = managed.Limits{ShortestStep: 10, ResizesPerHour: 360}
		w.serve()
		short, long := w.evolving("2x10s,4x9s"), w.evolving("2x10s,4x10s")
		w.quiet(200)
		record := w.record(short)
		const why = `piece 2: "4x9s" is shorter than the 10s that a step lasts at least on this cluster ([limits] shortest_step)`
		if got := strings.Join(record.Output, "\n"); !strings.Contains(got, why) || w.steps(short) != "" {
			t.Errorf("a job with a step of 9 s held %q and said %q", w.sizes(short), got)
		}
		if w.steps(long) != "2 4" {
			t.Errorf("a job with steps of 10 s held %q", w.sizes(long))
		}
	})
}

// An application whose steps end early grows as often as resizes_per_hour allows. Its shrinks are
// not delayed.
func TestResizesPerHourHoldsBackGrowthsOnly(t *testing.T) {
	inWorld(t, embedded.Options{Nodes: 8}, func(w *world) {
		w.eager()
		w.halt()
		w.settings.Limits = managed.Limits{ResizesPerHour: 36}
		w.settings.Overrun.Least = 3600
		w.serve()
		work := make([]time.Duration, 40)
		for i := range work {
			work[i] = 5 * time.Second
		}
		key := w.evolving(strings.TrimSuffix(strings.Repeat("1x30s,2x30s,", 20), ","), work...)
		w.at(300)
		if n := strings.Count(w.sizes(key), " "); n < 9 || n > 13 { // a quarter of 36 resizes without a pause, then one in 100 s, and the shrink after the last growth
			t.Errorf("%d resizes in 300 s: %s", n, w.sizes(key))
		}
		if why := w.why(key); !strings.Contains(why, "[limits] resizes_per_hour") {
			t.Errorf("status says %q", why)
		}
		if err := w.Cancel(key); err != nil {
			t.Error(err)
		}
		w.quiet(400)
	})
}
