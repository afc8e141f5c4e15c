package status_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

var rewrite = flag.Bool("accordion.write", false, "write the golden texts anew; read them before you commit them")

// second returns the Unix second of a time on the day of the tests.
func second(clock string) core.Time { return at("2026-03-01 " + clock) }

// queue returns the queue of a pool of 16 nodes at noon. One node is away, jobs hold 11 nodes, and four nodes are free.
func queue() view.Queue {
	return view.Queue{
		At: second("12:00:00"), Cluster: "lab", Nodes: 16, Away: 1, Lead: 4,
		Closures: []view.Closure{{Name: "maint", Nodes: 12, Start: second("18:00:00"), End: second("19:00:00")}},
		Jobs: []view.Entry{
			{ID: 9, Submitted: second("10:00:00"), User: "ann", Name: "cfd", Kind: "evolving", Phase: "growing", Request: "ep=3x2h,5x30m,2x30m",
				Nodes: "n[1-3]", Size: 3, Start: second("10:01:00"), End: second("13:01:00"), Free: second("13:01:00"), Step: 1,
				Plan: core.EP{{Duration: 7200, Nodes: 3}, {Duration: 1800, Nodes: 5}, {Duration: 1800, Nodes: 2}}, Why: "nodes of ordinary job 5"},
			{ID: 5, Submitted: second("10:05:00"), User: "bob", Name: "big", Kind: "ordinary", Phase: "running",
				Nodes: "n[6-12]", Size: 7, Start: second("10:40:00"), End: second("12:40:00"), Free: second("12:41:05")},
			{ID: 6, Submitted: second("10:06:00"), User: "bob", Name: "over", Kind: "ordinary", Phase: "running",
				Nodes: "n13", Size: 1, Start: second("11:00:00"), End: second("11:58:00"), Free: second("11:59:05")},
			{ID: 11, Submitted: second("11:00:00"), User: "carl", Name: "wide", Kind: "ordinary", Phase: "waiting", Rank: 1, Size: 10,
				Start: second("12:41:05"), End: second("13:41:05"), Free: second("13:42:55"), Why: "Resources"},
			{ID: 17, Submitted: second("11:02:10"), User: "ann", Name: "evil\x1b[2Jname", Kind: "evolving", Phase: "waiting", Rank: 2,
				Request: "ep=6x500s,10x1h", Size: 6, Start: second("13:42:55"), End: second("14:51:15"), Free: second("14:51:15"),
				Plan: core.EP{{Duration: 500, Nodes: 6}, {Duration: 3600, Nodes: 10}}, Why: "nodes"},
			{ID: 18, Submitted: second("11:03:00"), User: "dora", Name: "long", Kind: "moldable", Phase: "waiting", Rank: 3,
				Request: "mold=2x20h|4x11h", Size: 4, Start: second("19:00:00"), End: second("19:00:00") + 11*3600, Free: second("19:00:00") + 11*3600,
				Plan: core.EP{{Duration: 11 * 3600, Nodes: 4}}, Why: "nodes"},
			{ID: 19, Submitted: second("11:04:00"), User: "dora", Name: "small", Kind: "ordinary", Phase: "waiting", Rank: 4, Size: 2,
				Start: second("12:00:00"), End: second("12:10:00"), Free: second("12:11:50"), Why: "Priority"},
			{ID: 20, Submitted: second("11:05:00"), User: "eve", Name: "huge", Kind: "evolving", Phase: "waiting", Rank: 5,
				Request: "ep=2x10m,16x1h", Size: 2, Why: "no place in the plan"},
			{ID: 21, Submitted: second("11:06:00"), User: "eve", Name: "later", Kind: "ordinary", Phase: "blocked", Size: 1, Why: "Dependency"},
			{ID: 22, Submitted: second("11:07:00"), User: "eve", Name: "held", Kind: "ordinary", Phase: "held", Size: 1, Why: "JobHeldUser"},
		},
	}
}

