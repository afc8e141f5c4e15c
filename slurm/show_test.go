package slurm

import (
	"strconv"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func shownJobs(t testing.TB, text string) map[core.JobID]shown {
	t.Helper()
	list, err := parseShown(text)
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[core.JobID]shown{}
	for _, j := range list {
		jobs[j.ID] = j
	}
	return jobs
}

func TestShownJobsAreReadAsSlurmPrintsThem(t *testing.T) {
	jobs := shownJobs(t, recorded(t, "show.txt"))
	if len(jobs) != 10 {
		t.Errorf("read %d jobs, want 10", len(jobs))
	}
	alice := adapter.Job{Name: "wrap", User: "alice", UID: 999, GID: 995, Partition: "main", QOS: "normal"}
	bob := adapter.Job{Name: "wrap", User: "bob", UID: 995, GID: 994, Partition: "main", QOS: "normal"}
	for id, want := range map[core.JobID]func(j *adapter.Job){
		13: func(j *adapter.Job) {
			*j = alice
			j.State, j.Why, j.Held, j.HeldByUser, j.Want, j.Tasks, j.CPUs, j.Limit = adapter.Pending, "JobHeldUser", true, true, 2, 6, 6, 120
		},
		15: func(j *adapter.Job) {
			*j = alice
			j.State, j.Why, j.Held, j.HeldByUser, j.Want, j.Tasks, j.CPUs, j.Limit = adapter.Pending, "JobHeldUser", true, true, 1, 1, 1, 600
			j.Unfit = unfitHet
		},
		19: func(j *adapter.Job) {
			*j = bob
			j.Name, j.State, j.Why, j.Want, j.Tasks, j.CPUs, j.Limit = "two words", adapter.Running, "None", 2, 2, 8, 300
			j.Priority, j.Comment = 4294901755, `a "b" c=d`
		},
		21: func(j *adapter.Job) {
			*j = alice
			j.State, j.Why, j.Want, j.Tasks, j.CPUs, j.Limit, j.Priority = adapter.Done, "COMPLETED", 1, 1, 4, 60, 4294901753
		},
		22: func(j *adapter.Job) {
			*j = alice
			j.State, j.Why, j.Held, j.HeldByUser, j.Want, j.Comment = adapter.Pending, "JobHeldUser", true, true, 2, "ep=2x1h,3x1h"
		},
		24: func(j *adapter.Job) {
			*j = bob
			j.State, j.Why, j.Blocked, j.Want, j.Tasks, j.CPUs, j.Limit = adapter.Pending, "Dependency", true, 1, 1, 1, 300
			j.Priority = 4294901752
		},
	} {
		var w adapter.Job
		want(&w)
		ignore := cmpopts.IgnoreFields(adapter.Job{}, "Key", "Nodes", "Started", "Begin", "Priority")
		if id == 22 {
			ignore = cmpopts.IgnoreFields(adapter.Job{}, "Key", "Limit", "Tasks", "CPUs")
		}
		if diff := cmp.Diff(w, jobs[id].Job, ignore); diff != "" {
			t.Errorf("job %d: %s", id, diff)
		}
	}
	if j := jobs[19]; len(j.Nodes) != 2 || j.batchHost != j.Nodes[0] || j.Started != j.Submitted {
		t.Errorf("job 19: %+v", j.record)
	}
	if j := jobs[18]; j.Begin <= j.Submitted || !j.Blocked {
		t.Errorf("job 18: %+v", j.record)
	}
	if j := jobs[20]; j.array != 20 || j.elements != "2-9%1" || j.Unfit != unfitArray || jobs[23].array != 20 || jobs[23].elements != "" {
		t.Errorf("the array: %+v; a task: %+v", j.record, jobs[23].record)
	}
	for id, j := range jobs {
		if j.marked() != (id == 22) || j.Mark != "" {
			t.Errorf("job %d looks marked: %v, and is %q", id, j.marked(), j.Mark)
		}
	}
}

// TestNoUserCanForgeAShownJob: whatever users write into what they may, a list is refused, or every job in it has its true
// fields; and one that looks as if it were there and is not is not among the known.
func TestNoUserCanForgeAShownJob(t *testing.T) {
	truth := recorded(t, "show.txt")
	want := shownJobs(t, truth)
	pieces := append([]string{"x", "\n", "JobId=4711", "\nJobId=22", "\nJobId=4711 ", " AdminComment=accordion:ep=9x9h", " Comment=", "  StdErr=", "root(0)", "RUNNING",
		"1", " Reservation=accordion-1-1", " BatchHost=n1", " ArrayJobId=7", " HetJobId=7", " HetJobIdSet=7", prompt}, keys...)
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		lie := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "lie"), "")
		if rapid.Bool().Draw(t, "a whole record") {
			lie += "\n" + strings.SplitN(truth, "\n", 2)[0] + lie
		}
		if rapid.Bool().Draw(t, "fields in their order") {
			first := rapid.SampledFrom([]int{place("UserId"), place("QOS"), place("Command")}).Draw(t, "first")
			for _, k := range keys[first:min(len(keys), first+rapid.IntRange(1, 5).Draw(t, "fields"))] {
				value := "1"
				switch k {
				case " UserId=", " GroupId=":
					value = "root(0)"
				case " JobState=":
					value = "COMPLETED"
				}
				lie += k + value
			}
		}
		at := rapid.SampledFrom([]string{"JobName=two words", "Account=(null)", "WorkDir=/home/bob", "Comment=a \"b\" c=d", "Network=(null)", "StdOut=/home/bob/slurm-19.out"}).Draw(t, "where")
		head, job, _ := strings.Cut(truth, "JobId=19 ")
		text := head + "JobId=19 " + strings.Replace(job, at, at+lie, 1)
		if strings.HasPrefix(at, "Account") { // the job's own
			one, rest, _ := strings.Cut(job, "\n")
			text = head + "JobId=19 " + strings.Replace(one, at, at+lie, 1) + "\n" + rest
		}
		jobs, err := parseShown(text)
		if err != nil {
			refused++
			return
		}
		for _, j := range jobs {
			w, known := want[j.ID]
			if !known {
				continue // a list with it is not believed: nobody vouches for it
			}
			if j.ID == 19 { // the owner's own words
				w.Name, w.Comment, w.account = j.Name, j.Comment, j.account
			}
			if diff := cmp.Diff(w.record, j.record, cmp.AllowUnexported(record{})); diff != "" {
				t.Fatalf("%q behind %s makes job %d another: %s", lie, at, j.ID, diff)
			}
			if j.marked() && j.ID != 22 && !strings.Contains(lie, "AdminComment") {
				t.Fatalf("job %d looks marked", j.ID)
			}
		}
	})
	if refused == 0 {
		t.Error("no list was refused")
	}
}

