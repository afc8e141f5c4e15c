package slurm_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm/growth"
)

// workloadLab returns a lab of 16 nodes with the users of a workload and Slurm's default scheduler settings.
func workloadLab(t *testing.T) *lab.SlurmLab {
	t.Helper()
	options := []lab.Option{}
	for _, u := range workloadUsers {
		options = append(options, lab.Users(u))
	}
	return lab.Slurm(t, 16, options...)
}

// parallelUnlessLong marks a test that measures times as parallel. With -accordion.long the test checks the
// promised bounds and runs alone.
func parallelUnlessLong(t *testing.T) {
	if !*long {
		t.Parallel()
	}
}

// This test checks the main promise on a real Slurm with many evolving, moldable and ordinary jobs of several
// users: every growth happens in time. The short form runs a sample and tolerates a slow machine. The long form
// checks the promised bounds: go test ./slurm -run Crowd -timeout 40m -v -args -accordion.long
func TestEveryGrowthOfACrowdHappensInTime(t *testing.T) {
	parallelUnlessLong(t)
	m := mix{evolving: 5, moldable: 2, ordinary: 30, twins: 2, short: true, gpus: true, over: 40 * time.Second}
	if *long {
		m = mix{evolving: 20, moldable: 10, ordinary: 200, twins: 3, overruns: 4, gpus: true, over: 7 * time.Minute}
	}
	lab := workloadLab(t)
	programs := filepath.Join(openFolder(t), "programs")
	p := serving(t, lab, fmt.Sprintf("bin = %q", countingClients(t, programs)))
	since := time.Now()
	all := m.submissions(*seed)
	watched := recordCurrentState(t, lab)
	submitAll(t, lab, all)
	awaitNoJobs(t, lab, 3*m.over+10*time.Minute)
	t.Logf("the last job ended after %.0f s", time.Since(since).Seconds())

	awaitAllEnded(t, p)
	c := &workloadResult{t: t, lab: lab, p: p, entries: p.journalSince(p.since)}
	if report := runAudit(t, lab, since, watched()); report.Sightings < 10 || report.NodeSeconds == 0 {
		t.Errorf("too little was judged: %+v", report)
	}
	c.accounts = readAccounts(t, lab, since)
	c.held = tenures(c.accounts, "shared")
	c.saveArtifacts()
	c.judgeJobs(all)
	countTogether(c.growths)
	t.Logf("growths, by what they waited for:\n%s", latenessTable(c.growths))
	t.Logf("%d starts after %d decisions: median %.2f s, 95 %% %.2f s, last %.2f s after the decision", len(c.starts), c.decisions,
		quantile(c.starts, 0.5), quantile(c.starts, 0.95), quantile(c.starts, 1))
	for _, g := range c.growths {
		if g.slow() > 1 {
			t.Logf("slow: job %d, step %d: %.2f s after everything was there (%s), %.2f s after its second, with %d at it", g.job, g.step, g.slow(), g.cause, g.late(), g.at)
		}
	}
	for _, at := range c.slowest {
		t.Log("slow start: " + at)
	}
	if len(c.stuck) > 0 {
		t.Logf("%d more starts met nodes that Slurm shows as idle and does not allocate, until they are nudged: last %.2f s after the decision", len(c.stuck),
			quantile(c.stuck, 1))
	}
	slack := 2.0
	if *long {
		slack = 1
		if last := quantile(c.starts, 1); !(last <= 4) {
			t.Errorf("a start took %.2f s after its decision, want at most 4 s", last)
		}
		if last := quantile(c.stuck, 1); last > 4 {
			t.Errorf("a start on nodes that had to be nudged took %.2f s after its decision, want at most 4 s as for any", last)
		}
	}
	for _, e := range exceeded(c.growths, boundsOf[growth.Overlap], slack, !*long) {
		t.Error(e)
	}
	most := mostInAMinute(t, programs, since)
	t.Logf("at most %d client programs began within a minute", most)
	if most > mostClientsPerMinute {
		t.Errorf("%d client programs began within a minute, want at most %d", most, mostClientsPerMinute)
	}
	assertNoCountIsLeft(t, lab)
}

// mostClientsPerMinute is the limit of 60 client programs in any minute, plus one because start times have whole
// seconds.
const mostClientsPerMinute = 61

// awaitNoJobs waits until no job is left.
func awaitNoJobs(t *testing.T, lab *lab.SlurmLab, patience time.Duration) {
	t.Helper()
	lab.Await(t, patience, "every job of the workload has ended", everySecond(func() bool {
		return runClient(t, lab, "squeue", "--noheader", "--all", "-o", "%A") == ""
	}))
}

