package output

import (
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output/outputtest"

	"github.com/google/go-cmp/cmp"
)

func TestNodeStates(t *testing.T) {
	for _, c := range []struct {
		state        string
		usable, idle bool
	}{
		{"IDLE", true, true}, {"IDLE+PLANNED", true, true}, {"ALLOCATED", true, false}, {"MIXED", true, false},
		{"ALLOCATED+PLANNED", true, false}, {"IDLE+DRAIN", false, true}, {"IDLE+DRAIN+PLANNED", false, true},
		{"DOWN", false, false}, {"DOWN*+DRAIN", false, false}, {"IDLE*", false, true}, {"UNKNOWN", false, false},
		{"UNK", false, false}, {"IDLE+COMPLETING", true, false}, {"ALLOCATED*", false, false}, {"IDLE+MAINTENANCE", true, true},
		{"IDLE+RESERVED", true, true}, {"IDLE+CLOUD+POWERED_DOWN", true, true}, {"IDLE+POWERING_DOWN", true, true}, {"IDLE+NOT_RESPONDING+POWERING_UP", true, true}, {"DOWN+POWERED_DOWN", false, false},
		{"IDLE+REBOOT_ISSUED", false, true}, {"IDLE+NOT_RESPONDING", false, true}, {"IDLE~", true, true}, {"IDLE%", false, true},
		{"IDLE+FLAG_OF_A_LATER_RELEASE", false, true}, {"FUTURE", false, false}, {"", false, false},
	} {
		read := readState(c.state)
		usable, idle := read.use == Now, !read.holds
		if usable != c.usable || usable && idle != c.idle {
			t.Errorf("%q: usable %v idle %v, want %v %v", c.state, usable, idle, c.usable, c.idle)
		}
	}
}

func TestWhetherANodeIsLost(t *testing.T) {
	for state, want := range map[string]bool{
		"IDLE": false, "ALLOCATED": false, "IDLE+DRAIN": false, "UNKNOWN": false, "UNKNOWN*": false, "UNK*": false, "UNKNOWN+NOT_RESPONDING": false, "IDLE+FLAG_OF_A_LATER_RELEASE": false,
		"IDLE+POWERED_DOWN": false, "IDLE+NOT_RESPONDING+POWERING_UP": false, "ALLOCATED#": false,
		"DOWN": true, "DOWN*": true, "DOWN+DRAIN": true, "DOWN*+DRAIN": true, "DOWN+POWERED_DOWN": true, "ERROR": true,
		"IDLE*": true, "ALLOCATED*": true, "IDLE+NOT_RESPONDING": true, "MIXED+DRAIN+NOT_RESPONDING": true,
	} {
		if readState(state).lost() != want {
			t.Errorf("%s: lost: %v, want %v", state, !want, want)
		}
	}
}