func TestAListOfAnotherReleaseIsAnErrorNotAShorterList(t *testing.T) {
	truth := recorded(t, "show.txt")
	for _, k := range keys {
		if _, err := parseShown(strings.Replace(truth, k, " Other=", 1)); err == nil {
			t.Errorf("without%s: no error", k)
		}
	}
	if _, err := parseShown(truth + truth); err == nil {
		t.Error("jobs that are there twice: no error")
	}
	if jobs, err := parseShown("No jobs in the system\n"); err != nil || len(jobs) != 0 {
		t.Errorf("no jobs: %v, %v", jobs, err)
	}
}

func FuzzParseShown(f *testing.F) {
	f.Add(recorded(f, "show.txt"))
	f.Add("No jobs in the system\n")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseShown(text)
		if err != nil {
			return
		}
		for _, j := range jobs {
			if j.ID < 0 || j.Want < 0 || !strings.Contains(text, "JobId=") {
				t.Errorf("job %+v", j.record)
			}
		}
	})
}

// BenchmarkParseShown reads the longest list that consoles are asked for.
func BenchmarkParseShown(b *testing.B) {
	one, _, _ := strings.Cut(recorded(b, "show.txt"), "\n")
	var text strings.Builder
	for i := range manyJobs {
		text.WriteString(strings.Replace(one, "JobId=13 ", "JobId="+strconv.Itoa(i+1)+" ", 1) + "\n")
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if jobs, err := parseShown(text.String()); err != nil || len(jobs) != manyJobs {
			b.Fatal(len(jobs), err)
		}
	}
}