// lab returns a journal with the queue q and events of some jobs.
func lab(t *testing.T, q view.Queue) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "j.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	data, err1 := json.Marshal(q)
	view, err2 := json.Marshal(view.Status{At: q.At, Cluster: q.Cluster})
	if err := errors.Join(err1, err2, j.PutQueue(data), j.PutView(view)); err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		clock      string
		job        int64
		submitted  string
		kind, text string
		fields     map[string]any
	}{
		{"09:00:00", 17, "08:00:00", "ended", "another job, whose number was used again", nil},
		{"11:02:11", 17, "11:02:10", "accepted", "ep=6x500s,10x1h", nil},
		{"11:02:11", 17, "11:02:10", "planned", "its start is planned in 1h8m49s", map[string]any{"start": second("12:11:00")}},
		{"11:30:00", 17, "11:02:10", "replanned", "its start is planned 1h31m55s later: 1 node went out of service",
			map[string]any{"start": second("13:42:55"), "before": second("12:11:00")}},
		{"10:00:02", 9, "10:00:00", "accepted", "ep=3x2h,5x30m,2x30m", nil},
		{"10:01:00", 9, "10:00:00", "started", "on 3 nodes", nil},
		{"08:00:00", 3, "07:00:00", "accepted", "ep=2x20s", nil},
		{"08:01:00", 3, "07:00:00", "ended", "after step 1 of 1", nil},
	} {
		err := j.Event(journal.Event{At: time.Unix(second(e.clock), 0), Job: e.job, Submitted: second(e.submitted), Kind: e.kind, Text: e.text, Fields: e.fields})
		if err != nil {
			t.Fatal(err)
		}
	}
	id, err := j.Begin(journal.Intent{At: time.Unix(second("11:40:00"), 0), Job: 17, Submitted: second("11:02:10"), Verb: "reserve"})
	if err := errors.Join(err, j.Finish(id, time.Unix(second("11:40:01"), 0), errors.New("nodes are busy"))); err != nil {
		t.Fatal(err)
	}
	return j
}

func explained(t *testing.T, j *journal.Journal, job int64, now time.Time) string {
	t.Helper()
	x, err := status.Explain(j, job)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := x.Write(&b, now, time.UTC); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// The golden texts are for users who want their jobs to run. After a change, read the texts as such a
// user would.
func TestExplainInSentences(t *testing.T) {
	live := queue()
	j := lab(t, live)
	for name, job := range map[string]int64{
		"waits-behind-an-ordinary-job.txt": 17, "runs-and-grows.txt": 9, "waits-for-a-reservation-to-end.txt": 18, "ordinary-waits.txt": 11,
		"ordinary-is-due.txt": 19, "never-fits.txt": 20, "blocked.txt": 21, "held.txt": 22, "ordinary-runs.txt": 5, "over.txt": 3,
	} {
		golden(t, name, explained(t, j, job, noon.Add(5*time.Second)))
	}
	var b strings.Builder
	r, err := status.ReadQueue(j)
	if err == nil {
		err = r.Table(&b, noon.Add(5*time.Second), time.UTC)
	}
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "queue.txt", b.String())
}

// A job may have to wait although enough nodes for its first step are free, because a later step would lack nodes.
func TestExplainNamesTheLaterStepThatLacksNodes(t *testing.T) {
	q := queue()
	q.Jobs[4] = view.Entry{ID: 17, Submitted: second("11:02:10"), User: "ann", Kind: "evolving", Phase: "waiting", Rank: 2, Request: "ep=2x30m,6x1h",
		Size: 2, Start: second("13:12:55"), End: second("14:42:55"), Free: second("14:42:55"), Plan: core.EP{{Duration: 1800, Nodes: 2}, {Duration: 3600, Nodes: 6}}}
	golden(t, "later-step-lacks-nodes.txt", explained(t, lab(t, q), 17, noon))
}

