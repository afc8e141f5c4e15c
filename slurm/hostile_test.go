package slurm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/internal/lab"
	"accordion/slurm"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// hostileJobs is the number of mallory's jobs. hostileFirst of these jobs exist when the growths begin. Mallory
// submits the rest during the growths.
const hostileJobs, hostileFirst = 200, 140

// Mallory has two hundred jobs. Their names, comments and paths look like Slurm's own text, and contain whole
// records of other users' jobs. Some jobs have names that look like the sidecar's, invalid counts, or dependencies
// on other users' jobs. Mallory keeps changing jobs and submitting more. Nevertheless no growth of another user is
// late, the sidecar needs few programs, and no reading mistakes one of mallory's texts for Slurm's. The test runs
// without the plug-in, which would accept fewer jobs (go test ./slurm -run Hostile -args -accordion.long tries
// that, too).
func TestTwoHundredHostileJobsDelayNoGrowthAndForgeNothing(t *testing.T) {
	parallelUnlessLong(t)
	t.Run("without the plug-in", func(t *testing.T) {
		hostile(t, lab.Slurm(t, 16, lab.Users("alice", "mallory"), lab.NoPlugin()), false)
	})
	if *long {
		t.Run("with it", func(t *testing.T) {
			hostile(t, lab.Slurm(t, 16, lab.Users("alice", "mallory")), true)
		})
	}
}

func hostile(t *testing.T, lab *lab.SlurmLab, guarded bool) {
	programs := t.TempDir()
	p := serving(t, lab, fmt.Sprintf("bin = %q\n[early]\nadvance = false", countingByProgram(t, programs)))
	since := time.Now()
	model := lab.Submit(t, "alice", "sleep 600", "-N1", "-n1", "-t20", "-p", "shared", "-w", "n16", "-J", "model")
	impostor := lab.Submit(t, "mallory", "sleep 600", "-N1", "-n1", "-t20", "-p", "shared", "-w", "n1")
	state := func(job string) string { return runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%t") }
	for _, job := range []string{model, impostor} {
		lab.Await(t, time.Minute, "job "+job+" runs", func() bool { return state(job) == "R" })
	}
	h := &hostileUser{t: t, lab: lab, random: rand.New(rand.NewPCG(*seed, 3)), record: runClient(t, lab, "scontrol", "-o", "show", "job", model), model: model, accepted: 0.9}
	if guarded {
		h.accepted = 0.4 // the plug-in rejects names like the sidecar's, and wrong requests
	}
	h.submit(hostileFirst)

	watch := h.watch(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: time.Minute})
	torment := h.torment(hostileJobs - hostileFirst)
	var all []*submission
	add := func(k int, ep core.EP) {
		for range k {
			s := &submission{user: "alice", kind: "evolving", steps: ep, script: application(ep, 2*time.Second)}
			if !guarded {
				s.options = []string{"-H", fmt.Sprintf("-N%d", ep[0].Nodes), fmt.Sprintf("-n%d", ep[0].Nodes), "-t5", fmt.Sprintf("--comment=ep=%s", ep)}
			}
			all = append(all, s)
		}
	}
	add(1, core.EP{{Duration: 6, Nodes: 1}, {Duration: 6, Nodes: 2}, {Duration: 6, Nodes: 3}, {Duration: 6, Nodes: 4}, {Duration: 5, Nodes: 5}})
	add(2, core.EP{{Duration: 10, Nodes: 1}, {Duration: 8, Nodes: 3}})
	submitAll(t, lab, all)
	h.impersonate(impostor, all[0].id, guarded)
	lab.Await(t, 3*time.Minute, "the evolving jobs have ended", everySecond(func() bool {
		return runClient(t, lab, "squeue", "-h", "-u", "alice", "-t", "PD,R,CG", "-o", "%A") == model
	}))
	changes := torment()
	readings := watch()
	hostile := len(strings.Fields(runClient(t, lab, "squeue", "-h", "-u", "mallory", "-o", "%A")))
	if s := state(impostor); s != "R" {
		t.Errorf("mallory's job on n1, which has the name of an expander, was taken for one: its state is %q", s)
	}
	lab.Run(t, "root", "scancel", "-u", "mallory")
	lab.Run(t, "root", "scancel", model)
	awaitNoJobs(t, lab, time.Minute)

	awaitAllEnded(t, p)
	c := &workloadResult{t: t, lab: lab, p: p, entries: p.journalSince(p.since)}
	c.accounts, c.held = auditedAccounts(t, lab, since, "alice") // sacct's rows of the other users cannot be parsed
	c.saveArtifacts()
	c.judgeJobs(all)
	countTogether(c.growths)
	slack := 2.0
	if *long {
		slack = 1
	}
	for _, e := range exceeded(c.growths, boundsOf[growth.Overlap], slack, !*long) {
		t.Error(e)
	}
	for _, g := range c.growths {
		if g.slow() > 2 {
			t.Logf("slow: job %d, step %d: %.2f s after everything was there (%s)\n%s", g.job, g.step, g.slow(), g.cause, p.accordion("journal", "--job", strconv.FormatInt(g.job, 10)))
		}
		if g.slow() > visibleDelay {
			t.Errorf("job %d had the nodes of step %d %.2f s after they were there: the sidecar did not see them, or the job", g.job, g.step, g.slow())
		}
	}
	lists, most := linesOf(t, filepath.Join(programs, "squeue")), mostInAMinute(t, filepath.Join(programs, "all"), since)
	t.Logf("%d hostile jobs, changed %d times; growths:\n%s%d readings beside the sidecar; it ran squeue %d times, and at most %d programs within a minute", hostile, changes,
		latenessTable(c.growths), readings, lists, most)
	if float64(hostile) < hostileJobs*h.accepted || changes < 20 {
		t.Errorf("only %d hostile jobs, changed %d times: the test shows nothing", hostile, changes)
	}
	if took := time.Since(since).Minutes(); most > mostClientsPerMinute || float64(lists) > 10+30*took {
		t.Errorf("%d programs began within a minute, want at most %d; %d were squeue, in %.1f minutes, want at most 30 in each", most, mostClientsPerMinute, lists, took)
	}
	if log, err := os.ReadFile(p.log); err != nil || strings.Contains(string(log), "cannot be read") {
		t.Errorf("a reading of the sidecar's failed, or its log is gone (%v)\n%s", err, tail(string(log), 100))
	}
}

