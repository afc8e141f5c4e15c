package delegated_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"accordion/core"
	coredelegated "accordion/core/delegated"
	"accordion/internal/testenv"
	"accordion/traces/paper/delegated"
	"accordion/traces/swf"
)

// spoken returns a checksum of all messages of a run, and the number of messages.
func spoken(t *testing.T, s delegated.Setup, jobs []delegated.Job) (sum uint64, messages int) {
	t.Helper()
	number := func(x int64) { sum = (sum ^ uint64(x)) * 0x9e3779b97f4a7c15; sum ^= sum >> 29 }
	s.Told = func(now core.Time, m coredelegated.Message) {
		messages++
		number(now)
		number(int64(m.To)<<8 | int64(m.Kind))
		number(m.Estimate)
		for _, p := range m.Request.Parts {
			number(int64(p.Cluster)<<32 | int64(p.Hosts))
		}
		for _, c := range m.Changes {
			number(int64(c.Cluster)<<32 | int64(c.Hosts))
			number(int64(c.Head)<<32 | int64(c.Tail))
			for _, p := range c.Points {
				number(p.At)
				number(int64(p.Used))
			}
		}
	}
	if _, err := s.Run(jobs); err != nil {
		t.Fatal(err)
	}
	return sum, messages
}

func usable(t testing.TB) []swf.Record {
	t.Helper()
	const atlas = "LLNL-Atlas-2006-2.1-cln.swf.gz"
	log, err := swf.ReadFile(filepath.Join(testenv.Logs(t, atlas), atlas), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return delegated.Usable(log)
}

// workloads returns the workloads of the figures.
func workloads() map[string]delegated.Workload {
	all := map[string]delegated.Workload{"W1": {Moldable: 20, At: 40}}
	for share := 0; share <= 100; share += 20 {
		all[fmt.Sprintf("W0 with %d %% moldable", share)] = delegated.Workload{Moldable: share}
	}
	for _, cem := range []int{20, 50, 80, 100} {
		all[fmt.Sprintf("W2 with %d %% cem", cem)] = delegated.Workload{Moldable: 20, CEM: cem}
	}
	return all
}

// With long set, TestBothBoardsSayTheSameInAllWorkloads tries each number of clusters and fair-start delay of the figures.
var long = flag.Bool("accordion.long", false, "run the workloads of all points of the figures on both boards")

func TestBothBoardsSayTheSameInAllWorkloads(t *testing.T) {
	records := usable(t)
	all := workloads()
	all["Figure 10"] = delegated.Workload{Moldable: 20, At: 90, From: 4000, Delay: 10}
	for name, w := range all {
		w.Seed, w.Model = 1, delegated.Standard
		jobs, err := w.Jobs(records)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range boardSetups(name) {
			indexed, messages := spoken(t, s, jobs)
			s.Plain = true
			if linear, _ := spoken(t, s, jobs); linear != indexed || messages < 400 {
				t.Errorf("%s, %+v: the boards' messages differ, of %d", name, s, messages)
			}
		}
	}
}

// boardSetups returns the setups on which a workload's messages are compared.
func boardSetups(name string) []delegated.Setup {
	on := func(clusters int, fair core.Time) delegated.Setup {
		return delegated.Setup{Clusters: clusters, FairStart: fair, Timer: 1}
	}
	if !*long {
		if name == "W2 with 20 % cem" {
			return []delegated.Setup{on(1, 5), on(4, 5)}
		}
		return []delegated.Setup{on(1, 5)}
	}
	var all []delegated.Setup
	for clusters := 1; clusters <= delegated.MaxClusters; clusters++ {
		all = append(all, on(clusters, 5))
	}
	for fair := core.Time(0); fair <= 30; fair += 5 {
		all = append(all, on(4, fair))
	}
	return all
}

// In all variants of a workload a job has the same factor, the same row of Table 1 and the same run time.
func TestVariantsOfAWorkloadDifferOnlyInWhatVaries(t *testing.T) {
	records := usable(t)
	draw := func(w delegated.Workload) []delegated.Job {
		w.Seed, w.Model = 7, delegated.Standard
		jobs, err := w.Jobs(records)
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	few, many, cem, one := draw(delegated.Workload{Moldable: 20}), draw(delegated.Workload{Moldable: 60}), draw(delegated.Workload{Moldable: 20, CEM: 20}), draw(delegated.Workload{Moldable: 20, At: 40})
	counts := map[delegated.Kind]int{}
	for i := range few {
		if few[i].Factor != many[i].Factor || few[i].Factor != cem[i].Factor {
			t.Fatalf("job %d has another factor", i)
		}
		if few[i].Kind == delegated.Moldable && few[i] != many[i] {
			t.Errorf("job %d is moldable of 20 %%, and another one of 60 %%", i)
		}
		if cem[i].Kind != delegated.CEM && cem[i] != few[i] {
			t.Errorf("job %d is another one though no cem application replaces it", i)
		}
		counts[cem[i].Kind]++
	}
	if one[39].Kind != delegated.CEM || one[40].D1 != few[39].D1 || one[40].Factor != few[39].Factor || one[40].Arrive != 40 || len(one) != 201 {
		t.Errorf("W1: %+v, %+v", one[39], one[40])
	}
	if counts[delegated.CEM] < 20 || counts[delegated.CEM] > 65 || counts[delegated.Moldable] < 10 || counts[delegated.Moldable] > 60 {
		t.Errorf("kinds: %v", counts)
	}
	if n := (delegated.Workload{}).TooLarge(records); n != 106 {
		t.Errorf("%d of the first jobs are larger than a cluster, published are 106", n)
	}
}

// Messages with only the differences may have at most 65 % of the size of messages with whole views. An
// independent program found 58 % and 55 %.
func TestMessagesThatSayOnlyWhatDiffersAreShorter(t *testing.T) {
	records := usable(t)
	for _, c := range []struct{ moldable, clusters int }{{60, 1}, {20, 4}} {
		jobs, err := delegated.Workload{Seed: 1, Moldable: c.moldable, Model: delegated.Standard}.Jobs(records)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delegated.Setup{Clusters: c.clusters, FairStart: 5, Timer: 1}.Run(jobs)
		if share := float64(got.BytesDifference) / float64(got.BytesChange); err != nil || share > 0.65 || share < 0.3 {
			t.Errorf("%d %% moldable, %d clusters: differences are %.2f of the bytes; %v", c.moldable, c.clusters, share, err)
		}
	}
}
