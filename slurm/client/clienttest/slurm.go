package clienttest

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/core/hostlist"
)

// A Job is the present state of a job.
type Job struct {
	ID                                int
	Name, User, Partition             string
	UID, GID                          int
	State, Reason                     string // Slurm's names: PENDING, RUNNING, SUSPENDED, COMPLETING, COMPLETED, CANCELLED
	Nodes                             []string
	Batch                             bool // the job has a script, which runs on its first node
	Reservation, Mark, Comment        string
	Account, QOS, GRES                string // GRES are the generic resources requested on each node, such as tape:2
	Submitted, Started, Resized, Ends int64
	Limit                             int64 // minutes; 0 means UNLIMITED
	Memory                            int64 // MB of each node
	Expands                           int   // the parent of an expander; 0 if the job is not an expander
	Steps                             []string
}

// active reports whether the job holds nodes.
func (j *Job) active() bool {
	return slices.Contains([]string{"RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING"}, j.State)
}

// over reports whether the job has ended.
func (j *Job) over() bool { return !j.active() && j.State != "PENDING" }

// A Reservation is a reservation of a Slurm.
type Reservation struct {
	Name, User, Flags string
	Nodes             []string
	Start, End        int64
}

// A Slurm answers client programs in this process like the slurmctld of one release. Its texts were recorded from
// that release. It supports the commands that read, resize and end jobs, and those that change reservations. Its
// methods may be called from several goroutines.
type Slurm struct {
	Bin string // a directory that has a dummy file for each program, for callers that look programs up

	mu           sync.Mutex
	release      string
	config       map[string]string
	nodes        []string // lines of `show node`
	states       map[string]string
	partitions   []string // lines of `show partition`
	templates    map[string]string
	jobs         []*Job
	reservations []*Reservation
	last         int
	rules        []*Rule
	log          []string
}

// A Rule changes how a Slurm reacts to commands: with a refusal, a delay or garbage.
type Rule struct {
	At     string        // a regular expression that matches the command, as in "^salloc .*n3"
	Skip   int           // how many of the first matches are ignored
	Times  int           // how often the rule applies; 0 means always
	Delay  time.Duration // time before the answer; it ends at the program's deadline if that comes first
	Refuse string        // printed on standard error; the command is not carried out
	Print  string        // printed instead of the answer; the command is not carried out
	Before func()        // called before the command is carried out
	After  func()        // called after the command was carried out, before the program ends

	expression *regexp.Regexp
	met        int
}

// files holds samples of what each release prints: its settings, nodes, partitions, a reservation and jobs.
//
//go:embed testdata
var files embed.FS

