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
	"accordion/core"
	"accordion/slurm/client"
)

// clients is a system whose client programs are shell scripts, for answers that a healthy Slurm does not give.
func clients(t *testing.T, change func(*Config), scripts map[string]string) *System {
	t.Helper()
	c := Config{Partitions: []string{"main"}, Bin: t.TempDir(), Timeout: time.Minute}
	if change != nil {
		change(&c)
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(c.Bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
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
	s := clients(t, func(c *Config) { c.Timeout = 300 * time.Millisecond }, map[string]string{
		"squeue": "sleep 600 & echo $! > " + file + ".new && mv " + file + ".new " + file + "; wait",
	})
	_, err := s.Inspect(t.Context(), adapter.Key{ID: 7, Submitted: 1})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "squeue") || !strings.Contains(err.Error(), "is slurmctld up?") {
		t.Errorf("the error is %v", err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		return // so slow a machine that the deadline came before the child
	}
	for range 600 { // the kernel ends it when it likes
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
	s := clients(t, func(c *Config) { c.Conf = "/etc/other/slurm.conf" }, map[string]string{"scontrol": "env; pwd"})
	out, err := s.run.Run(t.Context(), client.Call{Program: "scontrol"})
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
	s := clients(t, func(c *Config) { c.AtOnce = 2 }, map[string]string{
		"scontrol": "mkdir " + dir + "/$$ && ls " + dir + " | wc -l && sleep 0.05 && rmdir " + dir + "/$$",
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out, err := s.run.Run(t.Context(), client.Call{Program: "scontrol"})
			if n := strings.TrimSpace(out.Stdout); err != nil || n != "1" && n != "2" {
				t.Errorf("%s programs at once, want at most 2 (%v)", n, err)
			}
		})
	}
	all.Wait()
}

func TestAFailureSaysWhatWasRunAndWhatItSaid(t *testing.T) {
	job := printed{id: 7, submitted: 1, user: "a", uid: 1, state: "PENDING", priority: 9}
	s := clients(t, nil, map[string]string{
		"scontrol": "echo 'slurm_update error: Something new' >&2; echo second >&2; exit 3",
		"squeue":   "sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + job.row("WORD") + "END",
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
	if _, err := clients(t, nil, nil).Observe(t.Context()); err == nil || !strings.Contains(err.Error(), "scontrol") {
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

func TestAnAllocationSaysAllThatTheParentSays(t *testing.T) {
	parent := &record{account: "physics", minMemory: 3700, tresPerNode: "gres:gpu:a100:2", tresPerTask: "gres/fpga:1"}
	parent.ID, parent.UID, parent.GID, parent.Partition, parent.QOS = 46, 1001, 100, "main,other", "normal"
	parent.Tasks, parent.Want, parent.Limit = 4, 2, core.Forever
	nodes := []string{"n7", "n6"}
	const base = "--no-shell --no-bell --chdir=/ --partition=main,other --job-name=accordion-%s-46 --nodes=%d --nodelist=%s "
	const whose = " --qos=normal --account=physics --reservation=accordion-46-2"
	site := site{memory: true}
	own := node{effective: 8, memory: 4000}
	for _, test := range []struct {
		name string
		a    allocation
		want string
	}{
		{"an expander in whole nodes", terms{way{Merge, ""}, site, "EXCLUSIVE", own}.beside(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=0 --dependency=expand:46" + whose},
		{"an expander that makes its nodes whole", terms{way{Merge, ""}, site, "NO", own}.beside(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=0 --mincpus=8 --dependency=expand:46" + whose},
		{"the one with the memory", terms{way{Overlap, ""}, site, "YES:2", own}.beside(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=3699 --mincpus=8 --dependency=expand:46" + whose},
		{"a companion", terms{way{Companions, ""}, site, "YES:2", own}.beside(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "with", 2, "n[6-7]") + "--mem=0 --mincpus=8 --time=UNLIMITED" + whose + " --gres=gpu:a100:2,fpga:2"},
	} {
		if got := strings.Join(test.a.arguments(), " "); got != test.want {
			t.Errorf("%s:\ngot  salloc %s\nwant salloc %s", test.name, got, test.want)
		}
	}
}

func TestTasksAndCPUsFollowTheNodes(t *testing.T) {
	for _, c := range []struct{ want, tasks, cpus, nodes, newTasks, newCPUs int }{
		{1, 4, 4, 2, 8, 8}, {3, 6, 6, 5, 10, 10}, {2, 2, 8, 5, 5, 20}, {4, 16, 16, 1, 4, 4}, {3, 7, 7, 2, 6, 6}, {0, 0, 0, 2, 2, 2},
	} {
		r := &record{}
		r.Want, r.Tasks, r.CPUs = c.want, c.tasks, c.cpus
		if tasks, cpus := scaled(r, c.nodes); tasks != c.newTasks || cpus != c.newCPUs {
			t.Errorf("%+v: %d tasks and %d CPUs", c, tasks, cpus)
		}
	}
}

func TestAJobHasAllCPUsOfItsNodesOnEveryRelease(t *testing.T) {
	for _, test := range []struct {
		name              string
		release           int
		in                sharing
		want, tasks, cpus int
		nodes             int
		counts            string // refused: why
		gres              string
	}{
		{"22.05 does as it is asked", 2205, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=3", ""},
		{"24.11 gives what tasks need", 2411, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=24 CPUsPerTask=8", ""},
		{"several tasks on a node", 2605, "NO", 2, 8, 8, 2, "NumNodes=2-2 NumTasks=8 NumCPUs=16 CPUsPerTask=2", ""},
		{"it has all of them", 2411, "YES:2", 2, 16, 16, 2, "", ""},
		{"whole nodes", 2411, "EXCLUSIVE", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=3", ""},
		{"tasks that do not divide them", 2411, "YES:2", 1, 3, 3, 2, "its 3 tasks on each node do not divide a node's 8 CPUs", ""},
		{"GPUs on 22.05", 2205, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=24 CPUsPerTask=8", "gres:gpu:1"},
	} {
		r := &record{maxNodes: test.want, tresPerNode: test.gres}
		r.Want, r.Tasks, r.CPUs = test.want, test.tasks, test.cpus
		s := configuration{"SLURM_VERSION": fmt.Sprintf("%d.%02d.1", test.release/100, test.release%100)}.site()
		counts, err := terms{site: s, in: test.in, node: node{effective: 8}}.counts(r, test.nodes)
		got := strings.Join(counts, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.counts) || test.counts == "" && got != "" {
			t.Errorf("%s: %s, want %s", test.name, got, test.counts)
		}
	}
}

func TestARequestBecomesAMarkOnlyWhenItIsPlain(t *testing.T) {
	for comment, want := range map[string]string{
		"ep=2x1m,5x1m my run": "accordion:ep=2x1m,5x1m", " mold=4x2h|8x70m": "accordion:mold=4x2h|8x70m",
		"my ep=2x1m": "", "": "", `ep="2x1m"`: "", "ep=2x1m\x07": "", "ep=2×1m": "",
	} {
		if got, err := markFor(comment); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", comment, got, err, want)
		}
	}
}

// TestPreflightFindsWhatIsWrong spoils one thing of a healthy cluster at a time.
func TestPreflightFindsWhatIsWrong(t *testing.T) {
	read := func() (configuration, inventory) {
		c, err := parseConfiguration(recorded(t, "config.txt"))
		if err != nil {
			t.Fatal(err)
		}
		in, err := parseInventory(recorded(t, "scontrol.txt"))
		if err != nil {
			t.Fatal(err)
		}
		c["SLURM_VERSION"], c["JobSubmitPlugins"], c["SLURM_CONF"] = "24.11.1", "lua", filepath.Join(t.TempDir(), "slurm.conf")
		plugin := filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua")
		if err := os.WriteFile(plugin, []byte(`local MARK = "accordion:" -- _SLURM_SPANK_OPTION_accordion_`), 0o600); err != nil {
			t.Fatal(err)
		}
		c["PlugStackConfig"] = filepath.Join(filepath.Dir(c["SLURM_CONF"]), "plugstack.conf")
		if err := os.WriteFile(c["PlugStackConfig"], []byte("# ours\noptional /opt/accordion.so\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return c, in
	}
	older := func(c configuration, _ inventory) {
		plugin := filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua")
		if err := os.WriteFile(plugin, []byte(`local MARK = "accordion:"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	withoutOptions := func(c configuration, _ inventory) {
		c["JobSubmitPlugins"] = ""
		if err := os.WriteFile(c["PlugStackConfig"], []byte("#optional accordion.so\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func(c configuration, in inventory) []adapter.Finding {
		found := append(c.check(t.Context()), checkPool(c, in, []string{"main"})...)
		return slices.DeleteFunc(append(append(found, checkPlugin(c)...), checkOptions(c)...), func(f adapter.Finding) bool { return strings.Contains(f.What, "partition shared has 8") })
	}
	if found := find(read()); len(found) != 0 {
		t.Errorf("a healthy cluster: %v", found)
	}
	for _, c := range []struct {
		severity adapter.Severity
		says     string
		spoil    func(configuration, inventory)
	}{
		{adapter.Fatal, "older than 20.11", func(c configuration, _ inventory) { c["SLURM_VERSION"] = "20.02.7" }},
		{adapter.Fatal, "slurmdbd does not answer", func(c configuration, _ inventory) {
			c["SLURM_VERSION"], c["AccountingStorageHost"], c["AccountingStoragePort"] = "22.05.8", "127.0.0.1", "1"
		}},
		{adapter.Fatal, "come to lie on the cores", func(_ configuration, in inventory) {
			in.partitions[0].exclusive, in.partitions[0].overSubscribe = false, "FORCE:4"
		}},
		{adapter.Fatal, `no partition "main"`, func(_ configuration, in inventory) { in.partitions[0].name = "renamed" }},
		{adapter.Fatal, "has no nodes", func(_ configuration, in inventory) { in.partitions[0].nodes = nil }},
		{adapter.Warning, "main is DOWN", func(_ configuration, in inventory) { in.partitions[0].state = "DOWN" }},
		{adapter.Warning, "OverTimeLimit is UNLIMITED", func(c configuration, _ inventory) { c["OverTimeLimit"] = "UNLIMITED" }},
		{adapter.Warning, "BatchStartTimeout is 10 s", func(c configuration, _ inventory) { c["BatchStartTimeout"] = "10 sec" }},
		{adapter.Fatal, "main has PreemptMode=REQUEUE", func(c configuration, in inventory) {
			c["PreemptType"], in.partitions[0].preempt = "preempt/partition_prio", "REQUEUE"
		}},
		{adapter.Warning, "PreemptType is preempt/qos", func(c configuration, _ inventory) { c["PreemptType"] = "preempt/qos" }},
		{adapter.Warning, "is not in use", withoutOptions},
		{adapter.Warning, "does not read them", older},
		{adapter.Note, "cannot be seen from here", func(c configuration, _ inventory) { c["SLURM_CONF"] = "/nowhere/slurm.conf" }},
	} {
		conf, in := read()
		c.spoil(conf, in)
		found := find(conf, in)
		if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].What, c.says) || (found[0].Fix == "") != (c.severity == adapter.Note) {
			t.Errorf("%s: found %v", c.says, found)
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
