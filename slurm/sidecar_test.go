package slurm_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/audit"
	"accordion/adapter/view"
	"accordion/internal/lab"
	"accordion/slurm/output"
)

// long is the flag that selects the complete form of tests. Otherwise these tests run a sample. The bounds of the
// complete form hold only on an idle machine: go test ./slurm -args -accordion.long
var long = flag.Bool("accordion.long", false, "walk through everything, and judge times strictly")

// process is an `accordion serve` that the test starts, kills and restarts.
type process struct {
	t      *testing.T
	lab    *lab.SlurmLab
	config string
	log    string
	within []string // a command that runs the sidecar's command; empty if the sidecar is started directly
	flags  []string // flags of serve besides --config
	pid    int
	ended  chan struct{} // closed when the process has ended

	since    time.Time
	audited  bool         // whether everything since the first start was audited
	unjudged []audit.Kind // kinds of audit findings that the test causes on purpose
}

// serving starts a sidecar for the lab. `more` holds lines of the sidecar's configuration, beginning in section
// [slurm]. When the test ends, `accordion audit` checks the time since the sidecar's start and must find nothing.
// Then the sidecar is stopped.
func serving(t *testing.T, lab *lab.SlurmLab, more string) *process {
	t.Helper()
	p := &process{t: t, lab: lab, config: filepath.Join(lab.Dir, "etc", "accordion.toml"), log: filepath.Join(lab.Dir, "log", "accordion.log")}
	text := fmt.Sprintf("cluster = \"lab\"\n[limits]\nshortest_step = \"0s\"\n[journal]\npath = %q\n[session]\nsocket = %q\n[log]\nlevel = \"debug\"\n[slurm]\nconf = %q\n%s\n",
		filepath.Join(lab.Dir, "journal", "journal.db"), p.socket(), lab.Conf(), more)
	if err := os.WriteFile(p.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Log(p.diagnosis())
		}
	})
	p.since = time.Now()
	t.Cleanup(p.audit)
	p.start()
	return p
}

// audit fails the test if `accordion audit` finds anything in the time since the sidecar's first start. Only the
// first call does this.
func (p *process) audit() {
	p.t.Helper()
	if !p.audited {
		p.audited = true
		runAudit(p.t, p.lab, p.since, nil, p.unjudged...)
	}
}

func (p *process) socket() string { return filepath.Join(p.lab.Dir, "run", "accordion.sock") }

// start starts another sidecar. It waits until the sidecar has read its journal and accepts sessions, or has ended.
func (p *process) start() {
	p.t.Helper()
	c := p.command(context.Background()) // the sidecar outlives the test's context; Cleanup stops it
	words, err := c.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.pid, p.ended = c.Process.Pid, make(chan struct{})
	ready, copied := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(copied)
		defer log.Close()
		lines := bufio.NewReader(words)
		for told := false; ; {
			line, err := lines.ReadBytes('\n')
			_, _ = log.Write(line)
			if !told && bytes.Contains(line, []byte("accordion: ready")) {
				told = true
				close(ready)
			}
			if err != nil {
				return
			}
		}
	}()
	ended := p.ended
	go func() {
		<-copied
		_ = c.Wait() // the test ended the sidecar, or its log has the reason
		close(ended)
	}()
	select {
	case <-ready:
	case <-ended:
		if !p.killed(c) {
			p.t.Fatalf("the sidecar did not start\n%s", p.diagnosis())
		}
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("the sidecar is not ready\n%s", p.diagnosis())
	}
}

// command returns the command that starts the sidecar.
func (p *process) command(ctx context.Context) *exec.Cmd {
	line := slices.Concat(p.within, []string{filepath.Join(p.lab.Dir, "bin", "accordion"), "serve", "--config", p.config}, p.flags)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = p.lab.Env()
	return c
}

// killed reports whether the process, which has ended, was ended by kill -9.
func (p *process) killed(c *exec.Cmd) bool {
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// endBy sends a signal and waits until the process has ended.
func (p *process) endBy(signal syscall.Signal) {
	p.t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	_ = syscall.Kill(p.pid, signal)
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.t.Errorf("the sidecar outlives signal %v", signal)
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
		<-p.ended
	}
}