func TestExplainNamesTheLatestStartBeforeADeadline(t *testing.T) {
	q := queue()
	q.Jobs[7] = view.Entry{ID: 20, Submitted: second("11:05:00"), User: "eve", Name: "due", Kind: "evolving", Phase: "waiting", Rank: 5, Request: "ep=2x10m,6x1h", Size: 2,
		Why: view.TooLate + ", 2026-11-22 13:30:00: it would have to start by 12:20:00", Deadline: second("13:30:00"), Latest: second("12:20:00")}
	golden(t, "too-late-for-its-deadline.txt", explained(t, lab(t, q), 20, noon))
}

func TestExplainNamesTheNodesThatBoot(t *testing.T) {
	q := queue()
	e := &q.Jobs[4]
	e.Start = second("12:00:04")
	e.Why = view.Booting + ": n3 (IDLE+POWERING_UP), n4 (IDLE+POWERED_DOWN)"
	golden(t, "waits-for-nodes-that-boot.txt", explained(t, lab(t, q), 17, noon))
}

// Under a policy that reserves for few jobs, `accordion explain` shows when the job may receive a
// reservation, and what the job waits for until then.
func TestExplainSaysFromWhenOnAJobHasAReservation(t *testing.T) {
	waits := func(id core.JobID, rank int, turn string, submitted, due, request string, size int) view.Entry {
		e := view.Entry{ID: id, Submitted: second(submitted), User: "ann", Kind: "evolving", Phase: "waiting", Rank: rank, Request: request, Size: size, Why: "nodes", Turn: turn}
		if due != "" {
			e.Due = second(due)
		}
		return e
	}
	reserved := waits(18, 2, view.Reserved, "10:20:00", "11:40:00", "ep=12x40m", 12)
	reserved.Start, reserved.End, reserved.Free, reserved.Plan = second("12:41:05"), second("13:21:05"), second("13:21:05"), core.EP{{Duration: 2400, Nodes: 12}}
	q := queue()
	q.Jobs = append(q.Jobs[:3], waits(17, 1, view.Unreserved, "11:02:10", "13:18:50", "ep=6x500s,10x1h", 6), reserved,
		waits(19, 3, view.Unreserved, "11:00:00", "11:50:00", "ep=2x25m,14x1m", 2))
	for name, job := range map[string]int64{"patient-is-not-due.txt": 17, "patient-has-a-reservation.txt": 18, "patient-is-due.txt": 19} {
		golden(t, name, explained(t, lab(t, q), job, noon))
	}
	for i := range q.Jobs {
		q.Jobs[i].Due = 0
	}
	q.Jobs[3].Rank, q.Jobs[4].Rank = 2, 1
	const want = "Only the first of the queue has a reservation: it gets one in its turn, after 1 job that is before it."
	if got := explained(t, lab(t, q), 17, noon); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %q", got, want)
	}
}

func TestNodeSharedByTwoJobsIsCountedOnce(t *testing.T) {
	q := queue()
	q.Jobs = append(q.Jobs, view.Entry{ID: 7, Submitted: second("10:07:00"), User: "eve", Kind: "ordinary", Phase: "running", Nodes: "n[12-14]", Size: 3,
		Start: second("11:00:00"), End: second("12:20:00"), Free: second("12:21:05")})
	const want = "Of the pool's 16, 12 are held by jobs, 1 is down or drained, 3 are free."
	if got := explained(t, lab(t, q), 17, noon); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %q", got, want)
	}
}

// The queue document does not have everything that the plan knows about ordinary jobs, such as their begin times. So a job may wait
// although the queue shows no shortage.
func TestExplainSaysThatAJobWaitsForOrdinaryOnesBeforeIt(t *testing.T) {
	q := queue()
	q.Jobs[4] = view.Entry{ID: 17, Submitted: second("11:02:10"), User: "ann", Kind: "evolving", Phase: "waiting", Rank: 2, Request: "ep=2x20m",
		Size: 2, Start: second("13:42:55"), End: second("14:02:55"), Free: second("14:02:55"), Plan: core.EP{{Duration: 1200, Nodes: 2}}}
	const want = "Sooner it might be in the way of an ordinary job before it"
	if got := explained(t, lab(t, q), 17, noon); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %q", got, want)
	}
	q.Jobs = slices.Delete(q.Jobs, 3, 4) // the ordinary job before job 17
	if got := explained(t, lab(t, q), 17, noon); strings.Contains(got, want) {
		t.Errorf("none is before it: %s", got)
	}
}

