package slurm_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// unavailable is the error code for which sbatch prints "Requested node configuration is not available".
const unavailable = int64(2014)

// leaseHeld lists the reservations of a cluster that a sidecar serves.
const leaseHeld = `["accordion-lease"] = { end_time = 9999999999 }, ["accordion-gate"] = {}`

// mixedNodes returns a cluster of 4 thin nodes and 4 fat nodes with GPUs, in the format in which the sidecar writes
// it for job_submit.lua.
func mixedNodes(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for n := 1; n <= 8; n++ {
		gres, feature := "(null)", "thin"
		if n > 4 {
			gres, feature = "gpu:a100:4(S:0-1),tmp:350G", "fat"
		}
		fmt.Fprintf(&text, "NodeName=n%d Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.10 AvailableFeatures=%s,knl ActiveFeatures=%s Gres=%s "+
			"OS=Linux 6.1 RealMemory=4000 Sockets=2 Boards=1 MemSpecLimit=500 State=IDLE ThreadsPerCore=2 TmpDisk=2000 Weight=1\n", n, feature, feature, gres)
	}
	text.WriteString("PartitionName=main Nodes=n[1-8] State=UP PriorityTier=1 MaxTime=UNLIMITED MaxNodes=UNLIMITED\n")
	in, err := output.ParseInventory(text.String())
	if err != nil {
		t.Fatal(err)
	}
	return limits.NodesLua(in, []string{"main"}, true)
}

// submitWithNodes does what submit does, with a file of the cluster's nodes.
func submitWithNodes(t *testing.T, site, nodes, reservations string, job fields) fields {
	t.Helper()
	return submitWithFiles(t, map[string]string{"accordion.lua": site, "accordion_nodes.lua": nodes, "reservations.lua": "return { " + reservations + " }"}, "8", []fields{job})[0]
}

