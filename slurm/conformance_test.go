package slurm_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm"
	programs "accordion/slurm/client"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/growth"
	"accordion/slurm/output/outputtest"

	gocmp "github.com/google/go-cmp/cmp"
)

// Every run of the tests carries out the script testdata/conformance/script.txt on clienttest's Slurm, and on a real
// one if there is a lab. Both must give the answers that were recorded from that release:
//
//	go test ./slurm -run TestSlurmAnswersAsRecorded -accordion.record=.                       records them again (needs a lab)
//	scripts/slurm-lab world 26.05 -- sh -c 'go test ./slurm -run TestSlurmAnswersAsRecorded -accordion.record=/var/tmp >&2 &&
//		tar -C /var/tmp -c testdata client' | tar -C slurm -x                              … of another release
//
// Recording also writes samples of records for clienttest, from which its Slurm prints other records.
//
// A line of the script is one of these:
//
//	USER PROGRAM ARGUMENT …            a client program; $a is replaced by the id of job a, now+600 by a time
//	job NAME NODE …                    submits a job that sleeps, and waits until it runs
//	allocate NAME PARENT NODE …        salloc of an expander, without waiting
//	await NAME STATE; idle NODE        waits until a job has a state, or until a node is idle
//	show NAME; reservation NAME        the fields that Accordion reads
//	reserve, unreserve, expand, merge, shrink      verbs of the adapter; the answer is the error
//	until LINE                         repeats a line until it succeeds: a newer Slurm calls idle nodes busy for a moment
//	race LINE, and race LINE           runs two lines at the same time, and sorts their answers

var recordFlag = flag.String("accordion.record", "", "a folder, as this one, below which to write what the real Slurm answers to testdata/conformance/script.txt")

// A party is a fake or a real Slurm that carries out the script.
type party struct {
	*testing.T
	sys      *slurm.System
	exec     func(user string, words ...string) (stdout, stderr string, err error)
	submit   func(nodes []string) string
	patience time.Duration
	release  string // such as 22.05
	uid, gid string // of alice

	mu   sync.Mutex
	jobs map[string]adapter.Key
}

// answers carries out the script, and returns its lines with the answers.
func (p *party) answers() string {
	p.Helper()
	script, err := os.ReadFile("testdata/conformance/script.txt")
	if err != nil {
		p.Fatal(err)
	}
	p.jobs = map[string]adapter.Key{}
	var all strings.Builder
	race := ""
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSpace(line)
		switch other, races := strings.CutPrefix(line, "race "); {
		case line == "" || line[0] == '#':
		case races && race == "":
			race = other
		case races:
			fmt.Fprintf(&all, "> race %s\n> race %s\n", race, other)
			said := make([]string, 2)
			var both sync.WaitGroup
			both.Go(func() { said[0] = p.answer(race) })
			both.Go(func() { said[1] = p.answer(other) })
			both.Wait()
			slices.Sort(said)
			all.WriteString(strings.Join(said, ""))
			race = ""
		default:
			fmt.Fprintf(&all, "> %s\n%s", line, p.answer(line))
		}
	}
	return all.String()
}

// answer carries out one line of the script and returns the answer.
func (p *party) answer(line string) string {
	words := strings.Fields(line)
	name, rest := words[1], words[2:]
	job := func(i int) adapter.Key { p.mu.Lock(); defer p.mu.Unlock(); return p.jobs[words[i]] }
	ctx := p.Context()
	switch words[0] {
	case "job":
		id := p.submit(rest)
		p.recordJob(name, id)
		return p.await(name, "RUNNING")
	case "await":
		return p.await(name, rest[0])
	case "until":
		return p.until("ok", func() string { return strings.TrimSpace(p.answer(strings.TrimPrefix(line, "until "))) })
	case "idle":
		return p.until("idle", func() string {
			out, _, _ := p.exec("root", "scontrol", "--oneliner", "show", "node", name)
			_, state, _ := strings.Cut(out, " State=")
			if state, _, _ = strings.Cut(state, " "); state == "IDLE" || state == "IDLE+RESERVED" {
				return "idle"
			}
			return state
		})
	case "show":
		return p.fields([]string{"scontrol", "--oneliner", "show", "job", fmt.Sprint(job(1).ID)}, "JobState", "Reason", "Dependency", "Partition", "NodeList", "BatchHost", "NumNodes", "Reservation", "AdminComment")
	case "reservation":
		return p.fields([]string{"scontrol", "--oneliner", "show", "reservation", name}, "Nodes", "NodeCnt", "Flags", "Users", "State")
	case "allocate":
		args := []string{"salloc", "--no-shell", "--no-bell", "--chdir=/", "--partition=main", "--job-name=accordion-grow-" + fmt.Sprint(job(2).ID),
			fmt.Sprintf("--nodes=%d", len(rest)-1), "--nodelist=" + strings.Join(rest[1:], ","), "--mem=0", fmt.Sprintf("--dependency=expand:%d", job(2).ID),
			"--immediate"}
		user := "alice"
		if p.release < "23" { // on these releases root may allocate for alice
			user, args = "root", append(args, "--priority=TOP", "--uid="+p.uid, "--gid="+p.gid)
		}
		out, errs, err := p.exec(user, args...)
		if m := regexp.MustCompile(`Granted job allocation (\d+)`).FindStringSubmatch(errs); m != nil {
			p.recordJob(name, m[1])
			errs = m[0]
		}
		return p.formatOutput(out, errs, err)
	case "reserve":
		now := time.Now().Unix()
		return p.outcome(p.sys.Reserve(ctx, adapter.Reservation{Name: name, Nodes: rest, Start: now, End: now + 600, User: "alice"}))
	case "unreserve":
		return p.outcome(p.sys.Unreserve(ctx, name))
	case "expand":
		e, err := p.sys.Expand(ctx, &adapter.Job{Key: job(2)}, rest[2:], rest[1])
		if err == nil {
			p.mu.Lock()
			p.jobs[name] = e
			p.mu.Unlock()
		}
		return p.outcome(err)
	case "merge":
		return p.outcome(p.sys.Merge(ctx, job(2), job(1)))
	case "shrink":
		return p.outcome(p.sys.Shrink(ctx, job(1), rest))
	}
	out, errs, err := p.exec(words[0], p.substitute(words[1:])...)
	return p.formatOutput(out, errs, err)
}