func TestWhetherANodeSleeps(t *testing.T) {
	for state, want := range map[string]Power{
		"IDLE": Awake, "IDLE+CLOUD": Awake, "MIXED+PLANNED": Awake, "IDLE+POWERED_DOWN": Asleep, "IDLE+CLOUD+POWERED_DOWN": Asleep, "IDLE~": Asleep, "IDLE+POWER": Asleep,
		"ALLOCATED+POWERING_UP": Waking, "ALLOCATED#": Waking, "ALLOCATED+NOT_RESPONDING+POWERING_UP": Waking, "IDLE+POWERED_DOWN+POWER_UP": Waking, "MIXED+CLOUD+POWER_UP": Waking,
		"IDLE+POWERING_DOWN": FallingAsleep, "IDLE%": FallingAsleep, "IDLE!": FallingAsleep, "IDLE+POWER_DOWN": FallingAsleep, "ALLOCATED+POWER_DRAIN": FallingAsleep, "DOWN*+POWERING_DOWN*": FallingAsleep,
	} {
		if got := PowerOf(state); got != want {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
}

func TestPartitionsAreReadAsTheReleasesPrintThem(t *testing.T) {
	const none = core.Forever
	for line, want := range map[string]Partition{
		"PartitionName=a Nodes=n[1-2] PriorityTier=3 OverSubscribe=EXCLUSIVE OverTimeLimit=5 PreemptMode=OFF State=UP MaxNodes=UNLIMITED MaxTime=UNLIMITED DefMemPerNode=UNLIMITED": {
			Name: "a", Nodes: []string{"n1", "n2"}, Tier: 3, State: "UP", Exclusive: true, OverSubscribe: "EXCLUSIVE", maxTime: none, overTime: "5", Preempt: "OFF"},
		"PartitionName=a Exclusive=NODE OverSubscribe=NO MaxTime=1-00:00:00 MaxNodes=4 DefMemPerCPU=100": {
			Name: "a", Exclusive: true, OverSubscribe: "NO", maxTime: 86400, maxNodes: 4, defMemPerCPU: 100},
		"PartitionName=a Exclusive=TOPO OverSubscribe=NO MaxTime=UNLIMITED":       {Name: "a", Exclusive: true, OverSubscribe: "NO", maxTime: none},
		"PartitionName=a ExclusiveUser=YES OverSubscribe=YES:2 MaxTime=UNLIMITED": {Name: "a", ofOneUser: true, OverSubscribe: "YES:2", maxTime: none},
		"PartitionName=a ExclusiveUser=NO OverSubscribe=YES:2 MaxTime=UNLIMITED":  {Name: "a", OverSubscribe: "YES:2", maxTime: none},
		"PartitionName=a Exclusive=USER OverSubscribe=YES:2 MaxTime=UNLIMITED PreemptMode=GANG,SUSPEND DefMemPerNode=2000": {
			Name: "a", ofOneUser: true, OverSubscribe: "YES:2", maxTime: none, Preempt: "GANG,SUSPEND", defMemPerNode: 2000},
		"PartitionName=a ExclusiveUser=NO OverSubscribe=FORCE:4 MaxTime=30:00": {Name: "a", OverSubscribe: "FORCE:4", maxTime: 1800},
	} {
		if got, err := parsePartition(line); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s:\n%+v, %v; want\n%+v", line, got, err, want)
		}
	}
}

func TestOfEveryReleaseNodesAndPartitionsAreRead(t *testing.T) {
	for _, release := range outputtest.Releases {
		in, err := ParseInventory(outputtest.Recorded(t, release+"/cluster.txt"))
		if err != nil || len(in.Nodes) != 6 || len(in.Partitions) != 2 || len(in.Reservations) != 1 {
			t.Fatalf("%s: %d nodes, %d partitions, %d reservations: %v", release, len(in.Nodes), len(in.Partitions), len(in.Reservations), err)
		}
		if p := in.Partitions[0]; p.Name != "main" || !p.Exclusive || len(p.Nodes) != 6 || p.Tier != 1 || p.maxTime != core.Forever || p.maxNodes != 0 || p.State != "UP" || p.Preempt != "OFF" {
			t.Errorf("%s: %+v", release, p)
		}
		if p := in.Partitions[1]; p.Exclusive || p.OverSubscribe != "NO" {
			t.Errorf("%s: %+v", release, p)
		}
		if n := in.Nodes[0]; n.CPUs != 4 || n.EffectiveCPUs != 4 || n.allocated != 4 || n.RealMemory != 1000 || n.GRES != "tape:2" || n.Features != "thin,fat" || n.available != "thin,fat" ||
			n.Idle || !n.Usable || n.Asleep {
			t.Errorf("%s: %+v", release, n)
		}
		if n := in.Nodes[0].Node; n.HostResources != (adapter.HostResources{Cores: 4, Memory: 1000, Arch: "x86_64"}) {
			t.Errorf("%s: launchers see %+v", release, n.HostResources)
		}
		// A suspended job holds the node, but Slurm prints IDLE.
		if n := in.Nodes[4]; n.allocated != 0 || !n.Idle {
			t.Errorf("%s: %+v", release, n)
		}
		if r := in.Reservations[0]; r.Name != "accordion-r1" || r.User != "alice" || len(r.Nodes) != 1 || r.End-r.Start != 3600 {
			t.Errorf("%s: %+v", release, r)
		}
	}
}

// Slurm 22.05 printed this after a job was canceled while it grew. The node has no allocation until slurmctld
// counts again.
func TestANodeWhoseCoresAreCountedAsAllocatedIsNotIdle(t *testing.T) {
	for allocated, idle := range map[string]bool{"CPUAlloc=0": true, "CPUAlloc=2": false} {
		n := parseNode("NodeName=n5 Arch=x86_64 CoresPerSocket=1  " + allocated + " CPUEfctv=2 CPUTot=2 CPULoad=22.60 RealMemory=4000 AllocMem=0 State=IDLE ThreadsPerCore=1")
		if n.Idle != idle || !n.Usable {
			t.Errorf("%s: %+v", allocated, n)
		}
	}
}

func TestWhatANodeHasForJobsIsKnownOrSaidNotToBe(t *testing.T) {
	for line, want := range map[string]adapter.HostResources{
		"NodeName=n5 Arch=aarch64 CPUEfctv=126 CPUTot=128 RealMemory=256000 MemSpecLimit=6000 State=IDLE":                                   {Cores: 126, Memory: 250_000, Arch: "aarch64"},
		"NodeName=n5 Arch=x86_64 CPUTot=4 RealMemory=1 State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1":                                      {Cores: 4, Arch: "x86_64"}, // slurm.conf sets none
		"NodeName=n5 CPUTot=4 RealMemory=100 State=UNKNOWN":                                                                                 {Cores: 4, Memory: 100},    // the node has not registered yet
		"NodeName=n5 CPUTot=4 RealMemory=1 State=IDLE+REBOOT_REQUESTED NextState=RESUME ThreadsPerCore=2 TmpDisk=894000 Weight=1 Owner=N/A": {Cores: 4, Scratch: 894_000},
		"NodeName=n5 CPUTot=4 RealMemory=1 State=DOWN ThreadsPerCore=1 Reason=TmpDisk=7 Arch=z [root]":                                      {Cores: 4}, // an administrator's text
		"NodeName=n5 CPUTot=4 RealMemory=1 State=DOWN ThreadsPerCore=1 TmpDisk=9 Weight=1 Comment=TmpDisk=7 RealMemory=7":                   {Cores: 4, Scratch: 9},
	} {
		if n := parseNode(line); n.HostResources != want {
			t.Errorf("%s: %+v, want %+v", line, n.HostResources, want)
		}
	}
}

func TestScontrolIsReadAsSlurmPrintsIt(t *testing.T) {
	in, err := ParseInventory(outputtest.Recorded(t, "scontrol.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Nodes) != 8 || len(in.Partitions) != 2 {
		t.Fatalf("%d nodes and %d partitions", len(in.Nodes), len(in.Partitions))
	}
	if n := in.Nodes[7]; n.Usable || !strings.Contains(n.Why, "disk is bad State=IDLE") {
		t.Errorf("drained node: %+v", n)
	}
	if n := in.Nodes[5]; !n.Usable || n.Idle || n.Why != "ALLOCATED" {
		t.Errorf("allocated node: %+v", n)
	}
	want := []adapter.Reservation{
		{Name: "accordion-grow-46", Nodes: []string{"n6"}, Start: in.Reservations[0].Start, End: in.Reservations[0].End, User: "ana"},
		{Name: "maint", Nodes: []string{"n1", "n2"}, Start: in.Reservations[1].Start, End: in.Reservations[1].Start + 3600, User: "root", OverManaged: true, Strict: true},
	}
	if diff := cmp.Diff(want, in.Reservations); diff != "" {
		t.Errorf("reservations (-want +read):\n%s", diff)
	}
	if p := in.Partitions[0]; !p.Exclusive || p.Name != "main" || len(p.Nodes) != 8 || p.Tier != 1 {
		t.Errorf("partition: %+v", p)
	}
}

func FuzzScontrol(f *testing.F) {
	f.Add(outputtest.Recorded(f, "scontrol.txt"))
	f.Add("scontrol: scontrol: NodeName=\nPartitionName= Nodes=n[1-\n")
	f.Fuzz(func(t *testing.T, out string) {
		in, err := ParseInventory(out)
		if err != nil {
			return
		}
		if len(in.Nodes) == 0 || len(in.Partitions) == 0 {
			t.Error("a cluster without nodes or partitions")
		}
		_, _ = Snapshot(in, nil, []string{in.Partitions[0].Name})
	})
}

func TestANodeSuitsAJobThatAsksForNoMoreThanItHas(t *testing.T) {
	n := Node{EffectiveCPUs: 4, RealMemory: 4000, reservedMemory: 500, GRES: "gpu:a100:2(S:0),tmp:350G"}
	n.Scratch = 2000
	for name, test := range map[string]struct {
		job  Record
		want bool
	}{
		"nothing special":         {Record{}, true},
		"all of it":               {Record{MinCPUs: 4, MinMemory: 3500, MinDisk: 2000, TRESPerNode: "gres:gpu:2,gres:tmp:350G"}, true},
		"a CPU more":              {Record{MinCPUs: 5}, false},
		"reserved memory":         {Record{MinMemory: 3501}, false},
		"more temporary disk":     {Record{MinDisk: 2001}, false},
		"a counted resource":      {Record{TRESPerNode: "gres:tmp:10G"}, true},
		"too much of it":          {Record{TRESPerNode: "gres/tmp:400G"}, false},
		"of a type":               {Record{TRESPerNode: "gres:gpu:a100:2"}, true},
		"of another type":         {Record{TRESPerNode: "gres:gpu:v100:1"}, false},
		"none of it":              {Record{TRESPerNode: "gres:none"}, true},
		"CPUs of a task":          {Record{TRESPerTask: "cpu=2"}, true}, // since 23.11 the CPUs of each task are among the TRES of each task
		"zero of what it has not": {Record{TRESPerNode: "gres:nic:0", TRESPerJob: "gres/nic:0"}, true},
		"of what it has not":      {Record{TRESPerJob: "gres/nic:1"}, false},
	} {
		if got := n.Suits(&test.job); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzParseReservation passes lines to ParseReservation. It must return an error, or a reservation with a name
// whose end is not before its start.
func FuzzParseReservation(f *testing.F) {
	for line := range strings.Lines(outputtest.Recorded(f, "scontrol.txt")) {
		if strings.HasPrefix(line, "ReservationName=") {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	f.Add("ReservationName=a StartTime=2026-01-01T00:00:00 EndTime=2026-01-01T00:00:01 Nodes=n[1-999999999] Users=(null) Flags=PURGE_COMP=,IGNORE_JOBS")
	f.Add("ReservationName=a Nodes=n[1-9][1-9][1-9][1-9][1-9][1-9][1-9][1-9]")
	f.Fuzz(func(t *testing.T, line string) {
		r, err := ParseReservation(line)
		if err != nil {
			return
		}
		if r.Name == "" || !strings.Contains(line, r.Name) || r.End < r.Start || r.Idle < 0 {
			t.Errorf("%q: %+v", line, r)
		}
	})
}
