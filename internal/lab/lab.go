// Package lab provides a real Slurm, a real OAR, or both for tests. Such a lab is booted by scripts/slurm-lab, oar-lab
// or two-labs, and leaves nothing behind.
//
// Several tests of one or several processes may have labs at the same time, because each lab has its own slot.
// Production code does not use the package, and the package does not depend on Accordion. Tests that boot an OAR are in
// folders with oar in their path. scripts/test --real runs them in parallel with the tests that boot a Slurm.
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

// Patience limits one call of a client program. It is long because a loaded machine is slow. Tests wait for events
// in any case.
const Patience = time.Minute

// Lab is the part that the labs of both systems have in common. Its nodes are n1, n2…
type Lab struct {
	Dir   string // the lab's directory; Dir/log has the daemons' logs, and Dir/home/USER the files of each user
	Nodes int    // number of nodes

	tool     string        // scripts/slurm-lab, oar-lab or two-labs
	settings []string      // settings of the tool: KEY=VALUE
	patience time.Duration // time limit for one call of a client program
	pause    time.Duration // time between two checks of a condition that has no event
	logs     []string      // names of the logs whose ends are printed if a test fails
	free     func()        // releases the slot
	people   people        // the users as whom client programs run
	init     string        // the file in Dir with the number of the first process of the lab's world; "" if the lab runs on the machine itself
}

// Option changes how a lab is booted. Some options are for only one of the systems.
type Option func(*spec)

// spec is the specification of a lab.
type spec struct {
	users       []string
	release     string
	cores       int
	plain, fast bool
	forked      bool     // OAR's server forks its modules instead of starting them as programs
	database    string   // OAR's database
	settings    []string // settings of slurm-lab
}

func specified(s spec, options []Option) spec {
	for _, o := range options {
		o(&s)
	}
	return s
}

// Users sets the users. The default is alice. In a Slurm the first, second and third user are in the accounts phys,
// chem and cs, which have fair shares of 10, 5 and 1. The fourth user is in phys again.
func Users(names ...string) Option { return func(s *spec) { s.users = append(s.users, names...) } }

// Release sets another release than this machine's: Slurm 20.11, 22.05, 24.11 or 26.05, or OAR 2.5 or 2.6. Such a
// Slurm has its own processes and network. Client programs reach it through Exec, and root's client programs also
// with the environment Env. A client that a test itself starts as another user does not reach it.
func Release(name string) Option { return func(s *spec) { s.release = name } }

// Cores sets the number of cores that the system assumes for each node. Only a plain Slurm may have more than the
// machine. In OAR each core is a resource.
func Cores(n int) Option { return func(s *spec) { s.cores = n } }

// Plain makes a Slurm that binds nothing and has no GPUs, accounts and shares. Its partition main is exclusive, and
// the first job in the queue is served first. An OAR then has no cpusets, and its nodes are one machine. Plain is
// for many nodes, and for setups that no site has.
func Plain() Option { return func(s *spec) { s.plain = true } }

// arguments returns the arguments of `up` for both tools.
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

// Tool returns the path of a script: slurm-lab, oar-lab or two-labs.
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

// boot runs `up`. Before that it removes what a killed test process has left.
func (lab *Lab) boot(arguments []string) error {
	if err := lab.do(5*time.Minute, "down"); err != nil {
		return err
	}
	return lab.do(30*time.Minute, arguments...)
}

// said returns the values from a file in which the tool has described the lab. The file has lines KEY=VALUE.
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

// down takes the lab down and releases its slot.
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

// endWith takes the lab down when the test ends.
func endWith(t testing.TB, lab booted) {
	t.Cleanup(func() {
		lab.tell(t)
		if err := lab.down(); err != nil {
			t.Error(err)
		}
	})
}

// tell prints the ends of the logs if the test failed.
func (lab *Lab) tell(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Log(lab.lastWords())
	}
}

// clean returns this process's environment without variables that would mislead the tools and client programs.
func clean() []string {
	foreign := regexp.MustCompile(`^((SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SINFO|SACCT|ACCORDION)_|OAR)`)
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return foreign.MatchString(variable) && !strings.HasPrefix(variable, "ACCORDION_LABS=") // except the variable with the folder of other releases
	})
}

// since is the environment variable with the time at which this process started. The first lab after that time
// builds the program, and later labs use the same program.
var since = fmt.Sprintf("LAB_PROGRAM_SINCE=%d", time.Now().Unix())

// command returns a command that calls the tool.
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

// Shell returns a shell that runs the lines in the repository's folder, as administrators would. Calls of the tool
// in these lines, such as ./scripts/slurm-lab serve, use this lab.
func (lab *Lab) Shell(ctx context.Context, lines string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", lines)
	c.Dir = filepath.Dir(filepath.Dir(lab.tool))
	c.Env = append(append(clean(), since), lab.settings...)
	c.WaitDelay = 5 * time.Second
	return c
}

// Do runs a command of the tool on this lab, such as "node-kill", "n3" or "serve".
func (lab *Lab) Do(t testing.TB, arguments ...string) {
	t.Helper()
	if err := lab.Try(arguments...); err != nil {
		t.Fatal(err)
	}
}

// Try does what Do does for a command that may fail.
func (lab *Lab) Try(arguments ...string) error { return lab.do(3*time.Minute, arguments...) }

// call runs a command of the tool. `text` is the command's standard input. call returns standard output and
// standard error.
func (lab *Lab) call(patience time.Duration, text string, arguments ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return outputs(lab.command(ctx, arguments...), text)
}

// outputs runs a command and returns its standard output and standard error. `text` is the standard input.
func outputs(c *exec.Cmd, text string) (stdout, stderr string, err error) {
	c.Stdin = strings.NewReader(text)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return strings.TrimRight(out.String(), "\n"), strings.TrimRight(errs.String(), "\n"), err
}

// Run runs a client command as the user, in the user's directory, and returns its standard output. It fails the
// test if the command fails. If the connection of a read-only command broke, Run repeats the command.
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

// looks reports whether a command of Slurm changes nothing.
func looks(command []string) bool {
	switch command[0] {
	case "squeue", "sinfo", "sacct", "sprio", "sshare":
		return true
	case "scontrol", "sacctmgr":
		return slices.Contains(command, "show")
	}
	return false
}

// broke reports whether a client of Slurm lost its connection. That happens on a very busy machine, and the client
// does not retry.
func broke(errs string) bool {
	return strings.Contains(errs, "Unexpected missing socket error") || strings.Contains(errs, "Zero Bytes were transmitted or received")
}

// File reads a file in the user's directory, such as slurm-7.out, or returns "" if it does not exist.
func (lab *Lab) File(user, name string) string {
	text, err := os.ReadFile(filepath.Join(lab.Dir, "home", user, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Await waits until the condition holds. It fails the test after the time `patience`. The checks take at most half
// of the time, unless a check takes more than half a second, because other labs need the CPUs, too.
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

// lastWords returns the ends of the logs, for a failed test.
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