func TestEveryPhaseOfAManagedJobHasItsSentence(t *testing.T) {
	job := view.Entry{ID: 9, Submitted: second("10:00:00"), User: "ann", Name: "cfd", Kind: "evolving", Request: "ep=3x2h,5x30m",
		Nodes: "n[1-3]", Size: 3, Start: second("10:01:00"), End: second("12:31:00"), Free: second("12:31:00"), Step: 1,
		Plan: core.EP{{Duration: 7200, Nodes: 3}, {Duration: 1800, Nodes: 5}}}
	for phase, want := range map[string]string{
		"starting":  "It is being started on 3 nodes (n[1-3]), in step 1 of 2.",
		"running":   "It has run since 10:01:00, on 3 nodes (n[1-3]), in step 1 of 2.",
		"growing":   "It has run since 10:01:00, on 3 nodes (n[1-3]), in step 1 of 2, and is growing now.",
		"shrinking": "and is shrinking now.",
		"late":      "It has run since 10:01:00, on 3 nodes (n[1-3]), in step 1 of 2, and is late.",
		"ending":    "It is ending.",
	} {
		q := queue()
		q.Jobs[0] = job
		q.Jobs[0].Phase = phase
		if got := explained(t, lab(t, q), 9, noon); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %q", phase, got, want)
		}
	}
	q := queue()
	q.Jobs[4].Start, q.Jobs[4].Why = second("12:00:04"), "nodes of ordinary job 5"
	got := explained(t, lab(t, q), 17, noon)
	for _, want := range []string{"There is room for it, and it is started within seconds.", "What is still in the way: nodes of ordinary job 5."} {
		if !strings.Contains(got, want) {
			t.Errorf("due: %s\nwant %q", got, want)
		}
	}
}

func TestExplainIgnoresEventsOfAnOlderJobWithTheNumber(t *testing.T) {
	j := lab(t, queue())
	// The batch system used the number 17 again, and the new job is not in the queue yet.
	err := j.Event(journal.Event{At: noon, Job: 17, Submitted: second("11:59:59"), Kind: "accepted", Text: "ep=1x1h"})
	if err != nil {
		t.Fatal(err)
	}
	got := explained(t, j, 17, noon)
	if strings.Contains(got, "ep=1x1h") || strings.Contains(got, "used again") || !strings.Contains(got, "accepted: ep=6x500s,10x1h") {
		t.Errorf("explained:\n%s", got)
	}
}