func (p *process) kill() { p.t.Helper(); p.endBy(syscall.SIGKILL) }
func (p *process) stop() { p.t.Helper(); p.endBy(syscall.SIGTERM) }

// accordion runs an accordion command as root and returns its output.
func (p *process) accordion(command ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.lab.Dir, "bin", "accordion"), append(command, "--config", p.config)...)
	c.Env = p.lab.Env()
	out, err := c.Output()
	if err != nil {
		p.t.Fatalf("accordion %s: %v", strings.Join(command, " "), err)
	}
	return string(out)
}

// view returns a job from `accordion status --json`, or nil if the job is not a managed one.
func (p *process) view(job string) *view.Job {
	p.t.Helper()
	var v view.Status
	if err := json.Unmarshal([]byte(p.accordion("status", "--json")), &v); err != nil {
		p.t.Fatalf("accordion status --json: %v", err)
	}
	for _, j := range v.Jobs {
		if fmt.Sprint(j.ID) == job {
			return &j
		}
	}
	return nil
}

// An entry is one line of `accordion journal --json`.
type entry struct {
	At        time.Time      `json:"at"`
	Kind      string         `json:"kind"`
	Job       int64          `json:"job"`
	Submitted int64          `json:"submitted"`
	Verb      string         `json:"verb"`
	Text      string         `json:"text"`
	Args      map[string]any `json:"args"`
	Outcome   string         `json:"outcome"`
}

// journal returns the journal's entries of a job, in order.
func (p *process) journal(job string) []entry {
	p.t.Helper()
	return entries(p.t, p.accordion("journal", "--json", "--job", job))
}

// journalSince returns the journal's entries of all jobs since an instant, in order. Tests use a lab one after the
// other, so the complete journal also has events of earlier tests.
func (p *process) journalSince(since time.Time) []entry {
	p.t.Helper()
	return slices.DeleteFunc(entries(p.t, p.accordion("journal", "--json")), func(e entry) bool { return e.At.Before(since) })
}

// entries parses what `accordion journal --json` prints.
func entries(t *testing.T, text string) []entry {
	t.Helper()
	var all []entry
	for line := range strings.Lines(text) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("accordion journal --json: %q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// ofKind returns the events of some kinds among the entries, in order.
func ofKind(all []entry, kinds ...string) []entry {
	return slices.DeleteFunc(all, func(e entry) bool { return e.Kind != "event" || !slices.Contains(kinds, e.Verb) })
}

// events returns a job's events of some kinds, in order.
func (p *process) events(job string, kinds ...string) []entry {
	p.t.Helper()
	return ofKind(p.journal(job), kinds...)
}

// wrote reports whether the file was written since the sidecar was first started. A sidecar of an earlier test may
// have left an older file.
func (p *process) wrote(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.ModTime().Before(p.since)
}

// diagnosis returns the journal and the end of the sidecar's log, for a failed test.
func (p *process) diagnosis() string {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.lab.Dir, "bin", "accordion"), "journal", "--config", p.config)
	c.Env = p.lab.Env()
	journal, _ := c.CombinedOutput()
	log, _ := os.ReadFile(p.log)
	return fmt.Sprintf("the journal:\n%s\nthe end of the sidecar's log:\n%s", tail(string(journal), 150), tail(string(log), 60))
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// runClient runs a Slurm client as root. It runs the client directly, because that is faster for polling than
// slurm-lab. It tries again while slurmctld does not answer, which happens for a moment when slurmctld reads its
// configuration.
func runClient(t *testing.T, lab *lab.SlurmLab, command ...string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Env, c.Dir = lab.Env(), lab.Dir
		var said strings.Builder
		c.Stderr = &said
		out, err := c.Output()
		cancel()
		if err == nil {
			return strings.TrimRight(string(out), "\n")
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v: %s", strings.Join(command, " "), err, said.String())
		}
		time.Sleep(200 * time.Millisecond) // Slurm does not report when it will answer
	}
}

