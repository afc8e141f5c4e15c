// Package labtest gives tests a real Slurm: a lab of scripts/slurm-lab that is theirs alone and leaves nothing behind.
//
// Several test processes may have labs at once; each takes a slot of its own (a directory and ports). It is not for
// product code, and it does not know what Accordion does with the Slurm.
//
//	func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) } // takes shared labs down
//
//	func TestAJobRuns(t *testing.T) {
//		lab := labtest.Shared(t, 4)
//		id := lab.Submit(t, "alice", "srun -l hostname", "-N2")
//		lab.Await(t, time.Minute, "the job ends", func() bool { return lab.Run(t, "alice", "squeue", "-h", "-j", id) == "" })
//	}
package labtest

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
	"strconv"
	"strings"
	"testing"
	"time"
)

// Required is the environment variable that, when set to anything, makes a test fail that would be skipped because a
// real Slurm cannot be had, or that would run on one that binds nothing because the machine cannot.
const Required = "ACCORDION_TEST_SLURM"

// Patience bounds one call of a client program. It is long: a loaded machine is slow, and a test awaits events anyway.
const Patience = time.Minute

// Lab is a running Slurm, set up as most sites are: cores, memory and devices are bound, users have accounts with fair shares. Its nodes
// are n1, n2…; two partitions lie over all of them, main, which Accordion manages, and shared. 'slurm-lab help' says more.
type Lab struct {
	Dir   string   // its directory; Dir/log has the daemons' logs, Dir/home/USER each user's files
	Nodes int      // how many
	CPUs  int      // cores of each node: not more than the machine has, since they are bound
	GPUs  []string // the nodes with four GPUs each: the second half; none in a plain lab
	Binds bool     // jobs have no more than the cores, memory and devices that they were given
	Slurm string   // the release that runs, such as 22.05.8
	port  int
	tool  string   // scripts/slurm-lab
	env   []string // of client programs
	extra []string // settings of slurm-lab itself
	free  func()   // gives the slot back
}

// Option changes how a lab is booted.
type Option struct {
	argument []string
	setting  string
}

// Plain is a lab that binds nothing and has no GPUs, accounts and shares: main is exclusive, and the first in the queue is served first.
func Plain() Option { return Option{argument: []string{"--plain"}} }

// Release is a lab of another release of Slurm than this machine's: 20.11, 22.05, 24.11 or 26.05. It has processes and a network of its
// own: client programs reach it by Exec, and by Env where root calls them; a client with the ids of somebody else does not.
func Release(r string) Option { return Option{argument: []string{"--release", r}} }

// User adds a user; alice is the only one otherwise. The first, second and third are in the accounts phys, chem and cs, with fair shares
// of 10, 5 and 1; the fourth is in phys again.
func User(name string) Option { return Option{argument: []string{"--user", name}} }

// Fast makes Slurm schedule at once: for tests of function. Latencies must be measured without it.
func Fast() Option { return Option{argument: []string{"--fast"}} }

// NoPlugin leaves job_submit.lua out.
func NoPlugin() Option { return Option{setting: "SLURM_LAB_PLUGIN=no"} }

// Cores is how many cores Slurm believes each node to have. Only a plain lab may have more than the machine.
func Cores(n int) Option { return Option{setting: fmt.Sprintf("SLURM_LAB_CPUS=%d", n)} }

// Config adds lines to slurm.conf. A line takes the place of the lab's own line for the same key, or for the same partition
// (PartitionName=main Nodes=ALL …); a line NodeName=n3 or NodeName=n[1-4] changes what it names of these nodes, and nothing else.
func Config(lines string) Option { return Option{setting: "SLURM_LAB_EXTRA=" + lines} }

