package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"accordion/internal/testenv"
)

// oarRelease is the environment variable with the release of OAR, 2.5 or 2.6, for tests that do not specify one.
const oarRelease = "ACCORDION_TEST_OAR_RELEASE"

// oarModules is an environment variable. If its value is "forked", OAR's server forks its modules, which takes much
// less CPU time. Otherwise the server starts each module as a program, as on a site. Tests that measure times need
// the server to start them.
const oarModules = "ACCORDION_TEST_OAR_MODULES"

// The databases that OAR supports.
const (
	PostgreSQL = "postgresql"
	MariaDB    = "mariadb"
)

// oarPatience limits one call of OAR's client programs, each of which starts Perl.
const oarPatience = 2 * time.Minute

// OARLab is a running OAR without pauses between its passes. Its nodes have one core each unless the option Cores
// sets another number. Each switch has four nodes. Each node has its own processes and sshd. Jobs run in cpusets on
// their nodes unless the option Plain is given.
type OARLab struct {
	Lab
	Database string // PostgreSQL or MariaDB
	Release  string // OAR's release: 2.5 or 2.6
	Without  string // why the lab has no cpusets; "" if it has them

	slot     int
	database database
}

// Started makes OAR's server start each module as a program, whatever the environment variable says. It is for
// tests that depend on the time that this takes.
func Started() Option { return func(s *spec) { s.forked = false } }

// Database sets OAR's database: PostgreSQL, the default, or MariaDB.
func Database(name string) Option { return func(s *spec) { s.database = name } }

// OAR boots a lab for one test and takes it down when the test ends. It skips the test unless real OARs are
// requested (package testenv). It also skips the test if OAR's release does not support the database.
func OAR(t testing.TB, nodes int, options ...Option) *OARLab {
	t.Helper()
	lab, err := bootOAR(t, nodes, oarSpec(t, options))
	if err != nil {
		t.Fatal(err)
	}
	endWith(t, lab)
	return lab
}

// oarSpec returns the specification of the lab, or skips the test.
func oarSpec(t testing.TB, options []Option) spec {
	t.Helper()
	testenv.Needs(t, testenv.OAR)
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "mount", "-t", "proc", "proc", "/proc").CombinedOutput(); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", fmt.Sprintf("this machine makes none: %v: %s", err, out)))
	}
	s := specified(spec{database: PostgreSQL, release: cmp.Or(os.Getenv(oarRelease), "2.5"), cores: 1, fast: true, forked: os.Getenv(oarModules) == "forked"}, options)
	if s.release != "2.5" && s.database == MariaDB {
		t.Skipf("OAR %s does not work with the MariaDB of its Debian", s.release)
	}
	return s
}

func bootOAR(t testing.TB, nodes int, s spec) (*OARLab, error) {
	t.Helper()
	tool := Tool(t, "oar-lab")
	// Slot 0 of oar-lab is for labs that are booted by hand.
	slot, err := takeSlot("accordion-oar-lab", 1, 15, func(s slot) error { return empty(twoLabsDir(s)) })
	if err != nil {
		return nil, err
	}
	lab := &OARLab{Database: s.database, Release: s.release, slot: slot.number,
		Lab: Lab{Dir: slot.dir, Nodes: nodes, tool: tool, init: "init", patience: oarPatience, pause: 250 * time.Millisecond, logs: []string{"lab.log", "oar.log"}, free: slot.free}}
	lab.database.kind, lab.database.directory = s.database, filepath.Join(lab.Dir, "db")
	lab.settings = []string{"OAR_LAB_DIR=" + lab.Dir, fmt.Sprintf("OAR_LAB_SLOT=%d", lab.slot)}
	var said map[string]string
	if err = lab.boot(append(s.arguments(nodes), "--db", s.database, "--cores", fmt.Sprint(s.cores))); err == nil {
		said, err = lab.said("lab")
	}
	switch lab.Without = said["without"]; {
	case err != nil:
	case lab.Without != "" && testenv.Required("oar") && s.release == "2.5": // 2.6 is exempt, because no lab can make the cpusets that Debian 13's OAR needs
		err = errors.New("lab: no cpusets: " + lab.Without)
	case lab.Without != "":
		t.Log("no cpusets: " + lab.Without)
	case s.plain:
		lab.Without = "a plain lab"
	}
	if err != nil {
		return nil, errors.Join(err, errors.New(lab.lastWords()), lab.down())
	}
	return lab, nil
}

// NeedCpusets skips a test if the lab has no cpusets.
func (lab *OARLab) NeedCpusets(t testing.TB) {
	t.Helper()
	if lab.Without != "" {
		t.Skip("no cpusets: " + lab.Without)
	}
}

// UID returns the user ID of the n-th user, counted from 0.
func (lab *OARLab) UID(n int) int { return 58001 + 100*lab.slot + n }

// Exec runs a client command as the user, in the user's directory. It returns standard output and standard error,
// each without the last newline. If the command ran and failed, the error is an *exec.ExitError.
func (lab *OARLab) Exec(user string, command ...string) (stdout, stderr string, err error) {
	return lab.ExecWithin(oarPatience, user, command...)
}

// ExecWithin does what Exec does, with a time limit.
func (lab *OARLab) ExecWithin(patience time.Duration, user string, command ...string) (stdout, stderr string, err error) {
	return lab.callAs(patience, user, "", command)
}

// On does what Exec does, on one of the nodes.
func (lab *OARLab) On(node, user string, command ...string) (stdout, stderr string, err error) {
	return lab.call(oarPatience, "", append([]string{"exec", "--node", node, "--user", user, "--"}, command...)...)
}

var jobID = regexp.MustCompile(`(?m)^OAR_JOB_ID=([0-9]+)$`)

// Submit submits a command with oarsub and the options as the user, and returns the job's number.
func (lab *OARLab) Submit(t testing.TB, user, command string, options ...string) string {
	t.Helper()
	return lab.oarsub(t, user, command, options...)
}

// oarsub submits a command with the lab's oarsub as the user, and returns the job's number.
func (lab *Lab) oarsub(t testing.TB, user, command string, options ...string) string {
	t.Helper()
	out := lab.Run(t, user, append(append([]string{"oarsub"}, options...), command)...)
	m := jobID.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("oarsub gave no job: %s", out)
	}
	return m[1]
}

// Notify sends a word such as Scheduling or ChState to OAR's server, as oarnotify does. Tests do this often, and
// oarnotify would start Perl each time.
func (lab *OARLab) Notify(t testing.TB, word string) {
	t.Helper()
	lab.Run(t, "root", "bash", "-c", `echo "$0" >/dev/tcp/127.0.0.1/6666`, word)
}

// State returns a job's state as OAR names it.
func (lab *OARLab) State(t testing.TB, id string) string {
	t.Helper()
	return lab.SQL(t, "select state from jobs where job_id = "+id)
}

// tell adds OAR's tables of the jobs to the output if the test failed.
func (lab *OARLab) tell(t testing.TB) {
	t.Helper()
	if !t.Failed() {
		return
	}
	jobs, _, err := lab.call(oarPatience, "", "sql", "select job_id, state, queue_name, message from jobs order by job_id")
	t.Logf("%s\njobs: %s %v", lab.lastWords(), jobs, err)
}
