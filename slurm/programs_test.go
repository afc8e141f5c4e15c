package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/internal/testenv"
	"accordion/slurm/client"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/output/outputtest"
)

// scriptedSystem returns a system whose client programs are shell scripts, for answers that a healthy Slurm does not
// give.
func scriptedSystem(t *testing.T, change func(*Config), scripts map[string]string) *System {
	t.Helper()
	c := Config{Partitions: []string{"main"}, Bin: clienttest.Programs(t, scripts), Timeout: time.Minute}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestAProgramThatHangsIsEndedWithItsChildren(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	s := scriptedSystem(t, func(c *Config) { c.Timeout = 300 * time.Millisecond }, map[string]string{
		"squeue": "sleep 600 & echo $! > " + file + ".new && mv " + file + ".new " + file + "; wait",
	})
	_, err := s.Inspect(t.Context(), adapter.Key{ID: 7, Submitted: 1})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "squeue") || !strings.Contains(err.Error(), "is slurmctld up?") {
		t.Errorf("the error is %v", err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		return // on a very slow machine the deadline passes before the child starts
	}
	for range 600 { // the kernel needs a moment to end the child
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("child %s is left", pid)
}

func TestProgramsSeeACleanEnvironment(t *testing.T) {
	for _, name := range []string{"SQUEUE_FORMAT", "SQUEUE_STATES", "SLURM_CLUSTERS", "SALLOC_PARTITION", "SINFO_FORMAT", "SLURM_TIME_FORMAT", "LC_ALL", "TZ"} {
		t.Setenv(name, "of the administrator's shell")
	}
	s := scriptedSystem(t, func(c *Config) { c.Conf = "/etc/other/slurm.conf" }, map[string]string{"scontrol": "env; pwd"})
	out, err := s.Run.Run(t.Context(), client.Call{Program: "scontrol"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.Stdout, "administrator") {
		t.Errorf("it sees\n%s", out.Stdout)
	}
	for _, want := range []string{"SLURM_CONF=/etc/other/slurm.conf", "SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C"} {
		if !slices.Contains(strings.Split(out.Stdout, "\n"), want) {
			t.Errorf("no %s in\n%s", want, out.Stdout)
		}
	}
}

func TestFewProgramsRunAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := scriptedSystem(t, func(c *Config) { c.AtOnce = 2 }, map[string]string{
		"scontrol": "mkdir " + dir + "/$$ && ls " + dir + " | wc -l && sleep 0.05 && rmdir " + dir + "/$$",
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out, err := s.Run.Run(t.Context(), client.Call{Program: "scontrol"})
			if n := strings.TrimSpace(out.Stdout); err != nil || n != "1" && n != "2" {
				t.Errorf("%s programs at once, want at most 2 (%v)", n, err)
			}
		})
	}
	all.Wait()
}

func TestAFailureSaysWhatWasRunAndWhatItSaid(t *testing.T) {
	job := outputtest.Printed{ID: 7, Submitted: 1, User: "a", UID: 1, State: "PENDING", Priority: 9}
	s := scriptedSystem(t, nil, map[string]string{
		"scontrol": "echo 'slurm_update error: Something new' >&2; echo second >&2; exit 3",
		"squeue":   "sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + job.Row("WORD") + "END",
	})
	err := s.Attach(t.Context(), adapter.Key{ID: 7, Submitted: 1}, "accordion-a")
	var f *client.Failure
	if !errors.As(err, &f) || f.Code != 3 {
		t.Fatalf("%v", err)
	}
	want := "attaching: job 7: setting ReservationName=accordion-a: scontrol update JobId=7 ReservationName=accordion-a: exit code 3: slurm_update error: Something new"
	if err.Error() != want {
		t.Errorf("the error is\n%s\nwant\n%s", err, want)
	}
	if _, err := scriptedSystem(t, nil, nil).Observe(t.Context()); err == nil || !strings.Contains(err.Error(), "scontrol") {
		t.Errorf("without clients: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Observe(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	for _, c := range []Config{{}, {Partitions: []string{""}}, {Partitions: []string{"a b"}}, {Partitions: []string{"-a"}},
		{Partitions: []string{"a"}, Timeout: -1}, {Partitions: []string{"a"}, AtOnce: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestOnlyAPlainRequestBecomesAMark(t *testing.T) {
	for comment, want := range map[string]string{
		"ep=2x1m,5x1m my run": "accordion:ep=2x1m,5x1m", " mold=4x2h|8x70m": "accordion:mold=4x2h|8x70m",
		"my ep=2x1m": "", "": "", `ep="2x1m"`: "", "ep=2x1m\x07": "", "ep=2×1m": "",
	} {
		if got, err := markFor(comment); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", comment, got, err, want)
		}
	}
}

func ExampleNew() {
	cluster, err := New(Config{Partitions: []string{"main"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	now, err := cluster.Observe(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(now.Nodes), "nodes and", len(now.Jobs), "jobs")
}

func TestPreflightTellsAControllerThatDoesNotAnswerFromAClusterThatIsNotFit(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	const silent = "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
	s := scriptedSystem(t, nil, map[string]string{"squeue": silent, "scontrol": silent, "salloc": silent, "scancel": silent, "srun": silent})
	if found := s.Preflight(t.Context()); len(found) != 1 || found[0].Severity != adapter.Unanswered || !strings.Contains(found[0].What, "Unable to contact slurm controller") {
		t.Errorf("a silent controller: %v", found)
	}
	s = scriptedSystem(t, nil, map[string]string{"squeue": silent})
	if found := s.Preflight(t.Context()); len(found) != 4 || found[0].Severity != adapter.Fatal {
		t.Errorf("without most of the clients: %v", found)
	}
}

// A running job is inspected twice. If the job ends between the two reads, the result is an ended job, not an error.
func TestAJobMayEndWhileItIsInspected(t *testing.T) {
	looks := filepath.Join(t.TempDir(), "looks")
	job := outputtest.Printed{ID: 7, Submitted: 1, User: "a", UID: 1, State: "RUNNING", Nodes: "n1", Mark: "accordion:ep=1x1h"}
	ended := job
	ended.State = "COMPLETING"
	s := scriptedSystem(t, nil, map[string]string{
		"squeue": "echo x >>" + looks + "\n[ $(wc -l <" + looks + ") = 1 ] || ended=yes\n" +
			"if [ -z \"$ended\" ]; then sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + job.Row("WORD") + "END\n" +
			"else sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + ended.Row("WORD") + "END\nfi",
	})
	j, err := s.Inspect(t.Context(), adapter.Key{ID: 7, Submitted: 1})
	if err != nil || j.State == adapter.Running {
		t.Errorf("it is %+v, error %v", j, err)
	}
	if text, err := os.ReadFile(looks); err != nil || len(text) < 4 {
		t.Errorf("it was read once: %q, %v", text, err)
	}
}

// If slurmctld could not write the reason into the job's output, the job is not ended yet and the caller tries
// again. A job that has no such output is ended immediately.
func TestAJobIsNotEndedBeforeItsOutputSaysWhy(t *testing.T) {
	for said, want := range map[string]bool{
		"": true,
		"scontrol_notify error: Requested operation is presently disabled":                    true,
		"scontrol_notify error: Unable to contact slurm controller (connect failure)":         false,
		"scontrol_notify error: Socket timed out on send/recv operation":                      false,
		"scontrol_notify error: Zero Bytes were transmitted or received":                      false,
		"slurm_job_notify: error: Unable to establish control machine address, communication": false,
	} {
		dir := t.TempDir()
		job := outputtest.Printed{ID: 7, Submitted: 1, User: "a", UID: 1, State: "RUNNING", Priority: 9}
		s := scriptedSystem(t, nil, map[string]string{
			"scontrol": "case \"$*\" in notify*) [ -z '" + said + "' ] || { echo '" + said + "' >&2; exit 1; } ;; *) exit 3 ;; esac",
			"squeue":   "sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + job.Row("WORD") + "END",
			"scancel":  "touch " + dir + "/cancelled",
		})
		err := s.End(t.Context(), adapter.Key{ID: 7, Submitted: 1}, "it is late")
		_, cancelled := os.Stat(dir + "/cancelled")
		if (cancelled == nil) != want || (err == nil) != want {
			t.Errorf("notify says %q: cancelled %t, error %v; want %t", said, cancelled == nil, err, want)
		}
	}
}