// NewSlurm returns a Slurm of a release for which there are samples. It has six idle nodes in the partitions main
// and shared.
func NewSlurm(t testing.TB, release string) *Slurm {
	t.Helper()
	s := &Slurm{release: release, states: map[string]string{}, config: map[string]string{}, templates: map[string]string{}, last: 46 - 1}
	programs := map[string]string{}
	for _, name := range []string{"scontrol", "squeue", "salloc", "scancel", "strigger"} {
		programs[name] = "exit 1"
	}
	s.Bin = Programs(t, programs)
	text, err := files.ReadFile("testdata/" + release + ".txt")
	if err != nil {
		t.Fatalf("samples of Slurm %s: %v; slurm/conformance_test.go says how they are recorded", release, err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch key, value, setting := strings.Cut(line, "="); {
		case strings.HasPrefix(line, "NodeName="):
			s.nodes = append(s.nodes, line)
		case strings.HasPrefix(line, "ReservationName="):
			s.templates["reservation"] = line
		case strings.HasPrefix(line, "PartitionName="):
			s.partitions = append(s.partitions, line)
		case strings.HasPrefix(line, "JobId="):
			s.templates[field(line, "JobName")] = line
		case setting:
			s.config[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	s.config["SchedulerParameters"] = "permit_job_expansion"
	s.config["SlurmUser"] = "slurm(64030)"
	return s
}

// Set changes a setting of `show config`.
func (s *Slurm) Set(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config[key] = value
}

// Version returns the release in full, such as 22.05.8.
func (s *Slurm) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config["SLURM_VERSION"]
}

// SetPartition changes a field of a partition, such as OverSubscribe of main.
func (s *Slurm) SetPartition(name, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, line := range s.partitions {
		if field(line, "PartitionName") == name {
			s.partitions[i] = with(line, key, value)
		}
	}
}

// SetNode sets the state of a node, such as IDLE+DRAIN. Without it the state follows from the node's jobs, as it
// does again after a call with "".
func (s *Slurm) SetNode(name, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[name] = state
}

// Add adds a job and returns it. Fields that are not set get defaults: number, owner, partition, times, and the
// state RUNNING.
func (s *Slurm) Add(j Job) Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.add(j)
}

func (s *Slurm) add(j Job) *Job {
	if j.ID == 0 {
		j.ID = s.last + 1
	}
	s.last = max(s.last, j.ID)
	now := time.Now().Unix()
	fill := func(into *string, value string) {
		if *into == "" {
			*into = value
		}
	}
	fill(&j.Name, "wrap")
	if j.User == "" && j.UID == 0 {
		j.User, j.UID, j.GID = "alice", 61301, 1000
	}
	fill(&j.Partition, "main")
	fill(&j.State, "RUNNING")
	fill(&j.Reason, "None")
	fill(&j.QOS, "normal")
	if j.Submitted == 0 {
		j.Submitted = now
	}
	if j.Started == 0 && j.active() {
		j.Started = now
	}
	added := &j
	s.jobs = append(s.jobs, added)
	return added
}

// Job returns the present state of a job, or the zero Job if it does not exist.
func (s *Slurm) Job(id int) Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.job(id); j != nil {
		return *j
	}
	return Job{}
}

// Change changes a job, as its owner or an operator may at any time.
func (s *Slurm) Change(id int, change func(*Job)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.job(id); j != nil {
		change(j)
	}
}

// Reserve adds a reservation.
func (s *Slurm) Reserve(r Reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reservations = append(s.reservations, &r)
}

// Reservation returns the reservation with a name, or the zero Reservation if it does not exist.
func (s *Slurm) Reservation(name string) Reservation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.reservation(name); r != nil {
		return *r
	}
	return Reservation{}
}

// Rule adds a rule. The first of several matching rules applies.
func (s *Slurm) Rule(r Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.expression = regexp.MustCompile(r.At)
	s.rules = append(s.rules, &r)
}

// Log returns the changing commands since its last call.
func (s *Slurm) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.log
	s.log = nil
	return all
}