// Up boots a lab for one test and takes it down when the test ends. Where no Slurm can be had (not root, not
// installed, -short) the test is skipped, or fails if Required is set.
func Up(t testing.TB, nodes int, options ...Option) *Lab {
	t.Helper()
	obtainable(t)
	lab, err := up(t, nodes, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lab.lastWords())
		}
		if err := lab.down(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

func obtainable(t testing.TB) {
	t.Helper()
	why := ""
	if testing.Short() {
		why = "-short is set"
	} else if os.Geteuid() != 0 {
		why = "a lab needs root"
	} else if _, err := os.Stat("/usr/sbin/slurmctld"); err != nil {
		why = "Slurm is not installed (scripts/test installs it)"
	}
	if why == "" {
		return
	}
	if os.Getenv(Required) != "" {
		t.Fatal("no real Slurm: " + why)
	}
	t.Skip("no real Slurm: " + why)
}

// inWorld says whether this process is in the world of a lab, or of `slurm-lab world`, where there is one release only.
func inWorld() bool {
	_, err := os.Stat("/run/accordion-world")
	return err == nil
}

func up(t testing.TB, nodes int, options []Option) (*Lab, error) {
	t.Helper()
	if inWorld() && slices.ContainsFunc(options, func(o Option) bool { return slices.Contains(o.argument, "--release") }) {
		t.Skip("this is a world with one release of Slurm: others are had outside")
	}
	root, err := repository()
	if err != nil {
		return nil, err
	}
	s, err := takeSlot()
	if err != nil {
		return nil, err
	}
	lab := &Lab{Dir: s.dir, Nodes: nodes, port: s.port, tool: filepath.Join(root, "scripts", "slurm-lab"), free: s.free}
	arguments := []string{"up", fmt.Sprint(nodes)}
	for _, o := range options {
		arguments = append(arguments, o.argument...)
		if o.setting != "" {
			lab.extra = append(lab.extra, o.setting)
		}
	}
	// Left by a test process that was killed.
	if err = lab.do(5*time.Minute, "down"); err == nil {
		err = lab.do(15*time.Minute, arguments...)
	}
	if err == nil {
		err = lab.look(t)
	}
	if err != nil {
		return nil, errors.Join(err, lab.down())
	}
	lab.env = lab.environment()
	return lab, nil
}

// look learns what slurm-lab has booted.
func (lab *Lab) look(t testing.TB) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lab.Dir, "etc", "lab"))
	if err != nil {
		return fmt.Errorf("labtest: what was booted: %w", err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = value
	}
	thin := 0
	if lab.CPUs, err = strconv.Atoi(said["cpus"]); err == nil {
		thin, err = strconv.Atoi(said["thin"])
	}
	if err != nil {
		return fmt.Errorf("labtest: what was booted, as %s says: %w", filepath.Join(lab.Dir, "etc", "lab"), err)
	}
	for i := thin + 1; i <= lab.Nodes; i++ {
		lab.GPUs = append(lab.GPUs, fmt.Sprintf("n%d", i))
	}
	lab.Slurm, lab.Binds = said["release"], said["binds"] == "yes"
	if without := said["without"]; without != "" {
		if os.Getenv(Required) != "" && said["binds"] == "no" {
			return errors.New("labtest: no lab like a site: " + without)
		}
		t.Log("the lab does without something that sites have: " + without)
	}
	return nil
}

func (lab *Lab) down() error {
	err := lab.do(5*time.Minute, "down")
	lab.free()
	return err
}

// repository is the folder of go.mod, at or above the test's folder.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("labtest: find the repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("labtest: no go.mod at or above %s: run the test inside the repository", dir)
		}
	}
}

// clean is this process's environment without what would mislead a client program.
func clean() []string {
	foreign := regexp.MustCompile(`^(SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SINFO|SACCT|ACCORDION)_`)
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return foreign.MatchString(variable) && !strings.HasPrefix(variable, "ACCORDION_LABS=") // where slurm-lab keeps releases
	})
}

func (lab *Lab) environment() []string {
	programs := filepath.Join(lab.Dir, "bin")
	if _, err := os.Stat(filepath.Join(lab.Dir, "client")); err == nil {
		programs = filepath.Join(lab.Dir, "client") + ":" + programs
	}
	return append(clean(),
		"SLURM_CONF="+filepath.Join(lab.Dir, "etc", "slurm.conf"),
		"ACCORDION_SOCKET="+filepath.Join(lab.Dir, "run", "accordion.sock"),
		"ACCORDION_CONFIG="+filepath.Join(lab.Dir, "etc", "accordion.toml"),
		"PATH="+programs+":/usr/sbin:/usr/bin:/sbin:/bin:"+os.Getenv("PATH"))
}

// Env is the environment of a client program that root runs against the lab.
func (lab *Lab) Env() []string { return slices.Clone(lab.env) }

// Conf is the path of the lab's slurm.conf.
func (lab *Lab) Conf() string { return filepath.Join(lab.Dir, "etc", "slurm.conf") }

// command is one call of slurm-lab.
func (lab *Lab) command(ctx context.Context, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, lab.tool, arguments...)
	c.Env = append(clean(), append([]string{"SLURM_LAB_DIR=" + lab.Dir, fmt.Sprintf("SLURM_LAB_PORT=%d", lab.port)}, lab.extra...)...)
	c.WaitDelay = 5 * time.Second
	return c
}