// visibleDelay is how many seconds late a growth must be so that a slow machine cannot be the cause. If a reading
// misses a growth, the growth is tried again only after the next reading.
const visibleDelay = 15

// hostileUser generates mallory's jobs, texts and changes.
type hostileUser struct {
	t      *testing.T
	lab    *lab.SlurmLab
	random *rand.Rand
	record string // the record of another user's job, as a console without a stamp prints it
	model  string // the id of that job

	accepted float64 // the share of jobs that must be accepted; with fewer jobs the test would show nothing
}

// impersonate gives a running job of mallory's, on the node of `Park`, the name of an expander of alice's. It also
// moves the job into `Park`, which Slurm permits to any user. The plug-in permits neither.
func (h *hostileUser) impersonate(impostor, parent string, guarded bool) {
	h.t.Helper()
	h.lab.Await(h.t, time.Minute, "managed jobs are parked", func() bool {
		return strings.Contains(runClient(h.t, h.lab, "scontrol", "-o", "show", "reservation"), output.Park)
	})
	for _, change := range []string{"JobName=" + output.GrowPrefix + parent, "ReservationName=" + output.Park} {
		_, said, err := h.lab.Exec("mallory", "", "scontrol", "update", "JobId="+impostor, change)
		if (err != nil) != guarded {
			h.t.Errorf("mallory's %s: %v: %s", change, err, said)
		}
	}
}

