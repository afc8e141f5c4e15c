package replay_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/internal/testenv"
	"accordion/traces/model"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

func TestEASYEqualsThePublishedSchedule(t *testing.T) {
	log := realLog(t, "KTH-SP2-1996-unfiltered")
	want := map[int64]core.Time{}
	const schedule = "../reference/KTH-SP2-easy.swf.gz"
	published, err := swf.ReadFile(filepath.Join(testenv.Logs(t, schedule), schedule), swf.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range published.Records {
		want[r.Number] = r.Submit + r.Wait
	}
	w, err := workload.Selection{}.Select(log)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != len(want) {
		t.Errorf("%d jobs, published are %d", len(w.Jobs), len(want))
	}
	wrong := 0
	for i, o := range replay.Run(w.Workload, sched.EASY{}).Outcomes {
		at, ok := want[w.Jobs[i].Number]
		if ok && o.Start == at {
			continue
		}
		if wrong++; wrong < 10 {
			t.Errorf("job %d starts at %d, published %d", w.Jobs[i].Number, o.Start, at)
		}
	}
	if wrong > 0 {
		t.Errorf("%d starts are wrong", wrong)
	}
}

// generated returns the log of the benchmarks.
func generated(t testing.TB) workload.Workload {
	w, err := workload.Selection{}.Select(model.Generated(10_000, model.GeneratedSeed))
	if err != nil {
		t.Fatal(err)
	}
	return w.Workload
}

// hash returns the hash of the starts in the order of the log: FNV-1a with 64 bits at a time.
func hash(r replay.Result) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, o := range r.Outcomes {
		h = (h ^ uint64(o.Start)) * 0x100000001b3
	}
	return h
}

func meanWait(w workload.Workload, r replay.Result) float64 {
	var sum int64
	for i, o := range r.Outcomes {
		sum += o.Start - w.Jobs[i].Submit
	}
	return float64(sum) / float64(len(w.Jobs))
}

func TestGeneratedLogIsScheduledAsByOtherPrograms(t *testing.T) {
	w := generated(t)
	for _, c := range []struct {
		policy sched.Policy
		wait   string
		hash   uint64
	}{
		{sched.EASY{}, "51954.9093", 0x6072848513f715c6},
		{sched.Conservative{}, "57883.8187", 0x14a6e95b5990b682},
		{sched.Conservative{Algorithm: ep.Algorithm{Limit: ep.Twice, Compact: true}}, "57883.8187", 0x14a6e95b5990b682},
	} {
		r := replay.Run(w, c.policy)
		if wait := fmt.Sprintf("%.4f", meanWait(w, r)); wait != c.wait || hash(r) != c.hash {
			t.Errorf("%+v: mean wait %s, hash %016x; want %s, %016x", c.policy, wait, hash(r), c.wait, c.hash)
		}
	}
}