func TestAJobThatNoNodeCanSatisfyIsRefusedAtSubmission(t *testing.T) {
	const site = `return { partitions = { "main" } }`
	nodes := mixedNodes(t)
	for _, test := range []struct {
		name, ep string
		job      fields
		says     string // "" if the job is accepted
	}{
		{"nothing special", "1x20s,8x20s", nil, ""},
		{"all that a node has", "1x20s", fields{"num_tasks": 16, "min_cpus": 16, "cpus_per_task": 1, "pn_min_tmp_disk": 2000, "min_mem_per_node": 3500, "sockets_per_node": 2, "cores_per_socket": 4, "threads_per_core": 2, "ntasks_per_core": 2, "ntasks_per_socket": 8}, ""},
		{"as a mark for none", "1x20s", fields{"min_cpus": unsaidNumber, "num_tasks": unsaidNumber, "cpus_per_task": 65534, "pn_min_cpus": 65534, "pn_min_tmp_disk": unsaidNumber, "cores_per_socket": 65534, "ntasks_per_core": 65535}, ""},
		{"temporary disk", "1x20s,2x20s", fields{"pn_min_tmp_disk": 3000}, "--tmp=3000: the nodes of partition main have at most 2000 MB of temporary disk"},
		{"sockets", "1x20s", fields{"sockets_per_node": 3}, "--sockets-per-node=3: the nodes of partition main have at most 2 sockets"},
		{"cores", "1x20s", fields{"cores_per_socket": 8}, "--cores-per-socket=8: the nodes of partition main have at most 4 cores on a socket"},
		{"threads", "1x20s", fields{"threads_per_core": 4}, "--threads-per-core=4: the nodes of partition main have at most 2 threads on a core"},
		{"more tasks on a core than it has threads", "1x20s", fields{"ntasks_per_core": 16}, ""},
		{"more tasks on a core than a node has CPUs", "1x20s", fields{"ntasks_per_core": 17}, "--ntasks-per-core, which takes 17 CPUs on a node: the nodes of partition main have at most 16 CPUs"},
		{"the same with CPUs of each task", "1x20s", fields{"ntasks_per_core": 6, "num_tasks": 1, "min_cpus": 3, "cpus_per_task": 3}, "--ntasks-per-core, which takes 18 CPUs on a node"},
		{"just as many", "1x20s", fields{"ntasks_per_core": 5, "num_tasks": 1, "min_cpus": 3, "cpus_per_task": 3}, ""},
		{"the same on the same CPUs as others", "1x20s", fields{"ntasks_per_core": 17, "num_tasks": 2, "min_cpus": 1}, ""},
		{"the same beside tasks on a node", "1x20s", fields{"ntasks_per_core": 17, "ntasks_per_node": 1}, ""},
		{"the same beside tasks on a socket", "1x20s", fields{"ntasks_per_core": 17, "ntasks_per_socket": 1}, ""},
		{"tasks on a socket", "1x20s", fields{"ntasks_per_socket": 9}, "--ntasks-per-socket=9"},
		{"tasks of the first step", "1x20s,2x20s", fields{"num_tasks": 17, "min_cpus": 17}, "its tasks, which take 17 CPUs on a node: the nodes of partition main have at most 16 CPUs"},
		{"the same on two nodes", "2x20s,1x20s", fields{"num_tasks": 17, "min_cpus": 17}, ""},
		{"the same on the same CPUs", "1x20s", fields{"num_tasks": 17, "min_cpus": 1}, ""},
		{"tasks on a node", "1x20s", fields{"num_tasks": 17, "min_cpus": 17, "ntasks_per_node": 17}, "17 CPUs on a node"},
		{"tasks on a node, which take the place of those in all", "2x20s,4x20s", fields{"num_tasks": 64, "min_cpus": 64, "ntasks_per_node": 16}, ""},
		{"the same with CPUs of each task", "1x20s", fields{"num_tasks": 64, "min_cpus": 128, "cpus_per_task": 2, "ntasks_per_node": 8}, ""},
		{"too many on a node, though few in all", "2x20s,4x20s", fields{"num_tasks": 2, "min_cpus": 2, "ntasks_per_node": 17}, "17 CPUs on a node"},
		{"generic resources of each task on a node", "1x20s", fields{"num_tasks": 16, "min_cpus": 16, "ntasks_per_node": 2, "tres_per_task": "gres:gpu:2"}, ""},
		{"CPUs of a task", "1x20s", fields{"min_cpus": 64, "cpus_per_task": 64, "pn_min_cpus": 64}, "--cpus-per-task=64: the nodes of partition main have at most 16 CPUs"},
		{"CPUs of a node", "1x20s", fields{"min_cpus": 1, "pn_min_cpus": 64}, "--mincpus=64"},
		{"memory of a node", "1x20s", fields{"min_mem_per_node": 3501}, "--mem=3501M: the nodes of partition main have at most 3500 MB of memory"},
		{"memory of each CPU", "1x20s", fields{"num_tasks": 4, "min_cpus": 4, "min_mem_per_cpu": 1000}, "--mem-per-cpu, which takes 4000 MB on a node"},
		{"generic resources", "1x20s", fields{"tres_per_node": "gres:gpu:9"}, `generic resource "gpu", 9 on a node: the nodes of partition main have at most 4 of it`},
		{"those of a type", "1x20s,4x20s", fields{"tres_per_node": "gres/gpu:a100:4"}, ""},
		{"those of another type", "1x20s", fields{"tres_per_node": "gpu:v100:1"}, `generic resource "gpu:v100"`},
		{"those counted in gigabytes", "1x20s", fields{"tres_per_node": "gres:tmp:10G"}, ""},
		{"too many of them", "1x20s", fields{"tres_per_node": "gres/tmp:400G"}, `generic resource "tmp"`},
		{"a count of hundreds of digits", "1x20s", fields{"tres_per_node": "gres:gpu:" + strings.Repeat("9", 400) + "P"}, `generic resource "gpu", 1125899906842624 on a node`},
		{"those of each task", "1x20s", fields{"num_tasks": 3, "min_cpus": 3, "tres_per_task": "gres:gpu:2"}, `generic resource "gpu", 6 on a node`},
		{"none of them", "1x20s", fields{"tres_per_node": "gres:none"}, ""},
		{"what is no generic resource", "1x20s", fields{"tres_per_task": "cpu:2,gres/gpu:1"}, ""},
		{"a feature that half of them have", "4x20s", fields{"features": "fat"}, ""},
		{"a feature that too few have", "2x20s,5x20s", fields{"features": "fat"}, `4 of the nodes of partition main have what it asks for, and it needs 5: --constraint="fat"`},
		{"two features that none has together", "1x20s", fields{"features": "thin&fat"}, `--constraint="thin&fat": no node of partition main has that`},
		{"one of two features", "8x20s", fields{"features": "thin|fat"}, ""},
		{"a feature after a reboot", "8x20s", fields{"features": "knl"}, ""},
		{"what only Slurm understands", "8x20s", fields{"features": "(thin|fat)&none"}, ""},
		{"each by itself, and not together", "1x20s", fields{"features": "thin", "tres_per_node": "gres:gpu:1"}, `no node of partition main has all that it asks for: --constraint="thin", generic resource "gpu", 1 on a node`},
		{"one of several profiles can be had", "5x20s|4x20s", fields{"features": "fat"}, ""},
	} {
		job := fields{"comment": "ep=" + test.ep, "min_cpus": int64(1)}
		for name, value := range test.job {
			if n, is := value.(int); is {
				value = int64(n)
			}
			job[name] = value
		}
		got := submitWithNodes(t, site, nodes, leaseHeld, job)
		said, _ := got["user"].(string)
		if want := map[bool]int64{true: 0, false: unavailable}[test.says == ""]; got["rc"] != want || !strings.Contains(said, test.says) {
			t.Errorf("%s: %v %q, want %d %q", test.name, got["rc"], said, want, test.says)
		}
		if test.says == "" {
			continue
		}
		for name, other := range map[string][2]string{"the sidecar has ended": {nodes, `["accordion-lease"] = { end_time = 1000 }`}, "it was never there": {nodes, ""}, "a file that is no Lua": {"no Lua", leaseHeld}, "a pool without nodes": {"return {}", leaseHeld}} {
			if got := submitWithNodes(t, site, other[0], other[1], job); got["rc"] != int64(0) {
				t.Errorf("%s: %s: %v, want it accepted", test.name, name, got)
			}
		}
	}
	if got := submitWithNodes(t, site, nodes, leaseHeld, fields{"comment": "launch=7", "pn_min_tmp_disk": int64(3000)}); got["rc"] != unavailable {
		t.Errorf("a part of an application: %v", got)
	}
}

