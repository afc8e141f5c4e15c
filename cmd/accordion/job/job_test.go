package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim/allocation"
	"accordion/shim/wire"
)

// TestMain runs the tests. In a process that the function `run` has started, it runs a command line instead. Some
// commands replace their process with another program and so need a process of their own.
func TestMain(m *testing.M) {
	if os.Getenv("ACCORDION_TEST_COMMAND") == "" {
		os.Exit(m.Run())
	}
	status := 0
	if err := root().Execute(); err != nil {
		coded := command.ExitError{Status: 99, Err: err}
		errors.As(err, &coded)
		if status = coded.Status; coded.Err != nil {
			fmt.Fprintln(os.Stderr, "accordion:", coded.Err)
		}
	}
	os.Exit(status)
}

func root() *cobra.Command {
	c := &cobra.Command{Use: "accordion", SilenceErrors: true, SilenceUsage: true}
	c.AddCommand(append(ForScripts(), ForUsers()...)...)
	return c
}

// An ending is the result of a command line.
type ending struct {
	out, said string
	status    int
}

// call runs a command line in this process.
func call(ctx context.Context, words ...string) ending {
	var out, said bytes.Buffer
	c := root()
	c.SetArgs(words)
	c.SetOut(&out)
	c.SetErr(&said)
	e := ending{}
	if err := c.ExecuteContext(ctx); err != nil {
		coded := command.ExitError{Status: 99, Err: err}
		errors.As(err, &coded)
		if e.status = coded.Status; coded.Err != nil {
			fmt.Fprintln(&said, "accordion:", coded.Err)
		}
	}
	e.out, e.said = out.String(), said.String()
	return e
}

// run runs a command line in a process of its own, with an environment and programs, which are shell scripts.
func run(t *testing.T, programs map[string]string, env []string, words ...string) ending {
	t.Helper()
	bin := t.TempDir()
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := bin
	if programs != nil {
		path += ":/usr/bin:/bin"
	}
	var out, said bytes.Buffer
	c := exec.CommandContext(t.Context(), os.Args[0], words...)
	c.Env = append([]string{"ACCORDION_TEST_COMMAND=1", "PATH=" + path, "HOME=/", "SHELL=/bin/sh", "TMPDIR=" + t.TempDir()}, env...)
	c.Stdout, c.Stderr = &out, &said
	e := ending{}
	if err := c.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		e.status = exit.ExitCode()
	}
	e.out, e.said = out.String(), said.String()
	return e
}

// is fails the test unless the exit status is as given and standard output and standard error contain the texts.
func (e ending) is(t *testing.T, status int, out, said string) {
	t.Helper()
	if e.status != status || !strings.Contains(e.out, out) || !strings.Contains(e.said, said) || out == "" && e.out != "" {
		t.Errorf("status %d, out %q, said %q; want %d, %q, %q", e.status, e.out, e.said, status, out, said)
	}
}

// inJob puts the test into job 7 on n1 and n2, with its sidecar at the socket and without Slurm's programs.
func inJob(t *testing.T) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	for name, value := range map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NODELIST": "n[1-2]", "SLURM_NNODES": "2", "SLURM_JOB_NUM_NODES": "2",
		"SLURM_JOB_CPUS_PER_NODE": "4(x2)", "ACCORDION_SOCKET": socket, "PATH": t.TempDir(), "TMPDIR": t.TempDir(), "SLURM_CLUSTER_NAME": fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())} {
		t.Setenv(name, value)
	}
	return socket
}

// sidecar answers every request at a socket with `reply`, and sends the requests to a channel.
func sidecar(t *testing.T, socket string, reply wire.Reply) <-chan wire.Request {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked := make(chan wire.Request, 9)
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			if r, err := wire.ReadRequest(conn); err == nil {
				asked <- r
				_ = wire.WriteReply(conn, reply)
			}
			conn.Close()
		}
	}()
	return asked
}

