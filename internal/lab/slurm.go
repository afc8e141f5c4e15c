package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/testenv"
)

// SlurmLab is a running Slurm that is set up like most sites: cores, memory and devices are bound, and users have
// accounts with fair shares. Both of its partitions have all nodes: `main`, which Accordion manages, and `shared`.
// See 'slurm-lab help'.
type SlurmLab struct {
	Lab
	CPUs  int      // cores of each node; at most as many as the machine has, because they are bound
	GPUs  []string // the nodes with GPUs, which have four each: the second half of the nodes, or none in a plain lab
	Binds bool     // jobs can use only the cores, memory and devices of their allocation
	Slurm string   // the running release, such as 22.05.8
	env   []string // environment of client programs
}

// Fast makes Slurm schedule without delays, for functional tests. Tests that measure latencies must not use it.
func Fast() Option { return func(s *spec) { s.fast = true } }

// NoPlugin boots Slurm without job_submit.lua. Then a node of partition main belongs to one user at a time, unless
// the lab is Plain.
func NoPlugin() Option { return setting("SLURM_LAB_PLUGIN=no") }

// Config adds lines to slurm.conf. A line replaces the lab's own line for the same key, or for the same partition
// (PartitionName=main Nodes=ALL …). A line such as NodeName=n3 or NodeName=n[1-4] changes only the given parameters
// of these nodes.
func Config(lines string) Option { return setting("SLURM_LAB_EXTRA=" + lines) }

// Zone sets the time zone of the daemons, as in TZ. slurmdbd rolls up usage at the full hours of that zone.
func Zone(tz string) Option { return setting("TZ=" + tz) }

func setting(s string) Option { return func(all *spec) { all.settings = append(all.settings, s) } }

// Slurm boots a lab for one test and takes it down when the test ends. It skips the test unless real Slurms are
// requested (package testenv).
func Slurm(t testing.TB, nodes int, options ...Option) *SlurmLab {
	t.Helper()
	NeedSlurm(t)
	lab, err := bootSlurm(t, nodes, specified(spec{}, options))
	if err != nil {
		t.Fatal(err)
	}
	endWith(t, lab)
	return lab
}

// TakeSlurm takes a cleared lab with this number of nodes and these options from the pool, until the test ends. A
// subtest gets the lab of its parent test. The package's TestMain must call Main.
func TakeSlurm(t testing.TB, nodes int, options ...Option) *SlurmLab {
	t.Helper()
	NeedSlurm(t)
	s := specified(spec{}, options)
	return take(t, fmt.Sprintf("Slurm %d %+v", nodes, s), func(t testing.TB) (*SlurmLab, error) { return bootSlurm(t, nodes, s) })
}

// NeedSlurm skips the test unless a real Slurm is requested and available.
func NeedSlurm(t testing.TB) { t.Helper(); testenv.Needs(t, testenv.Slurm) }

// inWorld reports whether this process is in the world of a lab or of `slurm-lab world`, which has one release only.
func inWorld() bool {
	_, err := os.Stat("/run/accordion-world")
	return err == nil
}

func bootSlurm(t testing.TB, nodes int, s spec) (*SlurmLab, error) {
	t.Helper()
	if inWorld() && s.release != "" {
		t.Skip("this is a world with one release of Slurm: others are had outside")
	}
	tool := Tool(t, "slurm-lab")
	slot, err := takeSlot("accordion-lab", 0, 15, portsFree)
	if err != nil {
		return nil, err
	}
	lab := &SlurmLab{Lab: Lab{Dir: slot.dir, Nodes: nodes, tool: tool, patience: Patience, pause: 250 * time.Millisecond,
		logs: []string{"slurmctld.log"}, free: slot.free}}
	lab.settings = append([]string{"SLURM_LAB_DIR=" + lab.Dir, fmt.Sprintf("SLURM_LAB_PORT=%d", slot.port())}, s.settings...)
	if s.cores > 0 {
		lab.settings = append(lab.settings, fmt.Sprintf("SLURM_LAB_CPUS=%d", s.cores))
	}
	if err = lab.boot(s.arguments(nodes)); err == nil {
		err = lab.look(t)
	}
	if err != nil {
		return nil, errors.Join(err, lab.down())
	}
	lab.env = lab.environment()
	return lab, nil
}