func TestAJobThatCanNeverStartDoesNotWaitBeforeTheGate(t *testing.T) {
	const all = `return { partitions = { "main" }, manage = "all" }`
	nodes := mixedNodes(t)
	for name, test := range map[string]struct {
		job   fields
		waits bool
	}{
		"one that can start":             {nil, true},
		"on several nodes":               {fields{"min_nodes": int64(2), "max_nodes": int64(2), "num_tasks": int64(32), "min_cpus": int64(32)}, true},
		"nodes are not settled":          {fields{"num_tasks": int64(32), "min_cpus": int64(32)}, true},
		"too many tasks for one node":    {fields{"min_nodes": int64(1), "max_nodes": int64(1), "num_tasks": int64(17), "min_cpus": int64(17)}, false},
		"too many in all, few on a node": {fields{"min_nodes": int64(1), "max_nodes": int64(1), "num_tasks": int64(64), "min_cpus": int64(64), "ntasks_per_node": int64(4)}, false},
		"too many nodes":                 {fields{"min_nodes": int64(9), "max_nodes": int64(9)}, false},
		"too many of one sort":           {fields{"min_nodes": int64(5), "features": "fat"}, false},
		"more disk than a node has":      {fields{"pn_min_tmp_disk": int64(3000)}, false},
		"more threads than a core has":   {fields{"threads_per_core": int64(4)}, false},
		"more tasks than threads":        {fields{"ntasks_per_core": int64(4)}, true},
	} {
		job := fields{"script": "#!/bin/sh\n"}
		maps.Copy(job, test.job)
		if got := submitWithNodes(t, all, nodes, leaseHeld, job); got["rc"] != int64(0) || (got["reservation"] == "accordion-gate") != test.waits {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The plug-in must not reject a job because of an old file. The sidecar may have moved, may now write to another
// place, or may be unable to write.
func TestAFileThatIsNoLongerRenewedRefusesNothing(t *testing.T) {
	const site = `return { partitions = { "main" } }`
	nodes, known := mixedNodes(t), "return { associations = { phys = { nodes = 4, why = \"node=4\" } }, parents = {}, qos = {} }"
	now := time.Now()
	for _, test := range []struct {
		name    string
		dated   func(text string) string
		refuses bool
	}{
		{"written now", func(text string) string { return limits.Dated(text, now) }, true},
		{"written ten minutes ago", func(text string) string { return limits.Dated(text, now.Add(-10*time.Minute)) }, true},
		{"written sixteen minutes ago", func(text string) string { return limits.Dated(text, now.Add(-16*time.Minute)) }, false},
		{"written in a future", func(text string) string { return limits.Dated(text, now.Add(time.Hour)) }, false},
		{"written by an earlier version", func(text string) string { return "-- second:\n" + text }, false},
	} {
		got := submitWithNodes(t, site, test.dated(nodes), leaseHeld, fields{"comment": "ep=1x20s", "pn_min_tmp_disk": int64(3000)})
		if (got["rc"] == unavailable) != test.refuses || got["rc"] != unavailable && got["rc"] != int64(0) {
			t.Errorf("nodes: %s: %v", test.name, got)
		}
		got = submitWithLimits(t, 16, test.dated(known), []fields{{"comment": "ep=1x1m,5x1m", "account": "phys"}})[0]
		if (got["rc"] == refused) != test.refuses || got["rc"] != refused && got["rc"] != int64(0) {
			t.Errorf("limits: %s: %v", test.name, got)
		}
	}
}