func TestAStepAsksTheSidecarWhatItsFlagsSay(t *testing.T) {
	asked := sidecar(t, inJob(t), wire.Reply{Status: wire.Resized, Nodes: "n[1-3]", Count: 3, Step: 2, Steps: 4, Until: 1800000000, Generation: 1})
	for _, c := range []struct {
		words []string
		want  wire.Request
	}{
		{nil, wire.Request{}},
		{[]string{"--keep", "n1,n2"}, wire.Request{Keep: "n1,n2"}},
		{[]string{"--release=n[3-4]"}, wire.Request{Release: "n[3-4]"}},
		{[]string{"--timeout", "90s"}, wire.Request{Waits: 90}},
		{[]string{"--timeout", "1h30m"}, wire.Request{Waits: 5400}},
	} {
		call(t.Context(), append([]string{"step"}, c.words...)...).is(t, 0, "export ACCORDION_STEP='2'\n", "accordion: job 7")
		got := <-asked
		if got.Waits += 1; c.want.Waits == 0 { // up to a second of the timeout has passed; without --timeout, Waits is 0
			got.Waits = 0
		}
		if got.Job != 7 || got.Keep != c.want.Keep || got.Release != c.want.Release || got.Waits < c.want.Waits || got.Waits > c.want.Waits+1 {
			t.Errorf("%v: asked %+v", c.words, got)
		}
	}
}

func TestAStepThatIsRefusedHasTheStatusInItsText(t *testing.T) {
	sidecar(t, inJob(t), wire.Reply{Status: wire.Refused, Why: "it is no managed job"})
	call(t.Context(), "step").is(t, 1, "(exit 1)", "it is no managed job")
}

// After any error the printed text is a command that returns the exit status. With an empty text, eval would continue as if nothing had
// happened.
func TestAWrongCommandLineOfAStepHasTheStatusInItsText(t *testing.T) {
	inJob(t)
	for line, said := range map[string]string{
		"step --keep=":        "--keep: no nodes are named",
		"step --release=":     "--release: no nodes are named",
		"step --timeout=0s":   "--timeout: \"0s\" is not a duration above 0: write",
		"step --timeout=":     "--timeout: \"\" is not a duration above 0",
		"step --timeout=soon": "is not a duration above 0",
		"step --nonsense":     "unknown flag",
		"step now":            "takes no arguments, but there is \"now\"",
		"nodes now":           "takes no arguments, but there is \"now\"",
		"nodes --nonsense":    "unknown flag",
	} {
		call(t.Context(), strings.Fields(line)...).is(t, 2, "(exit 2)", said)
	}
	t.Setenv("SLURM_JOB_ID", "x")
	for _, line := range []string{"step", "nodes"} {
		call(t.Context(), strings.Fields(line)...).is(t, 2, "(exit 2)", "is no job id")
	}
	call(t.Context(), "nodes", "--file").is(t, 2, "", "is no job id")
}

// brokenPipe refuses all output.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAResultThatCannotBePrintedIsAnError(t *testing.T) {
	sidecar(t, inJob(t), wire.Reply{Status: wire.Resized, Nodes: "n1", Count: 1, Step: 2, Steps: 4})
	c := root()
	c.SetArgs([]string{"step"})
	c.SetOut(brokenPipe{})
	c.SetErr(&bytes.Buffer{})
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "write the result: broken pipe") {
		t.Errorf("%v", err)
	}
}