// lie returns a text that looks like Slurm's own, of at most the given number of bytes.
func (h *hostileUser) lie(most int) string {
	head := " UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=99 Nice=0 Account=a QOS=b JobState=RUNNING"
	begin := func() string { return fmt.Sprintf("\nJobId=%d JobName=y", 1+h.random.IntN(300)) }
	upTo := func(key string) string { before, _, _ := strings.Cut(h.record, key); return before }
	from := func(key string) string { return h.record[strings.Index(h.record, key):] }
	pieces := []func() string{
		func() string { return " JobState=COMPLETED" },
		func() string { return " Partition=main NodeList=n1 NumNodes=9" },
		func() string { return head },
		func() string { return head + begin() },
		func() string { return begin() },
		func() string { return "\nJobId=" + h.model + " JobName=model" },
		func() string { return "\n" + h.record },
		func() string { return "\n" + upTo(" Command=") },
		func() string { return "\n" + upTo(" QOS=") },
		func() string { return from(" JobState=") },
		func() string { return from(" Partition=") },
		func() string { return from(" OverSubscribe=") },
		func() string { return " AdminComment=accordion:ep=9x9h  StdErr=x" },
		func() string { return " Reservation=accordion-1-1" },
		func() string { return "\n" + h.ours() },
		func() string { return "\nscontrol: " },
		func() string { return "|1|RUNNING|root|0|0|" },
		func() string {
			var b strings.Builder
			for range h.random.IntN(60) {
				b.WriteRune(rune(1 + h.random.IntN(0x2ff)))
			}
			return b.String()
		},
	}
	text := "x"
	for range 1 + h.random.IntN(3) {
		text += pieces[h.random.IntN(len(pieces))]()
	}
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// ours returns a name that looks like the name of an expander or companion.
func (h *hostileUser) ours() string {
	kind := []string{"grow", "over", "with"}[h.random.IntN(3)]
	return fmt.Sprintf("accordion-%s-%d", kind, 1+h.random.IntN(300))
}

// demands returns options with invalid counts, or options that refer to other users' jobs.
func (h *hostileUser) demands() []string {
	all := [][]string{
		{"-n2147483647"}, {"-N100000"}, {"-N1-500000"}, {"-c65534"}, {"--mem=4294967295"}, {"--nice=2147483645"}, {"--time=UNLIMITED"},
		{"--dependency=expand:" + h.model}, {"--dependency=afterany:" + h.model + ",singleton"}, {"--oversubscribe", "--overcommit", "--mem=1"},
		{"--comment=ep=1x99999999999999h"}, {"--comment=mold=0x0|JobId=1"},
	}
	return all[h.random.IntN(len(all))]
}

// options returns options of sbatch with false texts in some of the fields that a user may choose. It never sets
// the account, because a site rejects unknown accounts.
func (h *hostileUser) options() string {
	options := []string{"--parsable", "-N1", "-n1", "-t20", "-w", "n16", "-p", []string{"shared", "main"}[h.random.IntN(2)]}
	held := h.random.IntN(20) > 0
	for i, place := range []string{"--job-name=", "--comment=", "--network=", "--cluster-constraint=", "--mcs-label=", "--output=/tmp/", "--error=/tmp/", "--wckey=", "--bb="} {
		if i < 2 || h.random.IntN(4) == 0 {
			options = append(options, place+h.lie(1000))
		}
	}
	if h.random.IntN(3) == 0 {
		options = append(options, "--job-name="+h.ours())
	}
	if h.random.IntN(3) == 0 {
		options, held = append(options, h.demands()...), true
	}
	if held {
		options = append(options, "-H")
	}
	for i := range options {
		options[i] = quoted(options[i])
	}
	return strings.Join(options, " ")
}

// quoted returns a text as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// submit submits n jobs. Each job's script file has a lie as its name, so the lie is also in the job's command line.
func (h *hostileUser) submit(n int) {
	h.t.Helper()
	begin := time.Now()
	out, said, err := h.lab.Exec("mallory", h.script(n, ""), "bash")
	if accepted := len(strings.Fields(out)); float64(accepted) < float64(n)*h.accepted {
		h.t.Fatalf("%d of %d hostile jobs were accepted: %v\n%s", accepted, n, err, said)
	}
	h.t.Logf("%d hostile jobs within %.0f s", n, time.Since(begin).Seconds())
}

// script returns shell code that submits n jobs, and runs a command after each.
func (h *hostileUser) script(n int, between string) string {
	var b strings.Builder
	for range n {
		name := quoted(strings.ReplaceAll(h.lie(120), "/", "_"))
		fmt.Fprintf(&b, "printf '#!/bin/sh\\nsleep 600\\n' >%s; sbatch %s %s\n%s\n", name, h.options(), name, between)
	}
	return b.String()
}

// torment submits more jobs and changes texts until `stop` is called. `stop` returns the number of changes.
func (h *hostileUser) torment(more int) (stop func() int) {
	changes := 0
	var b strings.Builder
	b.WriteString("jobs=($(squeue -h -u mallory -t PD -o %A | head -40))\n")
	change := func() {
		fmt.Fprintf(&b, "[ ! -e enough ] || exit 0; scontrol update JobId=${jobs[RANDOM %% ${#jobs[@]}]} %s && echo changed; sleep 0.1\n", quoted([]string{"JobName=", "Comment="}[h.random.IntN(2)]+h.lie(800)))
	}
	for range more {
		b.WriteString(h.script(1, ""))
		change()
		change()
	}
	for range 1000 {
		change()
	}
	var running sync.WaitGroup
	running.Go(func() {
		out, _, _ := h.lab.Exec("mallory", b.String(), "bash") // the script ends when stop is called
		changes = strings.Count(out, "changed")
	})
	return func() int {
		h.t.Helper()
		h.lab.Run(h.t, "mallory", "touch", "enough")
		running.Wait()
		return changes
	}
}

// watch reads the cluster each second, as the sidecar does, and checks every snapshot, until `stop` is called.
// `stop` returns the number of readings.
func (h *hostileUser) watch(config slurm.Config) (stop func() int) {
	system, err := slurm.New(config)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	readings := 0
	var running sync.WaitGroup
	running.Go(func() {
		defer system.Close()
		for tick := time.NewTicker(time.Second); ; readings++ {
			begin := time.Now()
			s, err := system.Observe(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				h.t.Errorf("a reading fails: %v", err)
			} else {
				h.judge(s)
			}
			if took := time.Since(begin); took > 3*time.Second {
				h.t.Errorf("a reading took %v", took)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() int { cancel(); running.Wait(); return readings }
}

// judge checks that a snapshot shows none of mallory's texts as Slurm's own.
func (h *hostileUser) judge(s *adapter.Snapshot) {
	model := false
	seen := map[core.JobID]bool{}
	for _, j := range s.Jobs {
		what := fmt.Sprintf("job %d of %s, %s on %v, mark %q, in %q, expands %d", j.ID, j.User, j.State, j.Nodes, j.Mark, j.Reservation, j.Expands)
		switch {
		case seen[j.ID]:
			h.t.Errorf("%s occurs twice", what)
		case j.User == "alice":
			model = model || strconv.FormatInt(int64(j.ID), 10) == h.model && j.State == adapter.Running && len(j.Nodes) == 1 && j.Nodes[0] == "n16"
		case j.User == "" && j.State != adapter.Pending: // squeue has not verified the job yet; the snapshot shows only that the job holds its node
		case j.User != "mallory" || j.Mark != "" || j.Expands != 0 || j.Reservation != "" && j.Reservation != output.Park || j.Partition != "shared" && j.Partition != "main" || j.Want == 9:
			h.t.Errorf("mallory's text is trusted: %s", what)
		}
		if j.User != "alice" && j.State != adapter.Pending && (len(j.Nodes) != 1 || j.Nodes[0] != "n16" && j.Nodes[0] != "n1") {
			h.t.Errorf("mallory's text is trusted: %s", what)
		}
		seen[j.ID] = true
	}
	if !model {
		h.t.Error("alice's job is hidden")
	}
}

// countingByProgram does what countingClients does. It writes one log for each program, and one for all programs.
func countingByProgram(t *testing.T, dir string) (folder string) {
	t.Helper()
	folder = countingClients(t, filepath.Join(dir, "all"))
	path := filepath.Join(folder, "squeue")
	script, err := os.ReadFile(path)
	if err == nil {
		text := strings.Replace(string(script), "#!/bin/bash\n", fmt.Sprintf("#!/bin/bash\necho >>%q\n", filepath.Join(dir, "squeue")), 1)
		err = os.WriteFile(path, []byte(text), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// linesOf returns the number of lines of a file, or 0 if the file does not exist.
func linesOf(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}