// A workloadResult holds the jobs of a workload that ran, and the measurements that the test checks.
type workloadResult struct {
	t        *testing.T
	lab      *lab.SlurmLab
	p        *process
	entries  []entry
	accounts []account
	held     []tenure

	growths   []growthRecord
	starts    []float64 // seconds from the decision to start each job to its first output
	stuck     []float64 // starts during which the sidecar had to make a node usable again: a fault of Slurm 22.05 delays every start meanwhile
	slowest   []string  // descriptions of the slow starts
	decisions int       // number of decisions to start a job; a start that loses the race for its nodes is decided again
}

// judgeJobs checks every job of the workload by its own output, the journal and Slurm's accounting.
func (c *workloadResult) judgeJobs(all []*submission) {
	managed := map[int64]bool{}
	for _, s := range all {
		if s.kind != "ordinary" {
			managed[c.number(s)] = true
		}
	}
	for _, s := range all {
		var faults []string
		switch s.kind {
		case "ordinary":
			faults = c.judgeEnd(s, map[bool]string{false: "COMPLETED", true: "TIMEOUT"}[s.overruns])
		case "moldable":
			faults = append(c.judgeEnd(s, "COMPLETED"), c.judgeStart(s)...)
		default:
			faults = append(c.judgeEnd(s, "COMPLETED"), c.judgeStart(s)...)
			faults = append(faults, c.judgeSizes(s)...)
			faults = append(faults, c.judgeGrowths(s, managed)...)
		}
		if len(faults) > 0 {
			c.t.Errorf("%s job %s:\n%s\n%s", s.kind, s.id, strings.Join(faults, "\n"), c.diagnosis(s))
		}
	}
}

func (c *workloadResult) number(s *submission) int64 {
	id, err := strconv.ParseInt(s.id, 10, 64)
	if err != nil {
		c.t.Fatalf("sbatch printed the id %q", s.id)
	}
	return id
}

// rows returns a job's rows in accounting, in order of time.
func (c *workloadResult) rows(s *submission) []account {
	id := c.number(s)
	rows := slices.DeleteFunc(slices.Clone(c.accounts), func(a account) bool { return a.id != id })
	slices.SortStableFunc(rows, func(a, b account) int { return cmp.Compare(a.ended(), b.ended()) })
	return rows
}

func (c *workloadResult) judgeEnd(s *submission, want string) []string {
	rows := c.rows(s)
	if len(rows) == 0 {
		return []string{"accounting does not know it"}
	}
	if got := rows[len(rows)-1].state; got != want {
		return []string{fmt.Sprintf("it is %s, want %s", got, want)}
	}
	return nil
}

// judgeStart measures the time from the last decision to start the job until its first output.
func (c *workloadResult) judgeStart(s *submission) []string {
	begun, err := stages(c.lab.File(s.user, "slurm-"+s.id+".out"))
	if err != nil || len(begun) == 0 {
		return []string{fmt.Sprintf("its output does not say when it began (%v)", err)}
	}
	began := time.UnixMicro(int64(begun[0].at * 1e6))
	decided, nudged := time.Time{}, false
	for _, e := range c.entries {
		switch {
		case e.Job == c.number(s) && e.Kind == "event" && e.Verb == "starting":
			decided, nudged = e.At, false
			c.decisions++
		case e.Verb == "nudge" && e.Job == 0 && !decided.IsZero() && e.At.Before(began):
			nudged = true
		}
	}
	if decided.IsZero() {
		return []string{"no decision to start it is in the journal"}
	}
	took := began.Sub(decided).Seconds()
	if nudged {
		c.stuck = append(c.stuck, took)
	} else {
		c.starts = append(c.starts, took)
	}
	if took > 3 {
		c.slowest = append(c.slowest, fmt.Sprintf("job %s began %.2f s after its start was decided", s.id, took))
	}
	return nil
}

