package sacct

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core"
)

// releases lists the folders of testdata that are named after releases. Each has the output of that release's sacct
// (Format and Command) for the same jobs. Some of the jobs grow or shrink, one is cancelled, and one starts on n4
// and n5 as soon as another job releases these nodes.
var releases = []string{"20.11", "22.05", "24.11", "26.05"}

func TestOfEveryReleaseTheSizesOfAJobFollowEachOther(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			file, err := os.Open(filepath.Join("testdata", release, "holds.txt"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			jobs, err := Read(file, 4000000000)
			if err != nil {
				t.Fatal(err)
			}
			grows := slices.IndexFunc(jobs, func(j Job) bool { return j.Name == "grows" })
			if grows < 0 {
				t.Fatal("no job grows")
			}
			var nodes []string
			for i, h := range jobs[grows].Holds {
				nodes = append(nodes, strings.Join(h.Nodes, " "))
				if i > 0 && h.From != jobs[grows].Holds[i-1].To {
					t.Errorf("size %d is held from %d, the one before until %d", i+1, h.From, jobs[grows].Holds[i-1].To)
				}
				if seconds := h.To - h.From; seconds < 2 || seconds > 6 {
					t.Errorf("size %d is held for %d s", i+1, seconds)
				}
			}
			if got := strings.Join(nodes, ", "); got != "n1, n1 n5, n1 n4 n5, n1" || jobs[grows].State != "COMPLETED" {
				t.Errorf("it held %s and is %s", got, jobs[grows].State)
			}
			merged := 0
			for _, j := range jobs {
				if j.Merged() && j.Expands == jobs[grows].ID {
					merged++
				}
			}
			if merged != 2 {
				t.Errorf("%d expanders were merged into it, want 2", merged)
			}
			for _, two := range doublyHeld(jobs) {
				t.Error(two)
			}
		})
	}
}

// doublyHeld returns the nodes that two jobs held at the same time. An expander's nodes count as its parent's.
func doublyHeld(jobs []Job) []string {
	type hold struct {
		job      core.JobID
		from, to core.Time
	}
	held := map[string][]hold{}
	var found []string
	for _, j := range jobs {
		owner := j.ID
		if j.Expands != 0 {
			owner = j.Expands
		}
		for _, h := range j.Holds {
			for _, n := range h.Nodes {
				for _, other := range held[n] {
					if other.job != owner && h.From < other.to && other.from < h.To {
						found = append(found, fmt.Sprintf("%s: jobs %d and %d at %d", n, owner, other.job, max(h.From, other.from)))
					}
				}
				held[n] = append(held[n], hold{owner, h.From, h.To})
			}
		}
	}
	return found
}

func TestOfEveryReleaseTheAccountingIsTheSameWorkload(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			file, err := os.Open(filepath.Join("testdata", release, "workload.txt"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			log, left, err := Workload(file, "a.txt", time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			if left.Unfinished != 0 || left.Broken != 0 || left.Expanders < 2 {
				t.Errorf("left out: %s", left)
			}
			if len(log.Records) != 4 {
				t.Fatalf("%d jobs, want 4", len(log.Records))
			}
			grows := log.Records[0]
			ep := log.EPs[grows.Number]
			var sizes []int
			for _, s := range ep {
				sizes = append(sizes, s.Nodes)
				if s.Duration < 2 || s.Duration > 6 {
					t.Errorf("its profile is %s", ep)
				}
			}
			if !slices.Equal(sizes, []int{4, 8, 12, 4}) || ep.Total() != grows.Run || grows.Wait < 0 || grows.Wait > 2 {
				t.Errorf("its profile is %s, and it ran %d s after %d s", ep, grows.Run, grows.Wait)
			}
			for _, r := range log.Records[1:] {
				if log.EPs[r.Number] != nil || r.Run > 4 {
					t.Errorf("job %d ran %d s with %s", r.Number, r.Run, log.EPs[r.Number])
				}
			}
		})
	}
}

// The text is the output of 26.05's sacct for a job with 2 CPUs on each node. The job grew by overlap from 2 nodes
// to 5, and shrank to 3.
func TestAFirstSizeThatTheJobNeverHadIsCorrected(t *testing.T) {
	log, left, err := Workload(strings.NewReader(`NNodes|JobIDRaw|Submit|Start|End|State|ReqCPUS|AllocCPUS|TimelimitRaw|TotalCPU|User|Account|QOS|Partition|JobName
2|4|1795404298|1795404304|1795404322|RESIZING|4|6|3|00:00:00|alice|phys|normal|main|sbatch
5|4|1795404322|1795404322|1795404323|RESIZING|10|10|3|00:00:00|alice|phys|normal|main|sbatch
5|4|1795404323|1795404323|1795404341|RESIZING|10|10|3|00:00:00|alice|phys|normal|main|sbatch
3|4|1795404341|1795404341|1795404359|COMPLETED|10|6|3|00:00:00|alice|phys|normal|main|sbatch
`), "a.txt", time.UTC)
	if err != nil || left.String() != "" {
		t.Fatalf("%v, left out: %s", err, left)
	}
	if got, want := log.EPs[log.Records[0].Number], (core.EP{{Duration: 18, Nodes: 4}, {Duration: 19, Nodes: 10}, {Duration: 18, Nodes: 6}}); !slices.Equal(got, want) {
		t.Errorf("it held %v processors, want %v", got, want)
	}
}
