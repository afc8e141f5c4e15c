// Package labtest gives tests a real OAR: a lab of scripts/oar-lab that leaves nothing behind.
//
// Several tests may have labs at once, of one process or of several: each takes a slot of its own, and waits while none is free. It is
// not for product code, and it does not know what Accordion does with the OAR.
//
//	func TestAJobRuns(t *testing.T) {
//		lab := labtest.Up(t, 4)
//		id := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-l", "nodes=2,walltime=0:1:0")
//		lab.Await(t, time.Minute, "the job ends", func() bool { return lab.State(t, id) == "Terminated" })
//	}
package labtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Required is the environment variable that, when set to anything, makes a test fail that would be skipped because OAR is
// not installed, or that would do without cpusets because the machine has no control groups for them. Where it lets nobody
// make namespaces, a test is skipped all the same.
const Required = "ACCORDION_TEST_OAR"

// Version is the environment variable that names OAR's release, 2.5 or 2.6, of labs whose test does not name one.
const Version = "ACCORDION_TEST_OAR_RELEASE"

// The databases that OAR can have.
const (
	PostgreSQL = "postgresql"
	MariaDB    = "mariadb"
)

// Patience bounds one call of a client program. It is long: a loaded machine is slow, and a test awaits events anyway.
const Patience = 2 * time.Minute

// Lab is a running OAR, without pauses between its passes. Its nodes are n1, n2… with a core each, unless Cores says otherwise; four
// share a switch. Each has processes and an sshd of its own, and jobs run there in cpusets, unless Plain says otherwise.
type Lab struct {
	Dir      string // its directory; Dir/log has the logs, Dir/home/USER each user's files
	Nodes    int
	Database string // PostgreSQL or MariaDB
	Release  string // of OAR: 2.5 or 2.6
	Without  string // why it has no cpusets; "": it has

	slot int
	tool string // scripts/oar-lab
}

// Option changes how a lab is booted.
type Option func(*spec)

// spec is how a lab is to be.
type spec struct {
	database, release string
	cores             int
	plain             bool
	users             []string
}

// Database names OAR's database: PostgreSQL, unless this says otherwise, or MariaDB.
func Database(name string) Option { return func(s *spec) { s.database = name } }

// Users names the users; alice is the only one otherwise.
func Users(names ...string) Option { return func(s *spec) { s.users = names } }

// Cores is how many cores, each a resource of OAR's, a node has.
func Cores(n int) Option { return func(s *spec) { s.cores = n } }

// Plain is a lab without cpusets, whose nodes are one machine: for many nodes, and for what no site has.
func Plain() Option { return func(s *spec) { s.plain = true } }

// Release names the release of OAR, whatever the environment says.
func Release(name string) Option { return func(s *spec) { s.release = name } }

// Up boots a lab for one test and takes it down when the test ends. Where no OAR can be had (not root, not installed,
// no namespaces, -short) the test is skipped, or fails if Required is set; so it is where OAR's release does not work with the
// database.
func Up(t testing.TB, nodes int, options ...Option) *Lab {
	t.Helper()
	obtainable(t)
	s := spec{database: PostgreSQL, release: cmp.Or(os.Getenv(Version), "2.5"), cores: 1}
	for _, o := range options {
		o(&s)
	}
	if s.release != "2.5" && s.database == MariaDB {
		t.Skipf("OAR %s does not work with the MariaDB of its Debian", s.release)
	}
	tool := Tool(t)
	slot := takeSlot(t)
	lab := &Lab{Dir: fmt.Sprintf("/var/tmp/accordion-oar-labtest-%d", slot), Nodes: nodes, Database: s.database, Release: s.release, slot: slot, tool: tool}
	// Left by a test process that was killed.
	if err := lab.do(2*time.Minute, "down"); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"up", fmt.Sprint(nodes), "--fast", "--db", s.database, "--release", s.release, "--cores", fmt.Sprint(s.cores)}
	for _, user := range s.users {
		arguments = append(arguments, "--user", user)
	}
	if s.plain {
		arguments = append(arguments, "--plain")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lab.lastWords())
		}
		if err := lab.do(2*time.Minute, "down"); err != nil {
			t.Error(err)
		}
	})
	said, failure, err := lab.call(30*time.Minute, arguments...)
	if err != nil {
		t.Fatalf("oar-lab %s: %v\n%s\n%s", strings.Join(arguments, " "), err, said, failure)
	}
	if _, why, without := strings.Cut(said, "without cpusets: "); without {
		lab.Without = why
		// Debian 13's OAR makes them in a way that no lab can.
		if os.Getenv(Required) != "" && s.release == "2.5" {
			t.Fatal("no cpusets: " + why)
		}
		t.Log("no cpusets: " + why)
	} else if s.plain {
		lab.Without = "a plain lab"
	}
	return lab
}

// NeedCpusets skips a test where the lab has none.
func (lab *Lab) NeedCpusets(t testing.TB) {
	t.Helper()
	if lab.Without != "" {
		t.Skip("no cpusets: " + lab.Without)
	}
}

// Tool is the path of scripts/oar-lab.
func Tool(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, "scripts", "oar-lab")
		}
	}
	t.Fatal("labtest: no go.mod above the test: run it inside the repository")
	return ""
}

func obtainable(t testing.TB) {
	t.Helper()
	why := ""
	if testing.Short() {
		why = "-short is set"
	} else if os.Geteuid() != 0 {
		why = "a lab needs root"
	} else if _, err := os.Stat("/usr/sbin/oar-server"); err != nil {
		why = "OAR is not installed (scripts/test installs it)"
	}
	if why != "" && os.Getenv(Required) != "" {
		t.Fatal("no real OAR: " + why)
	}
	if why != "" {
		t.Skip("no real OAR: " + why)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "mount", "-t", "proc", "proc", "/proc").CombinedOutput(); err != nil {
		t.Skipf("no real OAR: this machine makes no namespaces: %v: %s", err, out)
	}
}

