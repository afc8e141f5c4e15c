// Package lab gives tests a real Slurm or a real OAR, or both: a lab of scripts/slurm-lab, oar-lab or two-labs that leaves nothing behind.
//
// Several tests may have labs at once, of one process or of several: each lab has a slot of its own. The package is not for product code,
// and it does not know what Accordion does with a batch system. Tests that boot an OAR are in folders with oar in their path: scripts/test --real
// runs them beside those that boot a Slurm.
//
//	func TestMain(m *testing.M) { os.Exit(lab.Main(m)) } // ends the labs that tests took from the pool
//
//	func TestAJobRuns(t *testing.T) {
//		four := lab.TakeSlurm(t, 4)
//		id := four.Submit(t, "alice", "srun -l hostname", "-N2")
//		four.Await(t, time.Minute, "the job ends", func() bool { return four.Run(t, "alice", "squeue", "-h", "-j", id) == "" })
//	}
package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Patience bounds one call of a client program. It is long: a loaded machine is slow, and a test awaits events anyway.
const Patience = time.Minute

// Lab is what the labs of both systems are. Its nodes are n1, n2…
type Lab struct {
	Dir   string // its directory; Dir/log has the daemons' logs, Dir/home/USER each user's files
	Nodes int    // how many

	tool     string        // scripts/slurm-lab, oar-lab or two-labs
	settings []string      // the tool's: KEY=VALUE
	patience time.Duration // with one call of a client program
	pause    time.Duration // between two looks at what is awaited, which no event tells
	logs     []string      // names of those whose ends say why a test failed
	free     func()        // gives the slot back
	people   people        // as whom client programs run
	init     string        // the file in Dir that names the first process of the lab's world; "": it lives in the machine's
}

// Option changes how a lab is booted. Those that say so are for one of the systems only.
type Option func(*spec)

// spec is how a lab is to be.
type spec struct {
	users       []string
	release     string
	cores       int
	plain, fast bool
	forked      bool     // modules of OAR's server
	database    string   // OAR's
	settings    []string // of slurm-lab
}

func specified(s spec, options []Option) spec {
	for _, o := range options {
		o(&s)
	}
	return s
}

// Users names the users; alice is the only one otherwise. In a Slurm the first, second and third are in the accounts phys, chem and cs,
// with fair shares of 10, 5 and 1; the fourth is in phys again.
func Users(names ...string) Option { return func(s *spec) { s.users = append(s.users, names...) } }

// Release is a lab of another release than this machine's: Slurm 20.11, 22.05, 24.11 or 26.05, OAR 2.5 or 2.6. Such a Slurm has processes
// and a network of its own: client programs reach it by Exec, and by Env where root calls them; a client with the ids of somebody else
// does not.
func Release(name string) Option { return func(s *spec) { s.release = name } }

// Cores is how many cores the system believes each node to have. Only a plain Slurm may have more than the machine; each is a resource of
// OAR's.
func Cores(n int) Option { return func(s *spec) { s.cores = n } }

// Plain is a Slurm that binds nothing and has no GPUs, accounts and shares: main is exclusive, and the first in the queue is served first.
// An OAR is without cpusets then, and its nodes are one machine: for many nodes, and for what no site has.
func Plain() Option { return func(s *spec) { s.plain = true } }

// arguments are those of `up` for both tools.
func (s spec) arguments(nodes int) []string {
	all := []string{"up", fmt.Sprint(nodes)}
	for _, user := range s.users {
		all = append(all, "--user", user)
	}
	if s.release != "" {
		all = append(all, "--release", s.release)
	}
	if s.plain {
		all = append(all, "--plain")
	}
	if s.fast {
		all = append(all, "--fast")
	}
	if s.forked {
		all = append(all, "--forked")
	}
	return all
}

// Tool is the path of a script: slurm-lab, oar-lab, two-labs.
func Tool(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, "scripts", name)
		}
		if at == filepath.Dir(at) {
			t.Fatalf("lab: no go.mod at or above %s: run the test inside the repository", dir)
		}
	}
}

// boot runs `up`, when what a killed test process left has been cleared away.
func (lab *Lab) boot(arguments []string) error {
	if err := lab.do(5*time.Minute, "down"); err != nil {
		return err
	}
	return lab.do(30*time.Minute, arguments...)
}

// said is what the tool says of the lab: its file has lines KEY=VALUE.
func (lab *Lab) said(file string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(lab.Dir, file))
	if err != nil {
		return nil, fmt.Errorf("lab: what was booted: %w", err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = value
	}
	return said, nil
}

// down takes the lab down, and gives its slot back.
func (lab *Lab) down() error {
	err := lab.do(5*time.Minute, "down")
	lab.free()
	return err
}

// booted is a lab of either system.
type booted interface {
	tell(t testing.TB)
	down() error
}

