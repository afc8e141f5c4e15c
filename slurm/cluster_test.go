package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"

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
		usable, idle := nodeState(c.state)
		if usable != c.usable || usable && idle != c.idle {
			t.Errorf("%q: usable %v idle %v, want %v %v", c.state, usable, idle, c.usable, c.idle)
		}
	}
}

func TestWhetherANodeSleeps(t *testing.T) {
	for state, want := range map[string]power{
		"IDLE": awake, "IDLE+CLOUD": awake, "MIXED+PLANNED": awake, "IDLE+POWERED_DOWN": asleep, "IDLE+CLOUD+POWERED_DOWN": asleep, "IDLE~": asleep, "IDLE+POWER": asleep,
		"ALLOCATED+POWERING_UP": waking, "ALLOCATED#": waking, "ALLOCATED+NOT_RESPONDING+POWERING_UP": waking, "IDLE+POWERED_DOWN+POWER_UP": waking, "MIXED+CLOUD+POWER_UP": waking,
		"IDLE+POWERING_DOWN": fallAsleep, "IDLE%": fallAsleep, "IDLE!": fallAsleep, "IDLE+POWER_DOWN": fallAsleep, "ALLOCATED+POWER_DRAIN": fallAsleep, "DOWN*+POWERING_DOWN*": fallAsleep,
	} {
		if got := nodePower(state); got != want {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
}

func TestPartitionsAreReadAsTheReleasesPrintThem(t *testing.T) {
	const none = core.Forever
	for line, want := range map[string]partition{
		"PartitionName=a Nodes=n[1-2] PriorityTier=3 OverSubscribe=EXCLUSIVE OverTimeLimit=5 PreemptMode=OFF State=UP MaxNodes=UNLIMITED MaxTime=UNLIMITED DefMemPerNode=UNLIMITED": {
			name: "a", nodes: []string{"n1", "n2"}, tier: 3, state: "UP", exclusive: true, overSubscribe: "EXCLUSIVE", maxTime: none, overTime: "5", preempt: "OFF"},
		"PartitionName=a Exclusive=NODE OverSubscribe=NO MaxTime=1-00:00:00 MaxNodes=4 DefMemPerCPU=100": {
			name: "a", exclusive: true, overSubscribe: "NO", maxTime: 86400, maxNodes: 4, defMemPerCPU: 100},
		"PartitionName=a Exclusive=TOPO OverSubscribe=NO MaxTime=UNLIMITED":       {name: "a", exclusive: true, overSubscribe: "NO", maxTime: none},
		"PartitionName=a ExclusiveUser=YES OverSubscribe=YES:2 MaxTime=UNLIMITED": {name: "a", ofOneUser: true, overSubscribe: "YES:2", maxTime: none},
		"PartitionName=a ExclusiveUser=NO OverSubscribe=YES:2 MaxTime=UNLIMITED":  {name: "a", overSubscribe: "YES:2", maxTime: none},
		"PartitionName=a Exclusive=USER OverSubscribe=YES:2 MaxTime=UNLIMITED PreemptMode=GANG,SUSPEND DefMemPerNode=2000": {
			name: "a", ofOneUser: true, overSubscribe: "YES:2", maxTime: none, preempt: "GANG,SUSPEND", defMemPerNode: 2000},
		"PartitionName=a ExclusiveUser=NO OverSubscribe=FORCE:4 MaxTime=30:00": {name: "a", overSubscribe: "FORCE:4", maxTime: 1800},
	} {
		if got, err := parsePartition(line); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s:\n%+v, %v; want\n%+v", line, got, err, want)
		}
	}
}

func TestOfEveryReleaseNodesAndPartitionsAreRead(t *testing.T) {
	for _, release := range releases {
		in, err := parseInventory(recorded(t, release+"/cluster.txt"))
		if err != nil || len(in.nodes) != 6 || len(in.partitions) != 2 || len(in.reservations) != 1 {
			t.Fatalf("%s: %d nodes, %d partitions, %d reservations: %v", release, len(in.nodes), len(in.partitions), len(in.reservations), err)
		}
		if p := in.partitions[0]; p.name != "main" || !p.exclusive || len(p.nodes) != 6 || p.tier != 1 || p.maxTime != core.Forever || p.maxNodes != 0 || p.state != "UP" || p.preempt != "OFF" {
			t.Errorf("%s: %+v", release, p)
		}
		if p := in.partitions[1]; p.exclusive || p.overSubscribe != "NO" {
			t.Errorf("%s: %+v", release, p)
		}
		if n := in.nodes[0]; n.cpus != 4 || n.effective != 4 || n.allocated != 4 || n.memory != 1000 || n.gres != "tape:2" || n.features != "thin,fat" || n.available != "thin,fat" ||
			n.Idle || !n.Usable || n.power != awake {
			t.Errorf("%s: %+v", release, n)
		}
		// A job that is suspended has the node, and Slurm says that it is idle.
		if n := in.nodes[4]; n.allocated != 0 || !n.Idle {
			t.Errorf("%s: %+v", release, n)
		}
		if r := in.reservations[0]; r.Name != "accordion-r1" || r.User != "alice" || len(r.Nodes) != 1 || r.End-r.Start != 3600 {
			t.Errorf("%s: %+v", release, r)
		}
	}
}

func TestScontrolIsReadAsSlurmPrintsIt(t *testing.T) {
	in, err := parseInventory(recorded(t, "scontrol.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(in.nodes) != 8 || len(in.partitions) != 2 {
		t.Fatalf("%d nodes and %d partitions", len(in.nodes), len(in.partitions))
	}
	if n := in.nodes[7]; n.Usable || !strings.Contains(n.Why, "disk is bad State=IDLE") {
		t.Errorf("drained node: %+v", n)
	}
	if n := in.nodes[5]; !n.Usable || n.Idle || n.Why != "ALLOCATED" {
		t.Errorf("allocated node: %+v", n)
	}
	want := []adapter.Reservation{
		{Name: "accordion-grow-46", Nodes: []string{"n6"}, Start: in.reservations[0].Start, End: in.reservations[0].End, User: "ana"},
		{Name: "maint", Nodes: []string{"n1", "n2"}, Start: in.reservations[1].Start, End: in.reservations[1].Start + 3600, User: "root", OverManaged: true},
	}
	if diff := cmp.Diff(want, in.reservations); diff != "" {
		t.Errorf("reservations (-want +read):\n%s", diff)
	}
	if p := in.partitions[0]; !p.exclusive || p.name != "main" || len(p.nodes) != 8 || p.tier != 1 {
		t.Errorf("partition: %+v", p)
	}
}

func TestThePoolIsCutOutOfTheCluster(t *testing.T) {
	in, err := parseInventory(recorded(t, "scontrol.txt"))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := parseSqueue(recorded(t, "squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	in.partitions[0].nodes = []string{"n2", "n3", "n8"} // main shrinks to these; shared reaches them still
	in.partitions = append(in.partitions, partition{name: "far", nodes: []string{"n7"}})
	far := record{Job: adapter.Job{Key: adapter.Key{ID: 99}, State: adapter.Pending, Partition: "far"}}
	s, err := assemble(in, append(jobs, far), []string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	if !slices.Equal(names, []string{"n2", "n3", "n8"}) {
		t.Errorf("nodes of the pool: %v", names)
	}
	holders := map[core.JobID]string{}
	for _, j := range s.Jobs {
		if j.ID == 99 {
			t.Error("a job that can only run elsewhere is told")
		}
		if j.State != adapter.Pending {
			holders[j.ID] = strings.Join(j.Nodes, ",")
		}
	}
	if diff := cmp.Diff(map[core.JobID]string{46: "n2", 47: "n3"}, holders); diff != "" {
		t.Errorf("who holds what of the pool (-want +got):\n%s", diff)
	}
	if len(s.Reservations) != 1 || !slices.Equal(s.Reservations[0].Nodes, []string{"n2"}) {
		t.Errorf("reservations: %+v", s.Reservations)
	}
	if _, err := assemble(in, jobs, []string{"nosuch"}); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("a pool that does not exist: %v", err)
	}
}

func FuzzScontrol(f *testing.F) {
	f.Add(recorded(f, "scontrol.txt"))
	f.Add("scontrol: scontrol: NodeName=\nPartitionName= Nodes=n[1-\n")
	f.Fuzz(func(t *testing.T, out string) {
		in, err := parseInventory(out)
		if err != nil {
			return
		}
		if len(in.nodes) == 0 || len(in.partitions) == 0 {
			t.Error("a cluster without nodes or partitions")
		}
		_, _ = assemble(in, nil, []string{in.partitions[0].name})
	})
}

func TestAChangedReservationIsToldOnlyWhatChanged(t *testing.T) {
	now := time.Unix(1000, 0)
	base := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2", "n10"}, Start: 900, End: 2000, User: "ana"}
	with := func(change func(*adapter.Reservation)) adapter.Reservation {
		r := base
		change(&r)
		return r
	}
	future := with(func(r *adapter.Reservation) { r.Start = 1500 })
	for _, c := range []struct {
		name string
		old  *adapter.Reservation
		r    adapter.Reservation
		want string
	}{
		{"new, from now", nil, base, "Flags=OVERLAP StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, later", nil, future, "Flags=OVERLAP StartTime=uts1500 EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, over managed jobs", nil, with(func(r *adapter.Reservation) { r.OverManaged = true }),
			"Flags=OVERLAP,IGNORE_JOBS StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, for a start", nil, with(func(r *adapter.Reservation) { r.Idle = 60 }),
			"Flags=OVERLAP,PURGE_COMP=1 StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"over managed jobs no more", new(with(func(r *adapter.Reservation) { r.OverManaged = true })), base, "Flags-=IGNORE_JOBS"},
		{"unchanged", &base, with(func(r *adapter.Reservation) { r.Nodes = []string{"n10", "n2", "n1"} }), ""},
		{"active: its start stays", &base, with(func(r *adapter.Reservation) { r.Start, r.End = 950, 2100 }), "EndTime=uts2100"},
		{"not begun: its start moves", &future, with(func(r *adapter.Reservation) { r.Start = 1600 }), "StartTime=uts1600"},
		{"other nodes", &base, with(func(r *adapter.Reservation) { r.Nodes = []string{"n3"} }), "Nodes=n3"},
	} {
		if got := strings.Join(reservationChanges(c.old, c.r, now), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhatAnUpdateWouldTakeUnseenIsTriedFirst(t *testing.T) {
	now := time.Unix(1000, 0)
	old := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2"}, Start: 1500, End: 2000, User: "ana"}
	for _, c := range []struct {
		name   string
		change func(*adapter.Reservation)
		want   []string
	}{
		{"fewer nodes, later, longer", func(r *adapter.Reservation) { r.Nodes, r.Start, r.End = r.Nodes[:1], 1600, 3000 }, nil},
		{"a node more", func(r *adapter.Reservation) { r.Nodes = []string{"n1", "n2", "n3"} }, []string{"accordion-7-more n3 1500-2000"}},
		{"sooner", func(r *adapter.Reservation) { r.Start = 1200 }, []string{"accordion-7-sooner n1,n2 1200-1500"}},
		{"both", func(r *adapter.Reservation) { r.Nodes, r.Start = []string{"n2", "n3"}, 0 },
			[]string{"accordion-7-more n3 0-2000", "accordion-7-sooner n2 0-1500"}},
		{"both, over managed jobs", func(r *adapter.Reservation) { r.Nodes, r.Start, r.OverManaged = []string{"n3"}, 0, true }, nil},
	} {
		r := old
		c.change(&r)
		var got []string
		for _, p := range probes(old, r, now) {
			got = append(got, fmt.Sprintf("%s %s %d-%d", p.Name, strings.Join(p.Nodes, ","), p.Start, p.End))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReservationsOfOthersAreInTheWay(t *testing.T) {
	r := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2"}, Start: 1000, End: 2000}
	for _, c := range []struct {
		other adapter.Reservation
		want  bool
	}{
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 1999, End: 3000}, true},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 2000, End: 3000}, false},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 0, End: 1000}, false},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n3"}, Start: 0, End: 3000}, false},
		{adapter.Reservation{Name: "accordion-8", Nodes: []string{"n1"}, Start: 0, End: 3000}, false},
	} {
		if got := inTheWay([]adapter.Reservation{c.other}, r) != nil; got != c.want {
			t.Errorf("%+v in the way: %v, want %v", c.other, got, c.want)
		}
	}
}
