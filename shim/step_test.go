package shim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/core/hostlist"
	"accordion/internal/testenv"
	"accordion/shim/wire"
)

// environment is a set of environment variables, written out in a test.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	v, set := e[name]
	return v, set
}

// with returns a copy with added or changed variables.
func (e environment) with(pairs ...string) environment {
	all := environment{}
	for name, value := range e {
		all[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// after returns the environment of a shell that has evaluated the text. It is a simple parser for the output of the
// type `script`, and only for values without quotes. shell_test.go uses real shells.
func (e environment) after(t *testing.T, text string) environment {
	t.Helper()
	all := e.with()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if assignment, ok := strings.CutPrefix(line, "export "); ok {
			name, value, _ := strings.Cut(assignment, "=")
			all[name] = strings.Trim(value, "'")
		} else if name, ok := strings.CutPrefix(line, "unset "); ok {
			delete(all, name)
		} else if !strings.HasPrefix(line, "(exit ") {
			t.Errorf("an unexpected line: %q", line)
		}
	}
	return all
}

// inSlurm returns the environment that `sbatch -N2 -n8` has on nodes of 4 CPUs, as seen on 22.05. There is no scontrol
// in its PATH.
func inSlurm(t *testing.T) environment {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	return environment{
		"SLURM_JOB_ID":            "7",
		"SLURM_NNODES":            "2",
		"SLURM_JOB_NUM_NODES":     "2",
		"SLURM_NODELIST":          "n[1-2]",
		"SLURM_JOB_NODELIST":      "n[1-2]",
		"SLURM_JOB_CPUS_PER_NODE": "4(x2)",
		"SLURM_NTASKS":            "8",
		"SLURM_NPROCS":            "8",
		"SLURM_TASKS_PER_NODE":    "4(x2)",
		"TMPDIR":                  t.TempDir(),
	}
}

// fakeScontrol puts a scontrol into PATH.
func fakeScontrol(t *testing.T, body string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// call calls Step with a sidecar that sends one reply.
func call(t *testing.T, env environment, r wire.Reply) Outcome {
	t.Helper()
	c, _ := sidecar{replies(r)}.client()
	return step(t.Context(), Options{Getenv: env.lookup}, c)
}

// sized returns the reply for the start of a step on these nodes.
func sized(step int, nodes string) wire.Reply {
	names, err := hostlist.Expand(nodes)
	if err != nil {
		panic(err)
	}
	return wire.Reply{Status: wire.Resized, Nodes: nodes, Count: len(names), Step: step, Steps: 9, Until: 1800000000, Generation: step - 1}
}

func TestTheExportsOfAGrownJob(t *testing.T) {
	env := inSlurm(t)
	out := call(t, env, wire.Reply{Status: wire.Resized, Nodes: "n[1-2,5,7-8]", Count: 5, Step: 2, Steps: 3, Until: 1800000000, Generation: 1})
	if out.Status != StatusResized {
		t.Fatalf("status %d: %s", out.Status, out.Message)
	}
	hosts := env.after(t, out.Text)["ACCORDION_HOSTFILE"]
	want := env.with(
		"SLURM_NNODES", "5",
		"SLURM_JOB_NUM_NODES", "5",
		"SLURM_NODELIST", "n[1-2,5,7-8]",
		"SLURM_JOB_NODELIST", "n[1-2,5,7-8]",
		"SLURM_JOB_CPUS_PER_NODE", "4(x5)",
		"SLURM_NTASKS", "20",
		"SLURM_NPROCS", "20",
		"SLURM_TASKS_PER_NODE", "4(x5)",
		"ACCORDION_JOB", "7",
		"ACCORDION_STEP", "2",
		"ACCORDION_STEPS", "3",
		"ACCORDION_UNTIL", "1800000000",
		"ACCORDION_GENERATION", "1",
		"ACCORDION_TASKS", "8/2",
		"ACCORDION_NODELIST", "n[1-2,5,7-8]",
		"ACCORDION_NNODES", "5",
		"ACCORDION_HOSTFILE", hosts,
	)
	if d := cmp.Diff(want, env.after(t, out.Text)); d != "" {
		t.Errorf("the environment (-want +got):\n%s", d)
	}
	if got, err := os.ReadFile(hosts); err != nil || string(got) != "n1\nn2\nn5\nn7\nn8\n" {
		t.Errorf("the hosts: %q, %v", got, err)
	}
	if want := "job 7: step 2 of 3 begins: 5 nodes, n[1-2,5,7-8], until " + time.Unix(1800000000, 0).Format(time.DateTime); out.Message != want {
		t.Errorf("the message is %q, want %q", out.Message, want)
	}
}

func TestAJobKeepsOneHostfileOfItsOwn(t *testing.T) {
	env := inSlurm(t)
	dir := filepath.Join(env["TMPDIR"], fmt.Sprintf("accordion-%d", os.Getuid()))
	first := env.after(t, call(t, env, sized(2, "n[1-5]")).Text)
	path := first["ACCORDION_HOSTFILE"]
	if filepath.Dir(path) != dir {
		t.Fatalf("ACCORDION_HOSTFILE=%s, want a file in %s", path, dir)
	}
	second := first.after(t, call(t, first, sized(3, "n[1-3]")).Text)
	if second["ACCORDION_HOSTFILE"] != path {
		t.Errorf("the next step has %s, the first %s", second["ACCORDION_HOSTFILE"], path)
	}
	// The job has the same number on another cluster.
	other := env.after(t, call(t, env, sized(2, "m[1-2]")).Text)["ACCORDION_HOSTFILE"]
	if other == path {
		t.Errorf("two jobs have %s", path)
	}
	// The job was submitted inside the first one and has its environment.
	child := first.with("SLURM_JOB_ID", "8")
	if got := child.after(t, call(t, child, sized(2, "n9")).Text)["ACCORDION_HOSTFILE"]; got == path {
		t.Errorf("a job has the file of its parent")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "n1\nn2\nn3\n" {
		t.Errorf("the hosts: %q, %v", got, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("files of three jobs: %v, %v", files, err)
	}
}

func TestTasksScaleWithTheNodesAndComeBackToWhatTheyWere(t *testing.T) {
	for name, c := range map[string]struct {
		env   []string
		sizes []string // sizes of the steps from the second on
		want  []string // SLURM_NTASKS SLURM_TASKS_PER_NODE
	}{
		"4 tasks a node": {nil,
			[]string{"n[1-5]", "n[1-3]", "n1", "n[1-2]"},
			[]string{"20 4(x5)", "12 4(x3)", "4 4", "8 4(x2)"}},
		"3 and 2 tasks": {[]string{"SLURM_NTASKS", "5", "SLURM_TASKS_PER_NODE", "3,2"},
			[]string{"n[1-3]", "n[1-4]", "n1", "n[1-2]"},
			[]string{"8 3(x2),2", "10 3(x2),2(x2)", "3 3", "5 3,2"}},
		"one task a node": {[]string{"SLURM_NTASKS", "2", "SLURM_TASKS_PER_NODE", "1(x2)"},
			[]string{"n[1-16]", "n1"},
			[]string{"16 1(x16)", "1 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := inSlurm(t).with(c.env...)
			for i, size := range c.sizes {
				out := call(t, env, sized(i+2, size))
				env = env.after(t, out.Text)
				if got := env["SLURM_NTASKS"] + " " + env["SLURM_TASKS_PER_NODE"]; got != c.want[i] {
					t.Errorf("step %d on %s: %s, want %s", i+2, size, got, c.want[i])
				}
			}
		})
	}
}

func TestUnsetVariablesStayUnset(t *testing.T) {
	env := inSlurm(t)
	for _, name := range []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"} {
		delete(env, name)
		after := env.after(t, call(t, env, sized(2, "n[1-5]")).Text)
		if v, set := after[name]; set {
			t.Errorf("%s is set to %q", name, v)
		}
	}
}

func TestTasksPerNodeWithoutATotalAreScaled(t *testing.T) {
	env := inSlurm(t)
	delete(env, "SLURM_NTASKS")
	delete(env, "SLURM_NPROCS")
	if got := env.after(t, call(t, env, sized(2, "n[1-3]")).Text)["SLURM_TASKS_PER_NODE"]; got != "4(x3)" {
		t.Errorf("got %q", got)
	}
}

func TestNodesKeepTheirCPUsAndNewOnesAreTakenToHaveTheFewest(t *testing.T) {
	env := inSlurm(t).with("SLURM_JOB_NODELIST", "n[3-5]", "SLURM_JOB_CPUS_PER_NODE", "8,4(x2)")
	if got := env.after(t, call(t, env, sized(2, "n[1,3-4]")).Text)["SLURM_JOB_CPUS_PER_NODE"]; got != "4,8,4" {
		t.Errorf("got %q", got)
	}
}

func TestUsersHostfileIsUnsetWhenTheNodesChange(t *testing.T) {
	env := inSlurm(t).with("SLURM_HOSTFILE", "/home/u/hosts", "SLURM_DISTRIBUTION", "arbitrary")
	same := call(t, env, sized(2, "n[1-2]"))
	if after := env.after(t, same.Text); after["SLURM_HOSTFILE"] != "/home/u/hosts" {
		t.Errorf("on the same nodes: %q", same.Text)
	}
	grown := call(t, env, sized(2, "n[1-3]"))
	after := env.after(t, grown.Text)
	for _, name := range []string{"SLURM_HOSTFILE", "SLURM_DISTRIBUTION"} {
		if v, set := after[name]; set {
			t.Errorf("on other nodes: %s=%s", name, v)
		}
	}
	if !strings.Contains(grown.Message, "SLURM_HOSTFILE") {
		t.Errorf("the message is %q", grown.Message)
	}
	block := env.with("SLURM_DISTRIBUTION", "block")
	if v := block.after(t, call(t, block, sized(2, "n[1-3]")).Text)["SLURM_DISTRIBUTION"]; v != "block" {
		t.Errorf("SLURM_DISTRIBUTION=%q, want block as before", v)
	}
}

func TestTheRequestSaysWhichStepEnds(t *testing.T) {
	base := inSlurm(t)
	for name, c := range map[string]struct {
		env  environment
		want int
	}{
		"the first, before any call":                {base, 1},
		"what the last call told":                   {base.with("ACCORDION_JOB", "7", "ACCORDION_STEP", "3"), 3},
		"not what another job left":                 {base.with("ACCORDION_JOB", "6", "ACCORDION_STEP", "3"), 1},
		"not what stands alone":                     {base.with("ACCORDION_STEP", "3"), 1},
		"not rubbish":                               {base.with("ACCORDION_JOB", "7", "ACCORDION_STEP", "-3"), 1},
		"the second, when the first call timed out": {base.after(t, call(t, base, wire.Reply{Status: wire.Late, Nodes: "n[1-2]", Count: 2, Step: 2, Steps: 3}).Text), 2},
	} {
		t.Run(name, func(t *testing.T) {
			var got wire.Request
			cl, _ := sidecar{{takes: func(conn net.Conn, q wire.Request) {
				got = q
				wire.WriteReply(conn, resized)
			}}}.client()
			step(t.Context(), Options{Getenv: c.env.lookup, Keep: "n[1-2]"}, cl)
			if got.Step != c.want || got.Job != 7 || got.Keep != "n[1-2]" {
				t.Errorf("got %+v, want step %d", got, c.want)
			}
		})
	}
}

func TestStatusesAndMessages(t *testing.T) {
	now := wire.Reply{Nodes: "n[1-2]", Count: 2, Step: 3, Steps: 3}
	as := func(s wire.Status, why string) wire.Reply {
		r := now
		r.Status, r.Why = s, why
		return r
	}
	for name, c := range map[string]struct {
		reply    wire.Reply
		status   int
		messages string
		exports  bool
	}{
		"resized":                       {as(wire.Resized, ""), 0, "job 7: step 3 of 3 begins: 2 nodes, n[1-2]", true},
		"resized early":                 {as(wire.Resized, "41 s before the planned second"), 0, "job 7: step 3 of 3 begins: 2 nodes, n[1-2] (41 s before the planned second)", true},
		"late":                          {as(wire.Late, "n5 is still held by job 9"), 3, "job 7: the next step's nodes did not come in time: n5 is still held by job 9", true},
		"over":                          {as(wire.Over, ""), 1, "job 7: there is no next step: the last one goes on", true},
		"refused":                       {as(wire.Refused, "n9 is none of the job's nodes"), 1, "job 7: refused: n9 is none of the job's nodes", true},
		"refused, about no job of ours": {wire.Reply{Status: wire.Refused, Why: "job 7 is not managed"}, 1, "job 7: refused: job 7 is not managed", false},
		"words that could do harm":      {as(wire.Refused, "\x1b[2Jgone\nexit"), 1, "job 7: refused: ?[2Jgone?exit", true},
	} {
		t.Run(name, func(t *testing.T) {
			out := call(t, inSlurm(t), c.reply)
			if out.Status != c.status || out.Message != c.messages {
				t.Errorf("status %d, message %q; want %d, %q", out.Status, out.Message, c.status, c.messages)
			}
			if got := strings.Contains(out.Text, "export SLURM_NODELIST='n[1-2]'"); got != c.exports {
				t.Errorf("exports: %q", out.Text)
			}
			if end := fmt.Sprintf("(exit %d)\n", c.status); c.status != 0 && !strings.HasSuffix(out.Text, end) {
				t.Errorf("the text ends %q", out.Text)
			}
		})
	}
}

// unserved calls Step without a sidecar, which gives up immediately, and returns the outcome.
func unserved(t *testing.T, env environment) Outcome {
	t.Helper()
	c, _ := sidecar{absent}.client()
	c.first = 0
	return step(t.Context(), Options{Getenv: env.lookup}, c)
}

const scontrolLine = `JobId=7 JobName=NodeList=evil UserId=u(1000) JobState=RUNNING Reason=None Dependency=(null) ReqNodeList=n9 ExcNodeList=(null) NodeList=n[1-3] BatchHost=n1 NumNodes=3 NumCPUs=12 Comment=x`

func TestWithoutASidecarTheBatchSystemIsAsked(t *testing.T) {
	env := inSlurm(t)
	fakeScontrol(t, `[ "$*" = "show job -d -o 7" ] && echo '`+scontrolLine+`'`)
	out := unserved(t, env)
	after := env.after(t, out.Text)
	if out.Status != StatusNoSidecar || after["SLURM_NODELIST"] != "n[1-3]" || after["SLURM_NTASKS"] != "12" {
		t.Errorf("status %d, %s, text:\n%s", out.Status, out.Message, out.Text)
	}
	if _, set := after["ACCORDION_STEP"]; set {
		t.Error("it names a step without a reply")
	}
	if !strings.HasPrefix(out.Message, "job 7: no sidecar answered within 0s: connection refused") {
		t.Errorf("the message is %q", out.Message)
	}
}

func TestWithoutSidecarAndBatchSystemTheEnvironmentStays(t *testing.T) {
	for name, body := range map[string]string{
		"scontrol fails":              "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1",
		"scontrol says nothing":       "",
		"scontrol says something odd": "echo NodeList=n9 BatchHost=n9",
		"the job holds nothing":       "echo ' ReqNodeList= ExcNodeList= NodeList= BatchHost='",
	} {
		t.Run(name, func(t *testing.T) {
			env := inSlurm(t)
			fakeScontrol(t, body)
			out := unserved(t, env)
			after := env.after(t, out.Text)
			if out.Status != StatusNoSidecar {
				t.Errorf("status %d", out.Status)
			}
			for name, was := range env {
				if after[name] != was {
					t.Errorf("%s was %q and is %q", name, was, after[name])
				}
			}
			if hosts, err := os.ReadFile(after["ACCORDION_HOSTFILE"]); err != nil || string(hosts) != "n1\nn2\n" {
				t.Errorf("the hosts: %q, %v", hosts, err)
			}
		})
	}
}

func TestJobWithoutNodesInItsEnvironmentGetsNoExports(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	out := unserved(t, environment{"SLURM_JOB_ID": "7"})
	if out.Status != StatusNoSidecar || out.Text != "(exit 4)\n" {
		t.Errorf("status %d, text %q", out.Status, out.Text)
	}
}

// inOAR returns the environment under OAR 2.5 of a job of two nodes, one with two cores and one with three.
func inOAR(t *testing.T) environment {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "7")
	if err := os.WriteFile(file, []byte("n1\nn1\nn2\nn2\nn2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return environment{"OAR_JOB_ID": "7", "OAR_JOBID": "7", "OAR_NODEFILE": file, "OAR_FILE_NODES": file, "OAR_NODE_FILE": file,
		"OAR_RESOURCE_FILE": file, "OAR_RESOURCE_PROPERTIES_FILE": file + "_resources", "TMPDIR": dir}
}

// listed returns the text of the file that the variables name. All of them must name the same file.
func (e environment) listed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if e[name] != e[names[0]] {
			t.Errorf("%s is %s, %s is %s", name, e[name], names[0], e[names[0]])
		}
	}
	text, err := os.ReadFile(e[names[0]])
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestUnderOARTheNodeFileHasALineForEachCoreOfThePresentNodes(t *testing.T) {
	env := inOAR(t)
	own := env["OAR_NODEFILE"]
	for _, c := range []struct {
		call         func() Outcome
		nodes, hosts string
	}{
		{func() Outcome { return unserved(t, env) }, "n1\nn1\nn2\nn2\nn2\n", "n1\nn2\n"},
		{func() Outcome { return call(t, env, sized(2, "n[2-4]")) }, "n2\nn2\nn2\nn3\nn3\nn4\nn4\n", "n2\nn3\nn4\n"},
		{func() Outcome { return call(t, env, sized(3, "n[2-4]")) }, "n2\nn2\nn2\nn3\nn3\nn4\nn4\n", "n2\nn3\nn4\n"},
		{func() Outcome { return unserved(t, env) }, "n2\nn2\nn2\nn3\nn3\nn4\nn4\n", "n2\nn3\nn4\n"},
		{func() Outcome { return call(t, env, sized(4, "n2")) }, "n2\nn2\nn2\n", "n2\n"},
		{func() Outcome { return call(t, env, sized(5, "n[1-2]")) }, "n1\nn1\nn1\nn2\nn2\nn2\n", "n1\nn2\n"},
	} {
		out := c.call()
		before := env
		env = env.after(t, out.Text)
		if got := env.listed(t, "OAR_NODEFILE", "OAR_FILE_NODES", "OAR_NODE_FILE", "OAR_RESOURCE_FILE"); got != c.nodes {
			t.Errorf("%s: the node file has %q, want %q", out.Message, got, c.nodes)
		}
		if got := env.listed(t, "ACCORDION_HOSTFILE"); got != c.hosts {
			t.Errorf("%s: the hosts are %q, want %q", out.Message, got, c.hosts)
		}
		if strings.Contains(out.Text, "SLURM") || env["OAR_RESOURCE_PROPERTIES_FILE"] != own+"_resources" {
			t.Errorf("%s: %q", out.Message, out.Text)
		}
		if before["OAR_NODEFILE"] != own && env["OAR_NODEFILE"] != before["OAR_NODEFILE"] {
			t.Errorf("%s: the node file was %s and is %s", out.Message, before["OAR_NODEFILE"], env["OAR_NODEFILE"])
		}
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "n1\nn1\nn2\nn2\nn2\n" {
		t.Errorf("OAR's own file: %q, %v", text, err)
	}
}

func TestUnderOARAVariableWithAnotherFileStays(t *testing.T) {
	env := inOAR(t).with("OAR_RESOURCE_FILE", "/other")
	if after := env.after(t, call(t, env, sized(2, "n[1-3]")).Text); after["OAR_RESOURCE_FILE"] != "/other" || after["OAR_NODE_FILE"] == env["OAR_NODE_FILE"] {
		t.Errorf("after the step: %v", after)
	}
}

func TestUnderOARAFailedNodeFileUnsetsTheVariables(t *testing.T) {
	env := inOAR(t).with("TMPDIR", "/no/such/directory")
	out := call(t, env, sized(2, "n[1-3]"))
	after := env.after(t, out.Text)
	for _, name := range []string{"OAR_NODEFILE", "OAR_FILE_NODES", "OAR_NODE_FILE", "OAR_RESOURCE_FILE"} {
		if v, set := after[name]; set {
			t.Errorf("%s is %s, which has the previous nodes", name, v)
		}
	}
	if out.Status != StatusResized || !strings.Contains(out.Message, "no OAR_NODEFILE") {
		t.Errorf("status %d: %s", out.Status, out.Message)
	}
}

func TestWrongCallsAreUsageErrorsInOneLine(t *testing.T) {
	slurm := inSlurm(t)
	for name, c := range map[string]struct {
		o        Options
		messages string
	}{
		"both":               {Options{Getenv: slurm.lookup, Keep: "n1", Release: "n2"}, "--keep and --release together: say what stays or what goes, not both"},
		"a bad list":         {Options{Getenv: slurm.lookup, Keep: "n[1-"}, "--keep: "},
		"a list to release":  {Options{Getenv: slurm.lookup, Release: "n1;rm"}, "--release: "},
		"a list without end": {Options{Getenv: slurm.lookup, Keep: strings.Repeat("n1,", 20000) + "n1"}, "at most"},
		"a negative timeout": {Options{Getenv: slurm.lookup, Timeout: -1}, "negative"},
		"not inside a job":   {Options{Getenv: environment{}.lookup}, "not inside a job"},
		"a job that is none": {Options{Getenv: environment{"SLURM_JOB_ID": "7_1"}.lookup}, `SLURM_JOB_ID is "7_1", which is no job id`},
		"a negative job":     {Options{Getenv: environment{"OAR_JOB_ID": "-7"}.lookup}, "OAR_JOB_ID"},
	} {
		t.Run(name, func(t *testing.T) {
			cl, seen := sidecar{replies(resized)}.client()
			out := step(t.Context(), c.o, cl)
			if out.Status != StatusUsage || out.Text != "(exit 2)\n" || !strings.Contains(out.Message, c.messages) || strings.Contains(out.Message, "\n") {
				t.Errorf("status %d, message %q, text %q; want 2, %q", out.Status, out.Message, out.Text, c.messages)
			}
			if len(*seen) > 0 {
				t.Errorf("the sidecar was asked: %v", *seen)
			}
		})
	}
}

func TestTheHostfileIsWrittenOnlyWhereNobodyElseCan(t *testing.T) {
	dir := func(tmp string) string { return filepath.Join(tmp, fmt.Sprintf("accordion-%d", os.Getuid())) }
	for name, c := range map[string]struct {
		prepare  func(t *testing.T, tmp string) error
		usual    bool   // the file is in accordion-UID
		messages string // messages that are expected if there is no file
	}{
		"a link":            {func(t *testing.T, tmp string) error { return os.Symlink(tmp, dir(tmp)) }, false, ""},
		"a file":            {func(t *testing.T, tmp string) error { return os.WriteFile(dir(tmp), nil, 0o600) }, false, ""},
		"no such directory": {func(t *testing.T, tmp string) error { return os.Remove(tmp) }, false, "no such file"},
		"open to others": {func(t *testing.T, tmp string) error {
			return errors.Join(os.Mkdir(dir(tmp), 0o700), os.Chmod(dir(tmp), 0o777))
		}, false, ""},
		"of another user": {func(t *testing.T, tmp string) error {
			testenv.Needs(t, testenv.Root)
			return errors.Join(os.Mkdir(dir(tmp), 0o700), os.Chown(dir(tmp), 12345, 12345))
		}, false, ""},
		"a directory of ours": {func(t *testing.T, tmp string) error { return os.Mkdir(dir(tmp), 0o700) }, true, ""},
		"nothing":             {func(t *testing.T, tmp string) error { return nil }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := inSlurm(t)
			tmp := env["TMPDIR"]
			if err := c.prepare(t, tmp); err != nil {
				t.Fatal(err)
			}
			env = env.with("ACCORDION_HOSTFILE", "/old")
			out := call(t, env, sized(2, "n[1-5]"))
			hosts, set := env.after(t, out.Text)["ACCORDION_HOSTFILE"]
			if out.Status != StatusResized || !strings.Contains(out.Message, c.messages) || set != (c.messages == "") {
				t.Errorf("status %d, message %q, ACCORDION_HOSTFILE=%q", out.Status, out.Message, hosts)
			}
			if !set {
				return
			}
			at := filepath.Dir(hosts)
			if usual := at == dir(tmp); usual != c.usual || !usual && !strings.HasPrefix(at, dir(tmp)+".") {
				t.Errorf("it is %s", hosts)
			}
			if info, err := os.Lstat(at); err != nil || info.Mode() != 0o700|os.ModeDir || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) {
				t.Errorf("%s: %v, %v", at, info, err)
			}
			if again := env.after(t, call(t, env, sized(2, "n[1-2]")).Text)["ACCORDION_HOSTFILE"]; filepath.Dir(again) != at {
				t.Errorf("the next step has %s, the first %s", again, hosts)
			}
		})
	}
}