// endWith takes the lab down when the test is over.
func endWith(t testing.TB, lab booted) {
	t.Cleanup(func() {
		lab.tell(t)
		if err := lab.down(); err != nil {
			t.Error(err)
		}
	})
}

// tell gives the reader of a failed test the ends of the logs.
func (lab *Lab) tell(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Log(lab.lastWords())
	}
}

// clean is this process's environment without what would mislead the tools and client programs.
func clean() []string {
	foreign := regexp.MustCompile(`^((SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SINFO|SACCT|ACCORDION)_|OAR)`)
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return foreign.MatchString(variable) && !strings.HasPrefix(variable, "ACCORDION_LABS=") // where the tools keep releases
	})
}

// since tells the tools when this process began: one of its labs has the program built, and the later ones take the same.
var since = fmt.Sprintf("LAB_PROGRAM_SINCE=%d", time.Now().Unix())

// command is one call of the tool.
func (lab *Lab) command(ctx context.Context, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, lab.tool, arguments...)
	c.Env = append(append(clean(), since), lab.settings...)
	c.WaitDelay = 5 * time.Second
	return c
}

func (lab *Lab) do(patience time.Duration, arguments ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := lab.command(ctx, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(lab.tool), strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Shell returns a shell that runs the lines in the repository's folder, as an administrator types them there. Calls of the tool, such as
// ./scripts/slurm-lab serve, are about this lab.
func (lab *Lab) Shell(ctx context.Context, lines string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", lines)
	c.Dir = filepath.Dir(filepath.Dir(lab.tool))
	c.Env = append(append(clean(), since), lab.settings...)
	c.WaitDelay = 5 * time.Second
	return c
}

// Do runs a command of the tool on this lab: "node-kill", "n3"; "serve".
func (lab *Lab) Do(t testing.TB, arguments ...string) {
	t.Helper()
	if err := lab.Try(arguments...); err != nil {
		t.Fatal(err)
	}
}

// Try is Do for a command that may fail.
func (lab *Lab) Try(arguments ...string) error { return lab.do(3*time.Minute, arguments...) }

// call runs a command of the tool with that text as its standard input, and tells its outputs apart.
func (lab *Lab) call(patience time.Duration, text string, arguments ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return outputs(lab.command(ctx, arguments...), text)
}

// outputs runs a command with that text as its standard input.
func outputs(c *exec.Cmd, text string) (stdout, stderr string, err error) {
	c.Stdin = strings.NewReader(text)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return strings.TrimRight(out.String(), "\n"), strings.TrimRight(errs.String(), "\n"), err
}

// Run runs a client command that must succeed as the user, in his directory; it returns its standard output. One that only looks is run
// again where its connection broke.
func (lab *Lab) Run(t testing.TB, user string, command ...string) string {
	t.Helper()
	out, errs, err := lab.callAs(lab.patience, user, "", command)
	for tries := 1; err != nil && tries < 5 && looks(command) && broke(errs); tries++ {
		t.Logf("once more, for its connection broke: %s: %s", strings.Join(command, " "), errs)
		out, errs, err = lab.callAs(lab.patience, user, "", command)
	}
	if err != nil {
		t.Fatalf("%s as %s: %v\n%s\n%s", strings.Join(command, " "), user, err, out, errs)
	}
	return out
}

// looks says whether a command of Slurm's changes nothing.
func looks(command []string) bool {
	switch command[0] {
	case "squeue", "sinfo", "sacct", "sprio", "sshare":
		return true
	case "scontrol", "sacctmgr":
		return slices.Contains(command, "show")
	}
	return false
}

// broke says whether a client of Slurm lost its connection, as happens on a machine that is very busy: it does not try again by itself.
func broke(errs string) bool {
	return strings.Contains(errs, "Unexpected missing socket error") || strings.Contains(errs, "Zero Bytes were transmitted or received")
}

// File reads a file in the user's directory, such as slurm-7.out; "" when it is not there.
func (lab *Lab) File(user, name string) string {
	text, err := os.ReadFile(filepath.Join(lab.Dir, "home", user, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Await waits until the condition holds; the test fails when it does not within the patience. Looks take half of the time at most, unless
// they take more than half a second: other labs need the processors, too.
func (lab *Lab) Await(t testing.TB, patience time.Duration, what string, condition func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for look := time.Now(); !condition(); look = time.Now() {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain until %s", patience, what)
		}
		time.Sleep(max(lab.pause, min(time.Since(look), time.Second/2)))
	}
}

// lastWords are the ends of the logs, for a failed test.
func (lab *Lab) lastWords() string {
	var all []string
	for _, name := range lab.logs {
		text, err := os.ReadFile(filepath.Join(lab.Dir, "log", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, err.Error())
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all = append(all, "the end of "+name+":\n"+strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return strings.Join(all, "\n")
}
