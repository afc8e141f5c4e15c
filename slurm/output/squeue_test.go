package output

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output/outputtest"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func recordedJobs(t testing.TB) map[core.JobID]Record {
	t.Helper()
	list, err := ParseSqueue(outputtest.Recorded(t, "squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[core.JobID]Record{}
	for _, r := range list {
		jobs[r.ID] = r
	}
	return jobs
}

func TestSqueueIsReadAsSlurmPrintsIt(t *testing.T) {
	jobs := recordedJobs(t)
	if len(jobs) != 13 {
		t.Errorf("read %d jobs, want 13", len(jobs))
	}
	for _, want := range []adapter.Job{
		{
			Key: adapter.Key{ID: 46, Submitted: 1795291998}, Name: "na|me x=y", User: "ana", UID: 1001, GID: 1001,
			Partition: "main", QOS: "normal", State: adapter.Running, Why: "None", Nodes: []string{"n1", "n2"}, Want: 2,
			Tasks: 2, CPUs: 8, Limit: 300, Started: 1795292000, Priority: 4294901734,
			Comment: "ep=2x1m,5x1m a|b c=d\n99|RUNNING",
		},
		{
			Key: adapter.Key{ID: 48, Submitted: 1795291998}, Name: "wrap", User: "ana", UID: 1001, GID: 1001,
			Partition: "main", QOS: "normal", State: adapter.Pending, Why: "JobHeldAdmin", Held: true, Want: 3, Tasks: 6,
			CPUs: 6, Limit: core.Forever, Comment: "mold=4x2h|8x70m", Mark: "accordion:mold=4x2h|8x70m",
		},
		{
			Key: adapter.Key{ID: 49, Submitted: 1795291998}, Name: "wrap", User: "ana", UID: 1001, GID: 1001,
			Partition: "main", QOS: "normal", State: adapter.Pending, Why: "BeginTime", Blocked: true, Want: 8, Tasks: 8,
			CPUs: 8, Limit: 93840, Begin: 1795295598, Priority: 4294901732,
		},
		{
			Key: adapter.Key{ID: 58, Submitted: 1795292002}, Name: "accordion-grow-46", User: "ana", UID: 1001, GID: 1001,
			Partition: "main", QOS: "normal", State: adapter.Running, Why: "None", Nodes: []string{"n6"}, Want: 1, Tasks: 1,
			CPUs: 4, Limit: 240, Started: 1795292002, Priority: 4294901726, Reservation: "accordion-grow-46", Expands: 46,
		},
	} {
		if diff := gocmp.Diff(want, jobs[want.ID].Job); diff != "" {
			t.Errorf("job %d (-want +read):\n%s", want.ID, diff)
		}
	}
	if j := jobs[46]; j.BatchHost != "n1" || j.MaxNodes != 2 {
		t.Errorf("job 46: batch host %q, at most %d nodes", j.BatchHost, j.MaxNodes)
	}
	if j := jobs[50]; j.Array != 50 || j.Elements != "7-40:3%2" || !j.Several() {
		t.Errorf("array 50: read as array %d of %q", j.Array, j.Elements)
	}
	if j := jobs[55]; !j.Held || !j.HeldByUser || j.Blocked {
		t.Errorf("job 55 is held by its owner; read as held %v by user %v blocked %v", j.Held, j.HeldByUser, j.Blocked)
	}
	if jobs[54].Unfit == "" || jobs[46].Unfit != "" {
		t.Error("a heterogeneous job's part is unfit to grow, an ordinary job is not")
	}
	if j := jobs[52]; j.Blocked {
		t.Errorf("job 52 waits for nodes, yet counts as blocked (%s)", j.Why)
	}
	if j := jobs[51]; !j.Blocked {
		t.Error("job 51 depends on another and counts as free to start")
	}
}

// Whatever texts the owner of a job writes, the list has the same jobs. Only those texts differ.
func TestAUserCannotForgeAJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\n", "(null)", "|", "accordion:ep=9x9h", "ep=1x1h AdminComment=accordion:ep=9x9h",
			"a\n99|99|N/A|N/A|1|RUNNING|root|0|0|main|normal|8|8|8|8|UNLIMITED|0|0|0|1|0|(null)|(null)|n1|n[1-8]|1|0|NO|cpu=8|None",
		}))
		p := outputtest.Printed{ID: 7, Submitted: 1, User: "ana", UID: 1001, State: "PENDING"}
		for _, text := range []*string{&p.Name, &p.Comment, &p.Account, &p.Host} {
			*text = free.Draw(t, "text")
		}
		const word = "W0RDTHATNOBODYGUESSES"
		last := outputtest.Printed{ID: 8, Submitted: 1, User: "ben", UID: 1002, State: "PENDING"}
		list, err := ParseSqueue(p.Row(word)+last.Row(word), word)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].ID != 7 || list[1].ID != 8 || list[1].User != "ben" {
			t.Fatalf("read %d jobs", len(list))
		}
		if r := list[0]; r.Mark != "" || r.User != "ana" || r.Comment != Comment(p.Comment) || r.Name != Text(p.Name) || r.Account != Text(p.Account) {
			t.Fatalf("read %+v", r)
		}
	})
}

