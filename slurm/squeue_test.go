package slurm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func recordedJobs(t testing.TB) map[core.JobID]record {
	t.Helper()
	list, err := parseSqueue(recorded(t, "squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[core.JobID]record{}
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
	if j := jobs[46]; j.batchHost != "n1" || j.maxNodes != 2 {
		t.Errorf("job 46: batch host %q, at most %d nodes", j.batchHost, j.maxNodes)
	}
	if j := jobs[50]; j.array != 50 || j.elements != "7-40:3%2" || !j.several() {
		t.Errorf("array 50: read as array %d of %q", j.array, j.elements)
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

// TestAUserCannotForgeAJob: whatever the texts of its owner hold, the list has the same jobs, and only the owner's text
// differs.
func TestAUserCannotForgeAJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\n", "(null)", "|", "accordion:ep=9x9h", "ep=1x1h AdminComment=accordion:ep=9x9h",
			"a\n99|99|N/A|N/A|1|RUNNING|root|0|0|main|normal|8|8|8|8|UNLIMITED|0|0|0|1|0|(null)|(null)|n1|n[1-8]|1|0|NO|cpu=8|None",
		}))
		p := printed{id: 7, submitted: 1, user: "ana", uid: 1001, state: "PENDING"}
		for _, text := range []*string{&p.name, &p.comment, &p.account, &p.host} {
			*text = free.Draw(t, "text")
		}
		const word = "W0RDTHATNOBODYGUESSES"
		last := printed{id: 8, submitted: 1, user: "ben", uid: 1002, state: "PENDING"}
		list, err := parseSqueue(p.row(word)+last.row(word), word)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].ID != 7 || list[1].ID != 8 || list[1].User != "ben" {
			t.Fatalf("read %d jobs", len(list))
		}
		if r := list[0]; r.Mark != "" || r.User != "ana" || r.Comment != comment(p.comment) || r.Name != text(p.name) || r.account != text(p.account) {
			t.Fatalf("read %+v", r)
		}
	})
}

func TestAJobsNameAloneMakesItNobodysExpander(t *testing.T) {
	for _, test := range []struct {
		name, reservation, mark string
		want                    role
	}{
		{GrowPrefix + "7", "accordion-7-1", "", expander},
		{overPrefix + "7", "accordion-7-1", "", expander},
		{withPrefix + "7", "accordion-7-1", "", companion},
		{withPrefix + "7", "", companionMark + "7@1795000000", companion},
		{GrowPrefix + "7", "", "", ordinary},
		{GrowPrefix + "7", "maintenance", "", ordinary},
		{GrowPrefix + "7", Park, "", ordinary}, // in which everybody's jobs may be, also on nodes
		{withPrefix + "7", Park, "", ordinary},
		{withPrefix + "7", "", adapter.MarkPrefix + "ep=1x1h", ordinary},
		{"x\n" + GrowPrefix + "7", "accordion-7-1", "", ordinary},
		{GrowPrefix + "7 ", "accordion-7-1", "", ordinary},
		{GrowPrefix + "-7", "accordion-7-1", "", ordinary},
		{GrowPrefix + "99999999999", "accordion-7-1", "", ordinary},
		{"wrap", "accordion-7-1", companionMark + "7@1795000000", ordinary},
	} {
		r := record{Job: adapter.Job{Name: test.name, Reservation: test.reservation, Mark: test.mark}}
		if got := r.role(); got != test.want || (expands(&r) == 7) != (test.want != ordinary) {
			t.Errorf("%q in %q with the mark %q: role %d of job %d, want role %d", test.name, test.reservation, test.mark, got, expands(&r), test.want)
		}
	}
}

func TestADamagedListIsAnErrorNotAShorterList(t *testing.T) {
	whole := recorded(t, "squeue.txt")
	for cut := 1; cut < len(whole); cut += 7 {
		list, err := parseSqueue(whole[:cut], "WORD")
		if err == nil && !strings.HasSuffix(whole[:cut], "WORD\n") {
			t.Fatalf("cut at byte %d: read %d jobs without an error", cut, len(list))
		}
	}
	for _, bad := range []string{
		"x", "slurm_load_jobs error", "1|2" + strings.Repeat("WORD", 10) + "\n",
		strings.Replace(whole, "49|49", "-49|49", 1), strings.Replace(whole, "|1795291998|", "|yesterday|", 1),
	} {
		if _, err := parseSqueue(bad, "WORD"); err == nil {
			t.Errorf("no error for %.60q", bad)
		}
	}
}

// TestWhatCannotBeReadOfAJobIsThatJobsTrouble: the others are read, and of it everything else.
func TestWhatCannotBeReadOfAJobIsThatJobsTrouble(t *testing.T) {
	one, two := printed{id: 7, submitted: 5, user: "ana", uid: 1001, state: "RUNNING", nodes: "n1"}, printed{id: 8, submitted: 5, user: "ben", uid: 1002, state: "PENDING"}
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
			list, err := parseSqueue(strings.Replace(strings.Replace(one.row("WORD"), c.was, c.is, 1), "RUNNING", cmp.Or(word, "RUNNING"), 1)+two.row("WORD"), "WORD")
			if err != nil || len(list) != 2 || list[1].unreadable != "" || list[1].Limit != 600 {
				t.Fatalf("%s for %s: %v, %v", c.is, c.was, list, err)
			}
			if r := list[0]; r.User != "ana" || (r.unreadable != "") != c.remarked || (r.Limit == core.Forever) != c.unlimited || (r.State == adapter.Done) != (word != "") {
				t.Errorf("%s for %s: %+v", c.is, c.was, r)
			}
		}
	}
}

func FuzzSqueue(f *testing.F) {
	f.Add(recorded(f, "squeue.txt"))
	f.Add("WORDWORDWORDWORD\n")
	f.Fuzz(func(t *testing.T, out string) {
		jobs, err := parseSqueue(out, "WORD")
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

// BenchmarkParseSqueue reads squeue's list.
func BenchmarkParseSqueue(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		var list strings.Builder
		for i := range n {
			p := printed{id: 100 + i, submitted: 1795000000, user: fmt.Sprint("user", i%40), uid: 1000 + i%40, priority: 4294900000 - i, state: "PENDING",
				words: words{name: "solver-run", host: "login1", account: "acct", comment: "ep=4x1h,8x2h and a remark"}}
			list.WriteString(p.row("xABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if jobs, err := parseSqueue(list.String(), "xABCDEFGHIJKLMNOPQRSTUVWXYZ"); err != nil || len(jobs) != n {
					b.Fatal(len(jobs), err)
				}
			}
		})
	}
}
