package sacct

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/slurm/output"

	"github.com/google/go-cmp/cmp"
)

// formatJobs formats jobs as in "7@100 mesh COMPLETED: 100-120 [n1 n2], 120-140 [n1 n2 n3]".
func formatJobs(jobs []Job) string {
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "%d@%d %s %s:", j.ID, j.Submitted, j.Name, j.State)
		if j.Expands != 0 {
			fmt.Fprintf(&b, " expands %d:", j.Expands)
		}
		for _, h := range j.Holds {
			fmt.Fprintf(&b, " %d-%d %v", h.From, h.To, h.Nodes)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTheSizesOfAJobAreItsRows(t *testing.T) {
	rows := `7|90|100|120|RESIZING|ada|n[1-2]|mesh
8|118|119|120|COMPLETED|ada|n[3-5]|` + output.GrowPrefix + `7
7|120|120|140|RESIZING|ada|n[1-5]|mesh
7|140|140|160|COMPLETED|ada|n[1-3]|mesh
9|95|Unknown|Unknown|PENDING|bob|None assigned|later
10|95|130|Unknown|RUNNING|bob|n7|now
11|95|150|155|CANCELLED by 0|bob|n8|odd|name
`
	got, err := Read(strings.NewReader(rows), 170)
	if err != nil {
		t.Fatal(err)
	}
	want := `7@90 mesh COMPLETED: 100-120 [n1 n2] 120-140 [n1 n2 n3 n4 n5] 140-160 [n1 n2 n3]
8@118 accordion-grow-7 COMPLETED: expands 7: 119-120 [n3 n4 n5]
9@95 later PENDING:
10@95 now RUNNING: 130-170 [n7]
11@95 odd|name CANCELLED: 150-155 [n8]
`
	want = strings.ReplaceAll(want, "accordion-grow-", output.GrowPrefix)
	if diff := cmp.Diff(want, formatJobs(got)); diff != "" {
		t.Errorf("jobs differ (-want +got):\n%s", diff)
	}
}

func TestASizeThatTookTwoMergesIsOneHoldAndACompanionStays(t *testing.T) {
	rows := `7|90|100|120|RESIZING|ada|n[1-2]|mesh
8|119|119|120|COMPLETED|ada|n3|accordion-grow-7
9|119|119|120|RESIZING|ada|n[1-3]|accordion-over-7
7|120|120|120|RESIZING|ada|n[1-3]|mesh
7|120|120|121|RESIZING|ada|n[1-3]|mesh
7|121|121|160|COMPLETED|ada|n[1-3]|mesh
10|130|130|150|COMPLETED|ada|n4|accordion-with-7
`
	got, err := Read(strings.NewReader(rows), 170)
	if err != nil {
		t.Fatal(err)
	}
	want := `7@90 mesh COMPLETED: 100-120 [n1 n2] 120-160 [n1 n2 n3]
8@119 accordion-grow-7 COMPLETED: expands 7: 119-120 [n3]
9@119 accordion-over-7 RESIZING: expands 7: 119-120 [n1 n2 n3]
10@130 accordion-with-7 COMPLETED: expands 7: 130-150 [n4]
`
	if diff := cmp.Diff(want, formatJobs(got)); diff != "" {
		t.Errorf("jobs differ (-want +got):\n%s", diff)
	}
	for _, j := range got {
		if merged := j.ID == 8 || j.ID == 9; j.Merged() != merged || j.Stays != (j.ID == 10) {
			t.Errorf("job %d: merged %v, stays %v", j.ID, j.Merged(), j.Stays)
		}
	}
}

func TestOnlyAnExpanderThatCompletedIsMerged(t *testing.T) {
	grow := output.GrowPrefix + "7"
	for _, c := range []struct {
		state, name string
		merged      bool
	}{
		{"RESIZING", grow, true},
		{"COMPLETED", grow, true},
		{"CANCELLED by 0", grow, false},
		{"NODE_FAIL", grow, false},
		{"COMPLETED", "mesh", false},
		{"COMPLETED", output.GrowPrefix + "x", false},
	} {
		got, err := Read(strings.NewReader(fmt.Sprintf("8|118|119|120|%s|ada|n3|%s\n", c.state, c.name)), 200)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Merged() != c.merged {
			t.Errorf("%s, %s: merged is %v", c.name, c.state, !c.merged)
		}
	}
}

func TestAnOldJobOfTheSameIdIsAnotherJob(t *testing.T) {
	rows := "7|10|20|30|FAILED|bob|n1|old\n7|90|100|120|RESIZING|ada|n1|new\n7|120|120|160|COMPLETED|ada|n[1-2]|new\n"
	got, err := Read(strings.NewReader(rows), 200)
	if err != nil {
		t.Fatal(err)
	}
	want := "7@10 old FAILED: 20-30 [n1]\n7@90 new COMPLETED: 100-120 [n1] 120-160 [n1 n2]\n"
	if diff := cmp.Diff(want, formatJobs(got)); diff != "" {
		t.Errorf("jobs differ (-want +got):\n%s", diff)
	}
}

func TestWrongRowsAreRefusedWithTheirLine(t *testing.T) {
	for _, text := range []string{"7|90|100\n", "x|1|2|3|COMPLETED|a|n1|b\n", "7|soon|2|3|COMPLETED|a|n1|b\n", "7|1|2|3|COMPLETED|a|n[1|b\n"} {
		_, err := Read(strings.NewReader("\n"+text), 0)
		if err == nil || !strings.Contains(err.Error(), "sacct:2: ") {
			t.Errorf("%q: error %v does not name line 2", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("7|90|100|120|RESIZING|ada|n[1-2]|mesh\n7|120|120|Unknown|RUNNING|ada|n[1-5]|mesh\n")
	f.Add("7|90|Unknown|Unknown|PENDING|ada|None assigned|a|b\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		jobs, unread, err := ReadHolds(strings.NewReader(text), "a.txt", time.Local, 1000)
		if err != nil {
			return
		}
		if strict, err := Read(strings.NewReader(text), 1000); (err == nil) != (unread.Lines.Count == 0) && unread.Doubled.Count == 0 || err == nil && len(strict) != len(jobs) {
			t.Errorf("strictly %d jobs, %v; %d jobs, %v", len(strict), err, len(jobs), unread.Warnings())
		}
		for _, j := range jobs {
			for _, h := range j.Holds {
				if h.From >= h.To || len(h.Nodes) == 0 || h.From <= 0 || h.To > core.Forever {
					t.Errorf("job %d holds %v", j.ID, h)
				}
			}
		}
	})
}