func TestADamagedListIsAnErrorNotAShorterList(t *testing.T) {
	whole := outputtest.Recorded(t, "squeue.txt")
	for cut := 1; cut < len(whole); cut += 7 {
		list, err := ParseSqueue(whole[:cut], "WORD")
		if err == nil && !strings.HasSuffix(whole[:cut], "WORD\n") {
			t.Fatalf("cut at byte %d: read %d jobs without an error", cut, len(list))
		}
	}
	for _, bad := range []string{
		"x", "slurm_load_jobs error", "1|2" + strings.Repeat("WORD", 10) + "\n",
		strings.Replace(whole, "49|49", "-49|49", 1), strings.Replace(whole, "|1795291998|", "|yesterday|", 1),
	} {
		if _, err := ParseSqueue(bad, "WORD"); err == nil {
			t.Errorf("no error for %.60q", bad)
		}
	}
}

// A field that cannot be parsed affects neither other jobs nor other fields.
func TestAFieldThatCannotBeParsedAffectsItsJobOnly(t *testing.T) {
	one, two := outputtest.Printed{ID: 7, Submitted: 5, User: "ana", UID: 1001, State: "RUNNING", Nodes: "n1"}, outputtest.Printed{ID: 8, Submitted: 5, User: "ben", UID: 1002, State: "PENDING"}
	for _, c := range []struct {
		was, is   string
		remarked  bool
		unlimited bool
	}{
		{"|1|1|1|4|", "|1|1|4294967295|4|", false, false},
		{"|1|1|1|4|", "|1|1|4294967294|4294967295|", false, false},
		{"|1|1|1|4|", "|1,3-5|1|1|4|", false, false},
		{"|1|1|1|4|", "|1|1|many|4|", true, false},
		{"|10:00|", "|soon|", true, true},
		{"|n1|n1|", "|n1|n[1-|", true, false},
		{"|0|NO|", "|lots|NO|", true, false},
	} {
		for _, word := range []string{"", "COMPLETED"} {
			list, err := ParseSqueue(strings.Replace(strings.Replace(one.Row("WORD"), c.was, c.is, 1), "RUNNING", cmp.Or(word, "RUNNING"), 1)+two.Row("WORD"), "WORD")
			if err != nil || len(list) != 2 || list[1].Unreadable != "" || list[1].Limit != 600 {
				t.Fatalf("%s for %s: %v, %v", c.is, c.was, list, err)
			}
			if r := list[0]; r.User != "ana" || (r.Unreadable != "") != c.remarked || (r.Limit == core.Forever) != c.unlimited || (r.State == adapter.Done) != (word != "") {
				t.Errorf("%s for %s: %+v", c.is, c.was, r)
			}
		}
	}
}

func FuzzSqueue(f *testing.F) {
	f.Add(outputtest.Recorded(f, "squeue.txt"))
	f.Add("WORDWORDWORDWORD\n")
	f.Fuzz(func(t *testing.T, out string) {
		jobs, err := ParseSqueue(out, "WORD")
		if err != nil {
			return
		}
		for _, r := range jobs {
			if r.ID < 0 || r.Want < 0 || r.Limit < 0 || r.State == adapter.Pending && r.Nodes != nil {
				t.Errorf("nonsense was read: %+v", r)
			}
		}
		ranked(jobs)
	})
}

// BenchmarkParseSqueue parses a list of many jobs.
func BenchmarkParseSqueue(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		var list strings.Builder
		for i := range n {
			p := outputtest.Printed{ID: 100 + i, Submitted: 1795000000, User: fmt.Sprint("user", i%40), UID: 1000 + i%40, Priority: 4294900000 - i, State: "PENDING",
				Words: outputtest.Words{Name: "solver-run", Host: "login1", Account: "acct", Comment: "ep=4x1h,8x2h and a remark"}}
			list.WriteString(p.Row("xABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if jobs, err := ParseSqueue(list.String(), "xABCDEFGHIJKLMNOPQRSTUVWXYZ"); err != nil || len(jobs) != n {
					b.Fatal(len(jobs), err)
				}
			}
		})
	}
}
