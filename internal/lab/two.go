package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TwoLabs is a running OAR and a running Slurm in one world. Each has its own scheduling settings and its own nodes
// n1, n2… A user has the same ID and directory in both. `serve` starts one sidecar that serves both, as the
// clusters oar and slurm.
type TwoLabs struct {
	Lab       // its Nodes is the number of nodes of both systems; Dir/oar and Dir/slurm are the directories of the two labs
	OAR   int // number of OAR's nodes
	Slurm int // number of Slurm's nodes

	database database
}

// Delegate makes the sidecar of both systems serve launchers. `section` is the text of the sidecar's section
// [delegate] without the journal. The section " " keeps the defaults.
func Delegate(section string) Option {
	return func(s *spec) { s.settings = append(s.settings, "TWO_LABS_DELEGATE="+section) }
}

// Two boots an OAR and a Slurm with the given numbers of nodes for one test, and takes them down when the test
// ends. It accepts the options Users and Delegate. It skips the test unless real OARs and Slurms are requested.
func Two(t testing.TB, oar, slurm int, options ...Option) *TwoLabs {
	t.Helper()
	NeedSlurm(t)
	s := oarSpec(t, options)
	tool := Tool(t, "two-labs")
	slot, err := takeSlot("accordion-oar-lab", 1, 15, func(s slot) error { return empty(s.dir) }) // OAR's control groups are named after the slot
	if err != nil {
		t.Fatal(err)
	}
	lab := &TwoLabs{OAR: oar, Slurm: slurm, Lab: Lab{Dir: twoLabsDir(slot), Nodes: oar + slurm, tool: tool, init: "oar/init", patience: oarPatience, pause: 250 * time.Millisecond,
		logs: []string{"accordion.log"}, free: slot.free}}
	lab.database.kind, lab.database.directory = PostgreSQL, filepath.Join(lab.Dir, "oar", "db")
	lab.settings = append([]string{"TWO_LABS_DIR=" + lab.Dir, fmt.Sprintf("TWO_LABS_SLOT=%d", slot.number)}, s.settings...)
	arguments := []string{"up", fmt.Sprint(oar), fmt.Sprint(slurm)}
	for _, user := range s.users {
		arguments = append(arguments, "--user", user)
	}
	if s.forked {
		arguments = append(arguments, "--forked")
	}
	if err := lab.boot(arguments); err != nil {
		t.Fatal(errors.Join(err, lab.down()))
	}
	endWith(t, lab)
	return lab
}

// down closes the connections to OAR's database before it takes the lab down.
func (lab *TwoLabs) down() error {
	lab.database.leave()
	return lab.Lab.down()
}

func twoLabsDir(s slot) string { return fmt.Sprintf("/var/tmp/accordion-two-labs-%d", s.number) }

// empty returns an error if another kind of lab has left something in the slot's directory.
func empty(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("a lab was left in %s: take it down", dir)
	}
	return nil
}

// Exec runs a command as the user, in the user's directory. The command can use the client programs of both
// systems. `text` is the standard input. Exec returns standard output and standard error, each without the last
// newline. If the command ran and failed, the error is an *exec.ExitError.
func (lab *TwoLabs) Exec(user, text string, command ...string) (stdout, stderr string, err error) {
	return lab.callAs(oarPatience, user, text, command)
}

// Sbatch submits a batch script with sbatch and the options as the user, and returns the job's number.
func (lab *TwoLabs) Sbatch(t testing.TB, user, script string, options ...string) string {
	t.Helper()
	out, errs, err := lab.Exec(user, "#!/bin/bash\n"+script+"\n", append([]string{"sbatch", "--parsable"}, options...)...)
	if err != nil {
		t.Fatalf("sbatch %s as %s: %v\n%s", strings.Join(options, " "), user, err, errs)
	}
	return out
}

// Oarsub submits a command with oarsub and the options as the user, and returns the job's number.
func (lab *TwoLabs) Oarsub(t testing.TB, user, command string, options ...string) string {
	t.Helper()
	return lab.oarsub(t, user, command, options...)
}

// AwaitSaved waits until slurmctld has saved the current state of its jobs, as SlurmLab.AwaitSaved does.
func (lab *TwoLabs) AwaitSaved(t testing.TB) {
	t.Helper()
	lab.awaitSaved(t, filepath.Join(lab.Dir, "slurm", "state"))
}

// SQL returns the result of a query to OAR's database: a line for each row, with fields separated by |.
func (lab *TwoLabs) SQL(t testing.TB, query string) string {
	t.Helper()
	return lab.database.asked(t, query)
}

// File reads a file in the user's directory, or returns "" if it does not exist.
func (lab *TwoLabs) File(user, name string) string {
	text, err := os.ReadFile(filepath.Join(lab.Dir, "oar", "home", user, name))
	if err != nil {
		return ""
	}
	return string(text)
}