// judgeSizes compares the profile with the sizes in the application's output and in Slurm's accounting.
func (c *workloadResult) judgeSizes(s *submission) []string {
	var faults []string
	output := c.lab.File(s.user, "slurm-"+s.id+".out")
	seen, err := stages(output)
	if err != nil {
		faults = append(faults, err.Error())
	}
	if len(seen) != len(s.steps) {
		faults = append(faults, fmt.Sprintf("the application saw %d of the %d steps of %s", len(seen), len(s.steps), s.steps))
	}
	if strings.Contains(output, "srun failed") {
		faults = append(faults, "an srun on its nodes failed")
	}
	if s.gpus {
		faults = append(faults, judgeGPUs(output, s.steps)...)
	}
	has := sizes(c.accounts, c.number(s))
	if len(has) != len(s.steps) {
		faults = append(faults, fmt.Sprintf("accounting has %d sizes, want %d", len(has), len(s.steps)))
	}
	for i, step := range s.steps {
		if i < len(seen) && seen[i].nodes != step.Nodes {
			faults = append(faults, fmt.Sprintf("the application had %d nodes in step %d, want %d", seen[i].nodes, i+1, step.Nodes))
		}
		if i < len(has) && len(has[i]) != step.Nodes {
			faults = append(faults, fmt.Sprintf("accounting has %d nodes in step %d, want %d", len(has[i]), i+1, step.Nodes))
		}
		if i < len(has) && i < len(seen) && hostlist.Compact(has[i]) != seen[i].list {
			faults = append(faults, fmt.Sprintf("in step %d the application had %s, in accounting %s", i+1, seen[i].list, hostlist.Compact(has[i])))
		}
	}
	return faults
}

// judgeGPUs checks that in each step a program saw two GPUs on each of the job's nodes.
func judgeGPUs(output string, steps core.EP) (faults []string) {
	of := map[string]int{} // the number of steps in which the node had two GPUs, by node
	for line := range strings.Lines(output) {
		if node, list, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(node, "gpus of ") {
			if of[node]++; len(strings.Split(list, ",")) != 2 {
				faults = append(faults, fmt.Sprintf("a program saw the %s, want 2", line))
			}
		}
	}
	want, got := 0, 0
	for _, s := range steps {
		want += s.Nodes
	}
	for _, n := range of {
		got += n
	}
	if got != want {
		faults = append(faults, fmt.Sprintf("programs ran on %d nodes of all steps together, want %d", got, want))
	}
	return faults
}

// judgeGrowths adds each growth that happened to the result, and checks that the job made every growth of its
// profile.
func (c *workloadResult) judgeGrowths(s *submission, managed map[int64]bool) []string {
	seen, err := stages(c.lab.File(s.user, "slurm-"+s.id+".out"))
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	want := growths(s.steps)
	for _, e := range c.entries {
		if e.Job != c.number(s) || e.Kind != "event" || e.Verb != "grew" {
			continue
		}
		step := int(number(e.Args["step"]))
		i := slices.IndexFunc(seen, func(s stage) bool { return s.step == step })
		if i < 1 {
			faults = append(faults, fmt.Sprintf("the journal has a growth to step %d that the application did not see", step))
			continue
		}
		before, err := hostlist.Expand(seen[i-1].list)
		if err != nil {
			return append(faults, err.Error())
		}
		g, err := judgeGrowth(e, before, seen[i].at, c.held, managed)
		if err != nil {
			faults = append(faults, err.Error())
		}
		c.growths = append(c.growths, g)
		want = slices.DeleteFunc(want, func(s int) bool { return s == step })
	}
	if len(want) > 0 {
		faults = append(faults, fmt.Sprintf("of %s the growths to the steps %v never happened", s.steps, want))
	}
	return faults
}

// diagnosis returns the journal, slurmctld's log and the output of one job, to explain a failure.
func (c *workloadResult) diagnosis(s *submission) string {
	var b strings.Builder
	fmt.Fprintf(&b, "its journal:\n%s\nslurmctld on it:\n", tail(c.p.accordion("journal", "--job", s.id), 60))
	log, err := os.ReadFile(filepath.Join(c.lab.Dir, "log", "slurmctld.log"))
	if err != nil {
		c.t.Error(err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line+" ", "JobId="+s.id+" ") || strings.Contains(line, "accordion-"+s.id+"-") {
			b.WriteString(line)
		}
	}
	fmt.Fprintf(&b, "its output:\n%s", c.lab.File(s.user, "slurm-"+s.id+".out"))
	return b.String()
}

// saveArtifacts saves files that help to explain a failed run.
func (c *workloadResult) saveArtifacts() {
	c.t.Helper()
	dir := c.t.ArtifactDir()
	for _, name := range []string{"slurmctld.log", "accordion.log"} {
		text, err := os.ReadFile(filepath.Join(c.lab.Dir, "log", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			c.t.Error(err)
		}
	}
	for name, text := range map[string]string{"accounting": formatAccounts(c.accounts), "journal": c.p.accordion("journal", "--json")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			c.t.Error(err)
		}
	}
}