// look reads which Slurm slurm-lab has booted.
func (lab *SlurmLab) look(t testing.TB) error {
	t.Helper()
	said, err := lab.said("etc/lab")
	if err != nil {
		return err
	}
	thin := 0
	if lab.CPUs, err = strconv.Atoi(said["cpus"]); err == nil {
		thin, err = strconv.Atoi(said["thin"])
	}
	if err != nil {
		return fmt.Errorf("lab: what slurm-lab has booted: %w", err)
	}
	for i := thin + 1; i <= lab.Nodes; i++ {
		lab.GPUs = append(lab.GPUs, fmt.Sprintf("n%d", i))
	}
	lab.Slurm, lab.Binds = said["release"], said["binds"] == "yes"
	if without := said["without"]; without != "" {
		if testenv.Required("slurm") && said["binds"] == "no" {
			return errors.New("lab: no lab like a site: " + without)
		}
		t.Log("the lab does without something that sites have: " + without)
	}
	return nil
}

func (lab *SlurmLab) environment() []string {
	programs := filepath.Join(lab.Dir, "bin")
	if _, err := os.Stat(filepath.Join(lab.Dir, "client")); err == nil {
		programs = filepath.Join(lab.Dir, "client") + ":" + programs
	}
	return append(clean(),
		"SLURM_CONF="+lab.Conf(),
		"ACCORDION_SOCKET="+filepath.Join(lab.Dir, "run", "accordion.sock"),
		"ACCORDION_CONFIG="+filepath.Join(lab.Dir, "etc", "accordion.toml"),
		"PATH="+programs+":/usr/sbin:/usr/bin:/sbin:/bin:"+os.Getenv("PATH"))
}

// Env returns the environment for a client program that root runs on the lab.
func (lab *SlurmLab) Env() []string { return slices.Clone(lab.env) }

// Conf returns the path of the lab's slurm.conf.
func (lab *SlurmLab) Conf() string { return filepath.Join(lab.Dir, "etc", "slurm.conf") }

// Change restarts Slurm's daemons with other lines for slurm.conf instead of those of Config. If `lines` is "", it
// restores the lab's own settings. Jobs lose their nodes.
func (lab *SlurmLab) Change(t testing.TB, lines string) { t.Helper(); lab.Do(t, "change", lines) }

// AwaitSaved waits until slurmctld has saved the current state of its jobs. Under load slurmctld saves some time
// after a request, and the saved state may be older than the request. slurmctld saves again five seconds later.
func (lab *SlurmLab) AwaitSaved(t testing.TB) {
	t.Helper()
	lab.awaitSaved(t, filepath.Join(lab.Dir, "state"))
}

// awaitSaved waits until the slurmctld with the state directory `state` has saved the current state of its jobs.
func (lab *Lab) awaitSaved(t testing.TB, state string) {
	t.Helper()
	written := func() time.Time {
		jobs, err := os.Stat(filepath.Join(state, "job_state"))
		if err != nil {
			return time.Time{} // the file does not exist while it is replaced
		}
		return jobs.ModTime()
	}
	for range 2 {
		last := written()
		lab.Run(t, "root", "scontrol", "reconfigure")
		lab.Await(t, time.Minute, "slurmctld has written its jobs", func() bool { return written().After(last) })
	}
}

// Exec runs a client command as the user, in the user's directory. `text` is the standard input. It returns
// standard output and standard error, each without the last newline. If the command ran and failed, the error is an
// *exec.ExitError.
func (lab *SlurmLab) Exec(user, text string, command ...string) (stdout, stderr string, err error) {
	return lab.callAs(Patience, user, text, command)
}

// Submit submits a batch script with sbatch and the options as the user, and returns the job's number. If the
// script does not begin with #!, Submit adds a first line for bash.
func (lab *SlurmLab) Submit(t testing.TB, user, script string, options ...string) string {
	t.Helper()
	out, errs, err := lab.Sbatch(user, script, options...)
	if err != nil {
		t.Fatalf("sbatch %s as %s: %v\n%s", strings.Join(options, " "), user, err, errs)
	}
	return out
}

// Sbatch does what Submit does, for a job that Slurm may refuse. If Slurm refuses the job, stderr has Slurm's
// message.
func (lab *SlurmLab) Sbatch(user, script string, options ...string) (id, stderr string, err error) {
	if !strings.HasPrefix(script, "#!") {
		script = "#!/bin/bash\n" + script + "\n"
	}
	out, stderr, err := lab.Exec(user, script, append([]string{"sbatch", "--parsable"}, options...)...)
	id, _, _ = strings.Cut(out, ";")
	return id, stderr, err
}

// Clear cancels every job, deletes every reservation, and waits until all nodes are idle.
func (lab *SlurmLab) Clear(t testing.TB) {
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