func TestUnknownJobErrorNamesThePool(t *testing.T) {
	_, err := status.Explain(lab(t, queue()), 4711)
	if err == nil || !strings.Contains(err.Error(), "job 4711 is not in the pool of cluster lab, as of ") {
		t.Errorf("error %v", err)
	}
	fresh, err := journal.Open(filepath.Join(t.TempDir(), "j.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if _, err := status.Explain(fresh, 1); err == nil || !strings.Contains(err.Error(), "the sidecar has not read the batch system; try again") {
		t.Errorf("error %v", err)
	}
}

func TestExplainSaysFirstThatTheSidecarIsNotRunning(t *testing.T) {
	j := lab(t, queue())
	path := j.Path()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := journal.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := explained(t, reader, 17, noon.Add(time.Hour)); !strings.HasPrefix(got, "Accordion on lab: THE SIDECAR IS NOT RUNNING since 12:00:00 (60 min ago); then: job 17\n") {
		t.Errorf("it begins: %.200s", got)
	}
}

func TestLongQueuesAreShortened(t *testing.T) {
	q := queue()
	q.Jobs = nil
	for i := range 40 {
		q.Jobs = append(q.Jobs, view.Entry{ID: core.JobID(100 + i), Submitted: second("10:00:00"), User: "bob", Kind: "ordinary", Phase: "running",
			Nodes: "n1", Size: 1, Start: second("10:00:00"), End: second("13:00:00") + int64(i), Free: second("13:00:00") + int64(i)})
	}
	for i := range 40 {
		q.Jobs = append(q.Jobs, view.Entry{ID: core.JobID(200 + i), Submitted: second("10:00:00"), User: "bob", Kind: "ordinary", Phase: "waiting",
			Rank: i + 1, Size: 1, Start: second("13:00:00"), End: second("14:00:00"), Free: second("14:00:00")})
	}
	got := explained(t, lab(t, q), 239, noon)
	for _, want := range []string{"and 28 jobs more, with 28 nodes, all of them for longer", "and 27 jobs more (accordion queue)", "40th in the queue"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	if lines := strings.Count(got, "\n"); lines > 60 {
		t.Errorf("%d lines", lines)
	}
}

// The explanations of jobs in random queues are complete texts, and the numbers in them agree with each other.
func TestExplainWritesTextForEveryQueue(t *testing.T) {
	moment := rapid.Int64Range(second("09:00:00"), second("16:00:00"))
	entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) view.Entry {
		e := view.Entry{ID: core.JobID(rapid.IntRange(1, 5).Draw(t, "id")), Submitted: moment.Draw(t, "submitted"), User: rapid.StringN(0, 3, 9).Draw(t, "user"),
			Kind:  rapid.SampledFrom([]string{"ordinary", "evolving", "moldable"}).Draw(t, "kind"),
			Phase: rapid.SampledFrom([]string{"waiting", "starting", "running", "held", "blocked", "ending", "late"}).Draw(t, "phase"),
			Rank:  rapid.IntRange(0, 6).Draw(t, "rank"), Size: rapid.IntRange(0, 17).Draw(t, "size"), Step: rapid.IntRange(0, 4).Draw(t, "step"),
			Start: rapid.OneOf(moment, rapid.Just(int64(0))).Draw(t, "start"), End: rapid.OneOf(moment, rapid.Just(int64(0))).Draw(t, "end"),
			Free: rapid.OneOf(moment, rapid.Just(int64(0))).Draw(t, "free"), Request: rapid.SampledFrom([]string{"", "ep=2x1h,3x1h", "mold=4x2h|8x70m", "ep=", "x"}).Draw(t, "request")}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			e.Plan = append(e.Plan, core.Step{Duration: rapid.Int64Range(0, 5000).Draw(t, "duration"), Nodes: rapid.IntRange(0, 17).Draw(t, "nodes")})
		}
		return e
	}), 0, 8)
	j := lab(t, queue())
	rapid.Check(t, func(rt *rapid.T) {
		q := queue()
		q.Jobs = entries.Draw(rt, "jobs")
		data, err := json.Marshal(q)
		if err := errors.Join(err, j.PutQueue(data)); err != nil {
			rt.Fatal(err)
		}
		for id := range int64(6) {
			x, err := status.Explain(j, id)
			if err != nil {
				continue // the job is unknown
			}
			var b strings.Builder
			if err := x.Write(&b, noon, time.UTC); err != nil || !strings.HasPrefix(b.String(), "Accordion on lab: job ") {
				rt.Fatalf("%v: %s", err, b.String())
			}
			if l := x.Shortage; l != nil && (l.Free >= l.Needs || l.At < x.Job.Start-1) {
				rt.Fatalf("lack %+v of a job that starts at %d", *l, x.Job.Start)
			}
			for i := 1; i < len(x.Releases); i++ {
				if x.Releases[i].At > x.Releases[i-1].At {
					rt.Fatalf("releases out of order: %+v", x.Releases)
				}
			}
		}
	})
}