// retryAs repeats a user's command until Slurm accepts it, and returns its output. On a busy machine Slurm reports
// idle nodes as busy for a moment. It also rejects changes of a job until it has the job's id in the database.
func retryAs(t *testing.T, lab *lab.SlurmLab, user string, command ...string) (out string) {
	t.Helper()
	said := ""
	defer func() {
		if t.Failed() && said != "" {
			t.Logf("%s as %s: %s", strings.Join(command, " "), user, said)
		}
	}()
	lab.Await(t, time.Minute, "Slurm does as "+user+" says: "+strings.Join(command, " "), func() bool {
		var err error
		out, said, err = lab.Exec(user, "", command...)
		return err == nil
	})
	return out
}

// awaitAllEnded waits until the sidecar has recorded the end of every job and has nothing in progress. The sidecar
// finds out that a job has ended only by its next reading.
func awaitAllEnded(t *testing.T, p *process) {
	t.Helper()
	p.lab.Await(t, time.Minute, "the sidecar knows no job", func() bool { return strings.Contains(p.accordion("status", "--json"), `"jobs":[]`) })
	p.lab.Await(t, time.Minute, "the journal knows how every action and every job ended", func() bool {
		runs := map[int64]bool{}
		for _, e := range p.journalSince(p.since) {
			switch {
			case e.Kind == "intent" && e.Outcome == "":
				return false
			case e.Verb == "started" && e.Args["ends"] != nil:
				runs[e.Job] = true
			case slices.Contains([]string{"ended", "requeued", "forgotten", "escaped"}, e.Verb): // these are recorded some seconds after the first reading without the job
				delete(runs, e.Job)
			}
		}
		return len(runs) == 0
	})
}

// assertClean checks that no job and none of the sidecar's reservations are left, and that every node is idle. It
// also runs a job on all nodes, to show that each can be used.
func assertClean(t *testing.T, p *process) {
	t.Helper()
	lab := p.lab
	id := ""
	defer func() {
		if t.Failed() { // details for the log: a node that cannot be used may still have an owner or a counted job, and a job may never end
			t.Log(tryClient(lab, "squeue", "-a", "-o", "%A %T %r %N") + "\n" + tryClient(lab, "scontrol", "-o", "-d", "show", "job", id) + "\n" +
				tryClient(lab, "scontrol", "-o", "show", "node"))
		}
	}()
	// If a job ended while its nodes were lost, Slurm keeps the job, with its nodes, until slurmctld is
	// reconfigured. The sidecar reconfigures slurmctld at most once a minute.
	lab.Await(t, 3*time.Minute, "no job is left", func() bool { return runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" })
	lab.Await(t, time.Minute, "no reservation is left", func() bool {
		return !strings.Contains(reservations(t, lab), adapter.Prefix)
	})
	awaitAllEnded(t, p)
	id = lab.Submit(t, "alice", "true", fmt.Sprintf("-N%d", lab.Nodes))
	lab.Await(t, 3*time.Minute, "an ordinary job runs on every node", func() bool {
		return strings.Contains(runClient(t, lab, "scontrol", "-o", "show", "job", id), "JobState=COMPLETED")
	})
	lab.Await(t, time.Minute, "every node is idle", func() bool {
		return len(strings.Fields(runClient(t, lab, "sinfo", "-h", "-p", "shared", "-t", "idle", "-N", "-o", "%N"))) == lab.Nodes
	})
}

// reservations returns the reservations that Slurm shows. It omits three that may stay: `Park`, in which managed
// jobs wait; the lease; and `Left`, which a stopped sidecar leaves for a minute.
func reservations(t *testing.T, lab *lab.SlurmLab) string {
	t.Helper()
	var shown strings.Builder
	for line := range strings.Lines(runClient(t, lab, "scontrol", "-o", "show", "reservation")) {
		_, name, _ := strings.Cut(line, "ReservationName=")
		name, _, _ = strings.Cut(name, " ")
		if name != output.Park && name != output.Lease && name != output.Left {
			shown.WriteString(line)
		}
	}
	return shown.String()
}