func TestNodesReadsTheHostsFile(t *testing.T) {
	inJob(t)
	call(t.Context(), "nodes", "--file").is(t, 1, "", "no hosts file yet")
	path := allocation.Published(os.Getenv("SLURM_CLUSTER_NAME"), 7)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err == nil {
		t.Cleanup(func() { os.Remove(filepath.Dir(path)) })
	}
	if err := os.WriteFile(path, []byte("# generation=2 step=3 steps=4 nodes=2 from=1 until=1800000000\nn1\nn7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(path) })
	if e := call(t.Context(), "nodes", "--file"); e.status != 0 || e.out != path+"\n" {
		t.Errorf("%+v", e)
	}
	call(t.Context(), "nodes").is(t, 0, "export SLURM_JOB_NODELIST='n[1,7]'\n", "accordion: job 7: 2 nodes, n[1,7]")
}

// echo prints its words, each in brackets.
const echo = `printf '<%s>' "$0" "$@" | sed "s|<[^>]*/|<|"; exit 5`

var inCompanions = []string{"SLURM_JOB_ID=42", "SLURM_NTASKS=2", "SLURM_JOB_NUM_NODES=2", "ACCORDION_ALLOCATIONS=42:n[1-2] 57:n[3,5]"}

func TestRunIsSrunInAJobWithoutCompanions(t *testing.T) {
	programs := map[string]string{"srun": echo}
	run(t, programs, nil, "run", "-n2", "--multi-prog", "a b", "--", "-x").is(t, 5, "<srun><-n2><--multi-prog><a b><--><-x>", "")
	run(t, programs, []string{"SLURM_JOB_ID=42", "ACCORDION_ALLOCATIONS=42:n[1-2]"}, "run", "hostname").is(t, 5, "<srun><hostname>", "")
	run(t, programs, inCompanions, "run", "--version").is(t, 5, "<srun><--version>", "") // options that only ask srun for information go to srun
	run(t, nil, nil, "run", "hostname").is(t, 1, "", "accordion: run: srun is not in PATH: accordion run is for jobs of Slurm")
	e := run(t, map[string]string{"srun": "#"}, nil, "run", "hostname")
	e.is(t, 0, "", "")
}

func TestRunRefusesWhatCannotSpan(t *testing.T) {
	programs := map[string]string{"srun": echo}
	run(t, programs, inCompanions, "run", "--multi-prog", "conf").is(t, 2, "", "accordion: run: --multi-prog cannot work over 2 allocations")
	run(t, programs, inCompanions, "run", "-n").is(t, 2, "", "accordion: run: -n (--ntasks) needs a value")
	run(t, programs, inCompanions, "run").is(t, 2, "", "accordion: run: which program?")
	run(t, programs, []string{"SLURM_JOB_ID=42", "ACCORDION_ALLOCATIONS=42"}, "run", "a").is(t, 1, "", "accordion: run: ACCORDION_ALLOCATIONS")
	for _, help := range []string{"--help", "-h"} {
		run(t, programs, inCompanions, "run", help).is(t, 0, "ACCORDION_PROCID", "")
		run(t, programs, nil, "agent", help).is(t, 0, "agent [options of ssh] HOST COMMAND", "")
	}
}

func TestRunStartsAProgramOnAllAllocations(t *testing.T) {
	srun := `case "$*" in *--help*) echo "  -n, --ntasks=number"; exit ;; esac; echo "$SLURM_JOB_ID $*"; exit ${STATUS:-0}`
	programs := map[string]string{"srun": srun, "solve": "#"}
	e := run(t, programs, inCompanions, "run", "solve", "--fast")
	e.is(t, 0, "solve --fast", "")
	if n := strings.Count(e.out, "/solve --fast"); n != 2 { // accordion resolves the path, not srun
		t.Errorf("%d programs of %q, want 2", n, e.out)
	}
	run(t, programs, append([]string{"STATUS=7"}, inCompanions...), "run", "solve").is(t, 7, "solve", "")
}

func TestAnAgentRunsACommandOnAHost(t *testing.T) {
	programs := map[string]string{"srun": `printf '<%s>' "$@"; exit ${STATUS:-0}`, "scontrol": "exit 1"}
	job := []string{"SLURM_JOB_ID=42", "SLURM_JOB_NODELIST=n[1-2]", "SHELL=/bin/sh"}
	run(t, programs, job, "agent", "n1", "hostname", "-f").is(t, 0, "<--jobid=42>", "")
	run(t, programs, append(job, "STATUS=9"), "agent", "n1", "hostname").is(t, 9, "<--nodelist=n1>", "")
	run(t, programs, job, "agent", "-l", "carol", "n1", "hostname").is(t, 255, "", "as user carol: a job's steps are its own user's (")
	run(t, programs, job, "agent").is(t, 255, "", "accordion: agent: which host?")
	run(t, programs, nil, "agent", "n1", "hostname").is(t, 255, "", "n1 cannot be reached: this is no job of Slurm")
	user, err := exec.Command("id", "-un").Output()
	if err != nil {
		t.Fatal(err)
	}
	run(t, programs, job, "agent", "-l", strings.TrimSpace(string(user)), "n1", "hostname").is(t, 0, "<--jobid=42>", "")
}