// recordJob records the id of a job and the second of its submission.
func (p *party) recordJob(name, id string) {
	p.Helper()
	out, errs, err := p.exec("root", "squeue", "--noheader", "--states=all", "--jobs="+id, "-O", "JobID:|,SubmitTime:|")
	fields := strings.Split(out, "|")
	if err != nil || len(fields) < 2 {
		p.Errorf("job %s: %q %s %v", id, out, errs, err)
		return
	}
	var k adapter.Key
	var number int64
	_, err = fmt.Sscan(fields[0], &number)
	k.ID = core.JobID(number)
	if _, failed := fmt.Sscan(fields[1], &k.Submitted); failed != nil || err != nil {
		p.Errorf("job %s was submitted at %q", id, fields[1])
	}
	p.mu.Lock()
	p.jobs[name] = k
	p.mu.Unlock()
}

// await waits until a job has a state.
func (p *party) await(name, state string) string {
	p.Helper()
	p.mu.Lock()
	id := p.jobs[name].ID
	p.mu.Unlock()
	return p.until(state, func() string {
		out, _, _ := p.exec("root", "squeue", "--noheader", "--states=all", fmt.Sprintf("--jobs=%d", id), "-O", "State:|")
		return strings.TrimSuffix(strings.TrimSpace(out), "|")
	})
}

// until waits until `look` returns the wanted text.
func (p *party) until(wanted string, look func() string) string {
	now := ""
	for end := time.Now().Add(p.patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if now = look(); now == wanted {
			return "  " + now + "\n"
		}
	}
	return "  " + now + ", and not " + wanted + "\n"
}

// substitute replaces the names of jobs, and times such as now+600, by their values.
func (p *party) substitute(words []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(words)
	for i := range all {
		all[i] = strings.Replace(all[i], "now+600", fmt.Sprintf("uts%d", time.Now().Unix()+600), 1)
		for name, key := range p.jobs {
			all[i] = strings.ReplaceAll(all[i], "$"+name, fmt.Sprint(key.ID))
		}
	}
	return all
}

// formatOutput formats the output and exit of a program, with names of jobs in place of their ids.
func (p *party) formatOutput(out, errs string, err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := "  ok\n"
	if err != nil {
		text = "  failed\n"
	}
	for _, line := range strings.Split(out+"\n"+errs, "\n") {
		for name, key := range p.jobs {
			line = regexp.MustCompile(fmt.Sprintf(`\b%d\b`, key.ID)).ReplaceAllString(line, "$$"+name)
		}
		if line = regexp.MustCompile(`\b\d+\b`).ReplaceAllString(strings.TrimSpace(line), "NUMBER"); line != "" {
			text += "  | " + line + "\n"
		}
	}
	return text
}

// fields formats some fields of a record.
func (p *party) fields(command []string, keys ...string) string {
	out, errs, err := p.exec("root", command...)
	if err != nil {
		return p.formatOutput("", errs, err)
	}
	text := ""
	for _, key := range keys {
		_, rest, found := strings.Cut(" "+out, " "+key+"=")
		if value, _, _ := strings.Cut(rest, " "); found && value != "" {
			text += "  " + key + "=" + strings.TrimSpace(value) + "\n"
		}
	}
	return text
}

// outcome formats the error of a verb.
func (p *party) outcome(err error) string {
	if err == nil {
		return "  ok\n"
	}
	p.Logf("%v", err)
	for name, one := range map[string]error{"busy": adapter.ErrBusy, "gone": adapter.ErrGone, "trap": adapter.ErrTrap, "limit": adapter.ErrLimit, "shut": adapter.ErrShut, "frozen": adapter.ErrFrozen} {
		if errors.Is(err, one) {
			return "  " + name + "\n"
		}
	}
	return "  refused\n"
}

// recorded returns the path of a release's recorded answers.
func recorded(release string) string { return filepath.Join("testdata/conformance", release+".txt") }

