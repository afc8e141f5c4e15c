package replay_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/queue"
	"accordion/traces/replay"
)

// logs is the directory of the real logs: ACCORDION_TRACES, else ../shared/traces beside the repository.
func logs() string {
	if dir := os.Getenv("ACCORDION_TRACES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "traces")
}

// fields reads the rows of a log.
func fields(t testing.TB, file string) [][]int64 {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		t.Skipf("%s is not here: set ACCORDION_TRACES to the directory of the logs", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]int64
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if strings.HasPrefix(strings.TrimSpace(lines.Text()), ";") {
			continue
		}
		var row []int64
		for _, f := range strings.Fields(lines.Text()) {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, int64(x))
		}
		if len(row) >= 9 {
			rows = append(rows, row)
		}
	}
	return rows
}

func workload(t testing.TB, file string, nodes int) replay.Workload {
	w := replay.Workload{Name: file, Machine: core.Machine{Nodes: nodes}}
	for _, r := range fields(t, filepath.Join(logs(), file)) {
		size := int(r[7])
		if size <= 0 {
			size = int(r[4])
		}
		if r[1] < 0 || r[3] <= 0 || size <= 0 || size > nodes || int(r[4]) > nodes || r[8] <= 0 {
			continue
		}
		w.Jobs = append(w.Jobs, replay.Job{Number: r[0], Submit: r[1], Run: min(r[3], r[8]), Request: r[8], Size: size, Cut: r[3] > r[8]})
	}
	return w
}

func meanWait(w replay.Workload, r replay.Result) float64 {
	var sum int64
	for i, o := range r.Outcomes {
		sum += o.Start - w.Jobs[i].Submit
	}
	return float64(sum) / float64(len(w.Jobs))
}

func TestEASYMeetsThePublishedScheduleStartByStart(t *testing.T) {
	want := map[int64]core.Time{}
	for _, r := range fields(t, filepath.Join(logs(), "..", "reference", "KTH-SP2-easy.swf.gz")) {
		want[r[0]] = r[1] + r[2]
	}
	w := workload(t, "KTH-SP2-1996-unfiltered.swf.gz", 100)
	got := replay.Run(w, queue.EASY{})
	if len(w.Jobs) != len(want) {
		t.Errorf("%d jobs, published are %d", len(w.Jobs), len(want))
	}
	wrong := 0
	for i, o := range got.Outcomes {
		if at, ok := want[w.Jobs[i].Number]; !ok || o.Start != at {
			if wrong++; wrong < 10 {
				t.Errorf("job %d starts at %d, published %d", w.Jobs[i].Number, o.Start, at)
			}
		}
	}
	if got := meanWait(w, got); got != 6836.872090165373 || wrong > 0 {
		t.Errorf("mean wait %v, want 6836.872090165373; %d starts are wrong", got, wrong)
	}
}

// generated is the log that the bounds name: 10,000 jobs on 1,024 nodes.
func generated() replay.Workload {
	state := uint64(42) // of splitmix64
	random := func(mod uint64) int64 {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int64((z ^ z>>31) % mod)
	}
	w := replay.Workload{Name: "generated", Machine: core.Machine{Nodes: 1024}}
	var at core.Time
	for i := range 10000 {
		at += random(7592)
		k := random(10)
		size := 1<<k + random(1<<k)
		request := 60 + random(86341)
		run := 1 + random(uint64(request))
		w.Jobs = append(w.Jobs, replay.Job{Number: int64(i + 1), Submit: at, Run: run, Request: request, Size: int(size)})
	}
	return w
}

// hash is FNV-1a, 64 bits at a time, of the starts in the order of the log.
func hash(r replay.Result) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, o := range r.Outcomes {
		h = (h ^ uint64(o.Start)) * 0x100000001b3
	}
	return h
}

func TestTheGeneratedLogIsScheduledAsByOtherPrograms(t *testing.T) {
	w := generated()
	for _, c := range []struct {
		policy queue.Policy
		wait   string
		hash   uint64
	}{
		{queue.EASY{}, "51954.9093", 0x6072848513f715c6},
		{queue.Conservative{}, "57883.8187", 0x14a6e95b5990b682},
	} {
		r := replay.Run(w, c.policy)
		if wait := fmt.Sprintf("%.4f", meanWait(w, r)); wait != c.wait || hash(r) != c.hash {
			t.Errorf("%T: mean wait %s, hash %016x; want %s, %016x", c.policy, wait, hash(r), c.wait, c.hash)
		}
	}
}