func (lab *Lab) do(patience time.Duration, arguments ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := lab.command(ctx, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("slurm-lab %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return nil
}

// Do runs a command of slurm-lab on this lab: "ctl-stop", "--kill"; "node-kill", "n3"; "serve".
func (lab *Lab) Do(t testing.TB, arguments ...string) {
	t.Helper()
	if err := lab.do(3*time.Minute, arguments...); err != nil {
		t.Fatal(err)
	}
}

// Change starts Slurm's daemons again with other lines for slurm.conf in place of Config's; "" takes the lab's own settings. Jobs lose
// their nodes.
func (lab *Lab) Change(t testing.TB, lines string) { t.Helper(); lab.Do(t, "change", lines) }

// Exec runs a client command as the user, in his directory, with text as its standard input. It returns what it
// printed on standard output and on standard error, without the last line's end; the error is of type *exec.ExitError
// when the command ran and failed.
func (lab *Lab) Exec(user, text string, command ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	c := lab.command(ctx, append([]string{"exec", "--user", user, "--"}, command...)...)
	c.Stdin = strings.NewReader(text)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return strings.TrimRight(out.String(), "\n"), strings.TrimRight(errs.String(), "\n"), err
}

// Run is Exec for a command that must succeed; it returns its standard output.
func (lab *Lab) Run(t testing.TB, user string, command ...string) string {
	t.Helper()
	out, errs, err := lab.Exec(user, "", command...)
	if err != nil {
		t.Fatalf("%s as %s: %v\n%s", strings.Join(command, " "), user, err, errs)
	}
	return out
}

// Submit gives a batch script to sbatch as the user, with the options, and returns the job's number. Without a first
// line #!… the script gets one for bash.
func (lab *Lab) Submit(t testing.TB, user, script string, options ...string) string {
	t.Helper()
	out, errs, err := lab.Sbatch(user, script, options...)
	if err != nil {
		t.Fatalf("sbatch %s as %s: %v\n%s", strings.Join(options, " "), user, err, errs)
	}
	return out
}

// Sbatch is Submit for a job that may be refused: what sbatch says then is in stderr.
func (lab *Lab) Sbatch(user, script string, options ...string) (id, stderr string, err error) {
	if !strings.HasPrefix(script, "#!") {
		script = "#!/bin/bash\n" + script + "\n"
	}
	out, stderr, err := lab.Exec(user, script, append([]string{"sbatch", "--parsable"}, options...)...)
	id, _, _ = strings.Cut(out, ";")
	return id, stderr, err
}

// File reads a file in the user's directory, such as slurm-7.out; "" when it is not there.
func (lab *Lab) File(user, name string) string {
	text, err := os.ReadFile(filepath.Join(lab.Dir, "home", user, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Await waits until the condition holds; the test fails when it does not within the patience.
func (lab *Lab) Await(t testing.TB, patience time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain until %s\n%s", patience, what, lab.lastWords())
		}
		time.Sleep(50 * time.Millisecond) // Slurm has no event to wait for
	}
}

// Clear cancels every job and deletes every reservation, and waits until all nodes are idle: between two tests that
// share a lab.
func (lab *Lab) Clear(t testing.TB) {
	t.Helper()
	lab.Await(t, 2*time.Minute, "no job is left and every node is idle", func() bool {
		if jobs := lab.Run(t, "root", "squeue", "-h", "-a", "-o", "%A"); jobs != "" {
			_, _, _ = lab.Exec("root", "", append([]string{"scancel", "--full"}, strings.Fields(jobs)...)...)
			return false
		}
		for line := range strings.Lines(lab.Run(t, "root", "scontrol", "-o", "show", "reservation")) {
			if name, found := strings.CutPrefix(strings.Fields(line)[0], "ReservationName="); found {
				_, _, _ = lab.Exec("root", "", "scontrol", "delete", "ReservationName="+name)
			}
		}
		idle := lab.Run(t, "root", "sinfo", "-h", "-p", "shared", "-t", "idle", "-N", "-o", "%N")
		return len(strings.Fields(idle)) == lab.Nodes
	})
}

// lastWords is the end of the controller's log, for a failed test.
func (lab *Lab) lastWords() string {
	text, err := os.ReadFile(filepath.Join(lab.Dir, "log", "slurmctld.log"))
	if err != nil {
		return "slurmctld has no log"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "the end of slurmctld's log:\n" + strings.Join(lines[max(0, len(lines)-15):], "\n")
}