// The fake Slurm of clienttest must answer as the real one did.
func TestTheFakeSlurmAnswersAsTheRealOneWasRecorded(t *testing.T) {
	files, err := filepath.Glob(recorded("[0-9]*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no answers were recorded: %v", err)
	}
	for _, file := range files {
		release := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			fake := clienttest.NewSlurm(t, release)
			fake.Set("TaskPlugin", "task/none")
			fake.Set("AccountingStoragePort", clienttest.Database(t))
			run := programs.New(programs.Config{Bin: fake.Bin, Execute: fake.Execute, Timeout: time.Minute, AtOnce: 6})
			t.Cleanup(run.Close)
			p := &party{T: t, sys: slurm.On(slurm.Config{Partitions: []string{"main"}, Growth: growth.Auto}, run), patience: time.Second, release: release, uid: "61301", gid: "1000"}
			p.exec = func(_ string, words ...string) (string, string, error) {
				var out, errs bytes.Buffer
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, []string{"SLURM_TIME_FORMAT=%s"}
				if i := slices.Index(words, "-O"); i >= 0 {
					cmd.Env = append(cmd.Env, "SQUEUE_FORMAT2="+words[i+1])
				}
				err := fake.Execute(t.Context(), cmd)
				return out.String(), errs.String(), err
			}
			p.submit = func(nodes []string) string {
				return fmt.Sprint(fake.Add(clienttest.Job{Nodes: nodes, Batch: true, Limit: 5}).ID)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.answers(); got != string(want) {
				t.Errorf("the fake does not answer as Slurm %s:\n%s", release, gocmp.Diff(string(want), got))
			}
		})
	}
}

// samples returns what the release prints of its settings, its nodes and partitions, a reservation, and three jobs:
// one with a script, one without, and a pending one.
func samples(t *testing.T, l *lab.SlurmLab) string {
	t.Helper()
	l.Clear(t)
	print := func(words ...string) string {
		return l.Run(t, "root", append([]string{"env", "SLURM_TIME_FORMAT=" + outputtest.Stamp + "%s", "scontrol", "--oneliner"}, words...)...) + "\n"
	}
	all := print("show", "config")
	l.Run(t, "root", "scontrol", "create", "reservation", "ReservationName=accordion-r1", "StartTime=now", "EndTime=now+60minutes", "Users=alice", "Flags=OVERLAP", "Nodes=n6")
	l.Submit(t, "alice", sleeps, "-J", "runs", "-p", "main", "-N2", "-t30", "-w", "n[1-2]", "-o", "/dev/null")
	l.Submit(t, "alice", sleeps, "-J", "managed", "-H", "-p", "main", "-N1", "-t30", "-o", "/dev/null")
	if _, errs, err := l.Exec("alice", "", "salloc", "-J", "alloc", "--no-shell", "-p", "main", "-N1", "-t30", "-w", "n3"); err != nil {
		t.Fatalf("salloc: %v\n%s", err, errs)
	}
	l.Await(t, patience, "two jobs run", func() bool { return strings.Count(print("show", "job"), " JobState=RUNNING ") == 2 })
	all += print("show", "node") + print("show", "reservation") + print("show", "partition")
	for line := range strings.Lines(print("show", "job")) { // the output also has the jobs of the script, which are left out
		if regexp.MustCompile(` JobName=(runs|managed|alloc) `).MatchString(line) {
			all += line
		}
	}
	return all
}

// TestSlurmAnswersAsRecorded compares a real Slurm with the recorded answers, or records them.
func TestSlurmAnswersAsRecorded(t *testing.T) {
	l := lab.TakeSlurm(t, 6, lab.Users("alice", "bob"), lab.Fast(), lab.NoPlugin(), lab.Plain())
	release := strings.Join(strings.Split(l.Slurm, ".")[:2], ".")
	sys, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: l.Conf(), Timeout: time.Minute, Reconfigure: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sys.Close)
	p := &party{T: t, sys: sys, patience: patience, release: release}
	p.uid, p.gid = l.Run(t, "root", "id", "-u", "alice"), l.Run(t, "root", "id", "-g", "alice")
	p.exec = func(user string, words ...string) (string, string, error) {
		return l.Exec(user, "", append([]string{"env", "SLURM_TIME_FORMAT=%s"}, words...)...)
	}
	p.submit = func(nodes []string) string {
		return l.Submit(t, "alice", sleeps, "-p", "main", fmt.Sprintf("-N%d", len(nodes)), "-t5", "-w", hostlist.Compact(nodes), "-o", "/dev/null")
	}
	got := p.answers()
	if *recordFlag != "" {
		for path, text := range map[string]string{recorded(release): got, "client/clienttest/testdata/" + release + ".txt": samples(t, l)} {
			path = filepath.Join(*recordFlag, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	want, err := os.ReadFile(recorded(release))
	if err != nil {
		t.Fatalf("%v: record them with -accordion.record", err)
	}
	if got != string(want) {
		t.Errorf("Slurm %s does not answer as recorded:\n%s", l.Slurm, gocmp.Diff(string(want), got))
	}
}