// slots is how many labs of tests there can be at once. They have oar-lab's slots 1, 2…: 0 is for labs that are booted by hand.
const slots = 4

// takeSlot waits until a slot is free, and holds it until the test ends. A socket in Linux's abstract namespace is the lock: it is free
// again however the process ends, and leaves no file.
func takeSlot(t testing.TB) int {
	t.Helper()
	for end := time.Now().Add(30 * time.Minute); ; {
		for slot := 1; slot <= slots; slot++ {
			held, err := net.Listen("unix", fmt.Sprintf("@accordion-oar-labtest-%d", slot))
			if err == nil {
				t.Cleanup(func() { _ = held.Close() })
				return slot
			}
			if time.Now().After(end) {
				t.Fatalf("labtest: other tests have had all %d slots for half an hour: %v", slots, err)
			}
		}
		time.Sleep(200 * time.Millisecond) // the locks have no event to wait for
	}
}

// UID is the number that the n-th of the users has, counted from 0.
func (lab *Lab) UID(n int) int { return 58001 + 100*lab.slot + n }

// command is one call of oar-lab.
func (lab *Lab) command(ctx context.Context, arguments ...string) *exec.Cmd {
	foreign := regexp.MustCompile(`^(OAR|ACCORDION)`)
	c := exec.CommandContext(ctx, lab.tool, arguments...)
	c.Env = append(slices.DeleteFunc(os.Environ(), foreign.MatchString), "OAR_LAB_DIR="+lab.Dir, fmt.Sprintf("OAR_LAB_SLOT=%d", lab.slot))
	c.WaitDelay = 5 * time.Second
	return c
}

func (lab *Lab) do(patience time.Duration, arguments ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := lab.command(ctx, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("oar-lab %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Do runs a command of oar-lab on this lab: "node", "Absent", "n3"; "kill-almighty".
func (lab *Lab) Do(t testing.TB, arguments ...string) {
	t.Helper()
	if err := lab.do(3*time.Minute, arguments...); err != nil {
		t.Fatal(err)
	}
}

// Try is Do for a command that may fail.
func (lab *Lab) Try(arguments ...string) error { return lab.do(3*time.Minute, arguments...) }

// Exec runs a client command as the user, in his directory. It returns what it printed on standard output and on standard
// error, without the last line's end; the error is of type *exec.ExitError when the command ran and failed.
func (lab *Lab) Exec(user string, command ...string) (stdout, stderr string, err error) {
	return lab.ExecWithin(Patience, user, command...)
}

// ExecWithin is Exec for a command that takes long, and is ended when the patience is over.
func (lab *Lab) ExecWithin(patience time.Duration, user string, command ...string) (stdout, stderr string, err error) {
	return lab.call(patience, append([]string{"exec", "--user", user, "--"}, command...)...)
}

func (lab *Lab) call(patience time.Duration, arguments ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := lab.command(ctx, arguments...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return strings.TrimRight(out.String(), "\n"), strings.TrimRight(errs.String(), "\n"), err
}

// On is Exec on a node.
func (lab *Lab) On(node, user string, command ...string) (stdout, stderr string, err error) {
	return lab.call(Patience, append([]string{"exec", "--node", node, "--user", user, "--"}, command...)...)
}

// Run is Exec for a command that must succeed; it returns its standard output.
func (lab *Lab) Run(t testing.TB, user string, command ...string) string {
	t.Helper()
	out, errs, err := lab.Exec(user, command...)
	if err != nil {
		t.Fatalf("%s as %s: %v\n%s\n%s", strings.Join(command, " "), user, err, out, errs)
	}
	return out
}

var jobID = regexp.MustCompile(`(?m)^OAR_JOB_ID=([0-9]+)$`)

// Submit gives a command to oarsub as the user, with the options, and returns the job's number.
func (lab *Lab) Submit(t testing.TB, user, command string, options ...string) string {
	t.Helper()
	out := lab.Run(t, user, append(append([]string{"oarsub"}, options...), command)...)
	m := jobID.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("oarsub gave no job: %s", out)
	}
	return m[1]
}

// SQL is the answer of OAR's database: a row a line, its fields separated by |.
func (lab *Lab) SQL(t testing.TB, query string) string {
	t.Helper()
	out, errs, err := lab.call(Patience, "sql", query)
	if err != nil {
		t.Fatalf("%s: %v\n%s", query, err, errs)
	}
	return out
}

// Answers says whether OAR's database does.
func (lab *Lab) Answers() bool {
	_, _, err := lab.call(Patience, "sql", "select 1")
	return err == nil
}

// State is a job's state, as OAR calls it.
func (lab *Lab) State(t testing.TB, id string) string {
	t.Helper()
	return lab.SQL(t, "select state from jobs where job_id = "+id)
}

// Await waits until the condition holds; the test fails when it does not within the patience.
func (lab *Lab) Await(t testing.TB, patience time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain until %s\njobs: %s", patience, what, lab.SQL(t, "select job_id, state, queue_name, message from jobs order by job_id"))
		}
		time.Sleep(100 * time.Millisecond) // OAR has no event to wait for
	}
}

// lastWords is the end of OAR's log, for a failed test.
func (lab *Lab) lastWords() string {
	var all []string
	for _, name := range []string{"lab.log", "oar.log"} {
		text, err := os.ReadFile(filepath.Join(lab.Dir, "log", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, err.Error())
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all = append(all, "the end of "+name+":\n"+strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return strings.Join(all, "\n")
}