func (s *Slurm) job(id int) *Job {
	for _, j := range s.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

func (s *Slurm) reservation(name string) *Reservation {
	for _, r := range s.reservations {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// exited is a nonzero exit code as an error.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ExitCode returns the exit code, as *exec.ExitError does.
func (e exited) ExitCode() int { return int(e) }

// Execute carries out a client program. It is a client.Executor.
func (s *Slurm) Execute(ctx context.Context, cmd *exec.Cmd) error {
	program, args := filepath.Base(cmd.Path), cmd.Args[1:]
	if program == "scontrol" && strings.Join(args, " ") == "--oneliner --all" {
		return s.console(ctx, cmd)
	}
	out, said := s.carryOut(ctx, cmd, strings.Join(append([]string{program}, args...), " "))
	err := answer(ctx, cmd, out, said)
	if err != nil && s.release < "21" && strings.HasPrefix(said, "delete_reservation ") {
		return ctx.Err() // the real scontrol of 20.11 prints an error and exits with 0
	}
	if err != nil {
		return err
	}
	if program == "scontrol" && strings.HasSuffix(out, notFound) {
		return exited(1)
	}
	return nil
}

// answer writes a program's output and returns how the program ends.
func answer(ctx context.Context, cmd *exec.Cmd, out, said string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := io.WriteString(cmd.Stdout, out); err != nil {
		return err
	}
	if _, err := io.WriteString(cmd.Stderr, said); err != nil {
		return err
	}
	if said != "" && !strings.Contains(said, "Granted job allocation") {
		return exited(1)
	}
	return nil
}

// console carries out the lines of a scontrol's standard input. It prints a prompt before each.
func (s *Slurm) console(ctx context.Context, cmd *exec.Cmd) error {
	const prompt = "scontrol: "
	lines := bufio.NewScanner(cmd.Stdin)
	for {
		if _, err := io.WriteString(cmd.Stdout, prompt); err != nil {
			return err
		}
		if !lines.Scan() {
			return nil
		}
		var out, said string
		line := lines.Text()
		switch host, list := strings.CutPrefix(line, "show hostlist "); {
		case list:
			out = host + "\n"
		case !strings.Contains(line, " "):
			said = "invalid keyword: " + line + "\n"
		default:
			out, said = s.carryOut(ctx, cmd, "scontrol "+line)
		}
		if err := answer(ctx, cmd, out, said); err != nil && !errors.As(err, new(exited)) { // a console continues after a command that failed
			return err
		}
	}
}

// carryOut carries out a command, or applies the first rule that matches it.
func (s *Slurm) carryOut(ctx context.Context, cmd *exec.Cmd, command string) (out, said string) {
	command = strings.NewReplacer(" --oneliner", "", " --all", "").Replace(command)
	rule := s.match(command)
	if rule == nil {
		rule = &Rule{}
	}
	select {
	case <-ctx.Done():
		return "", ""
	case <-time.After(rule.Delay):
	}
	if rule.Before != nil {
		rule.Before()
	}
	if rule.Refuse != "" || rule.Print != "" {
		return rule.Print, rule.Refuse
	}
	s.mu.Lock()
	if !strings.HasPrefix(command, "scontrol show ") && !strings.HasPrefix(command, "squeue ") {
		s.log = append(s.log, command)
	}
	out, said = s.do(cmd, strings.Fields(command))
	s.mu.Unlock()
	if rule.After != nil {
		rule.After()
	}
	return out, said
}

// match returns the first rule that applies to a command, and counts it.
func (s *Slurm) match(command string) *Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		if !r.expression.MatchString(command) || r.Times > 0 && r.met >= r.Skip+r.Times {
			continue
		}
		if r.met++; r.met > r.Skip {
			return r
		}
	}
	return nil
}

// do carries out a command. The caller holds the lock.
func (s *Slurm) do(cmd *exec.Cmd, words []string) (out, said string) {
	options := map[string]string{}
	var plain []string
	for _, word := range words[1:] {
		if key, value, _ := strings.Cut(word, "="); strings.HasPrefix(word, "--") {
			options[key] = value
		} else {
			plain = append(plain, word)
		}
	}
	switch words[0] {
	case "scontrol":
		return s.scontrol(variable(cmd, "SLURM_TIME_FORMAT"), plain)
	case "squeue":
		return s.squeue(variable(cmd, "SQUEUE_FORMAT2"), options)
	case "salloc":
		return "", s.salloc(options)
	case "scancel":
		return "", s.scancel(plain)
	case "strigger":
		if by := cmd.SysProcAttr; by == nil || by.Credential == nil || !strings.HasSuffix(s.config["SlurmUser"], fmt.Sprintf("(%d)", by.Credential.Uid)) {
			return "", "slurm_set_trigger: Access/permission denied\n"
		}
		if j := s.job(atoi(options["--jobid"])); j == nil || j.over() {
			return "", "slurm_set_trigger: Job/step already completing or completed\n"
		}
		return "", ""
	}
	return "", words[0] + ": no such program\n"
}

// variable returns the last value of a variable in a program's environment.
func variable(cmd *exec.Cmd, name string) (value string) {
	for _, entry := range cmd.Env {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	return value
}

// field returns the value of a key in a line of KEY=VALUE words.
func field(line, key string) string {
	_, rest, found := strings.Cut(" "+line, " "+key+"=")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	return value
}

// with returns a line with the value of a key replaced. It returns the line unchanged if the line lacks the key.
func with(line, key, value string) string {
	before, rest, found := strings.Cut(" "+line, " "+key+"=")
	if !found {
		return line
	}
	_, after, more := strings.Cut(rest, " ")
	if more {
		after = " " + after
	}
	return strings.TrimPrefix(before+" "+key+"="+value+after, " ")
}

// compact returns a sorted host list as Slurm writes it, or "" if there are no nodes.
func compact(nodes []string) string {
	nodes = slices.Clone(nodes)
	hostlist.Sort(nodes)
	return hostlist.Compact(nodes)
}

// Database simulates a live slurmdbd: it listens on a port, closes each connection, and returns the port. It must
// be called outside a synctest bubble.
func Database(t testing.TB) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}
