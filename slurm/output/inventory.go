package output

import (
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// A Partition is what matters of a Slurm partition.
type Partition struct {
	Name  string
	Nodes []string // in natural order
	Tier  int
	State string // UP, DOWN, DRAIN, INACTIVE

	// exclusive: every job gets whole nodes. OverSubscribe=EXCLUSIVE, from 26.05 on Exclusive=NODE or TOPO.
	Exclusive     bool
	OverSubscribe string // as it is printed: NO, YES:4, FORCE:2, EXCLUSIVE (until 25.11)
	ofOneUser     bool   // a node is one user's at a time. ExclusiveUser=YES, from 26.05 on Exclusive=USER

	maxNodes int       // the most that a job may have; 0: any number
	maxTime  core.Time // the longest limit, in seconds; core.Forever where there is none
	overTime string    // OverTimeLimit: NONE, UNLIMITED or minutes
	Preempt  string    // PreemptMode: OFF, CANCEL, REQUEUE, SUSPEND, GANG,SUSPEND

	// What a job gets that does not ask for memory: MB on each node, or for each CPU; both 0: what the cluster gives, or all.
	defMemPerNode, defMemPerCPU int64
}

// An Inventory is all nodes, reservations and partitions of a cluster.
type Inventory struct {
	Nodes        []Node
	Reservations []adapter.Reservation
	Partitions   []Partition
}

// A Node as Slurm shows it.
type Node struct {
	adapter.Node
	CPUs      int   // CPUTot: all that it has
	EffectiveCPUs int   // CPUEfctv: the CPUs that jobs may have; before 22.05 all
	allocated int   // CPUAlloc: those that jobs have; one that is suspended has none
	RealMemory      int64 // RealMemory, MB: all that it has
	reservedMemory  int64 // MemSpecLimit, MB: of it, what jobs cannot have

	Sockets, CoresPerSocket, ThreadsPerCore int

	GRES      string   // gpu:4, gpu:a100:4(S:0-1),tape:2; "" for none
	available string   // features that it may have: thin,ib. With node_features plug-ins it has not all of them at a time
	Features  string   // ActiveFeatures: those that it has now
	unknown   []string // words of its state that are not known
}

// InventoryCommands is what scontrol is told on its standard input: one process for everything that is not a job.
const InventoryCommands = "show node\nshow reservation\nshow partition\n"

// ParseInventory reads the answers to inventoryCommands under -o. Lines are known by how they begin: between them
// scontrol repeats its prompt and the commands, or not, as it was built with readline or not. Only administrators can
// write into any of this.
func ParseInventory(out string) (Inventory, error) {
	var in Inventory
	number := 0
	for line := range strings.SplitSeq(out, "\n") {
		number++
		for strings.HasPrefix(line, "scontrol: ") {
			line = line[len("scontrol: "):]
		}
		var err error
		switch {
		case strings.HasPrefix(line, "NodeName="):
			in.Nodes = append(in.Nodes, parseNode(line))
		case strings.HasPrefix(line, "ReservationName="):
			var r adapter.Reservation
			if r, err = ParseReservation(line); err == nil {
				in.Reservations = append(in.Reservations, r)
			}
		case strings.HasPrefix(line, "PartitionName="):
			var p Partition
			if p, err = parsePartition(line); err == nil {
				in.Partitions = append(in.Partitions, p)
			}
		}
		if err != nil {
			return Inventory{}, fmt.Errorf("scontrol, line %d: %w", number, err)
		}
	}
	if len(in.Nodes) == 0 || len(in.Partitions) == 0 {
		return Inventory{}, fmt.Errorf("scontrol: no nodes or no partitions in %d lines: %w", number, ErrForm)
	}
	return in, nil
}

// unconfigured is the RealMemory, in MB, of a node of which slurm.conf says none: it means nothing.
const unconfigured = 1

// parseNode reads a line of `show node`. A number that cannot be read is 0. What follows the size of its disk, soon after the state, may be
// another's words.
func parseNode(line string) Node {
	var n Node
	var state string
	e := Reader{}
	over := false
	for rest := line; rest != "" && !over; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "NodeName":
			n.Name = strings.Clone(value) // it may be kept for long, and the list must not
		case "Arch":
			n.Arch = strings.Clone(value)
		case "CPUTot":
			n.CPUs = e.Count(key, value)
		case "CPUEfctv":
			n.EffectiveCPUs = e.Count(key, value)
		case "Sockets":
			n.Sockets = e.Count(key, value)
		case "CoresPerSocket":
			n.CoresPerSocket = e.Count(key, value)
		case "ThreadsPerCore":
			n.ThreadsPerCore = e.Count(key, value)
		case "CPUAlloc":
			n.allocated = e.Count(key, value)
		case "RealMemory":
			n.RealMemory = e.Memory(key, value)
		case "MemSpecLimit":
			n.reservedMemory = e.Memory(key, value)
		case "TmpDisk":
			n.Scratch, over = e.Memory(key, value), true // of TmpFS, as slurm.conf has it: 0 where it says none
		case "Gres":
			n.GRES = Text(value)
		case "AvailableFeatures":
			n.available = Text(value)
		case "ActiveFeatures":
			n.Features = Text(value)
		case "State":
			state = strings.Clone(value)
		case "NextState":
		default:
			over = state != ""
		}
	}
	if n.EffectiveCPUs == 0 {
		n.EffectiveCPUs = n.CPUs
	}
	if n.Cores = n.EffectiveCPUs; n.RealMemory > unconfigured {
		n.Memory = max(n.JobMemory(), 0)
	}
	n.Why = state
	read := readState(state)
	n.Usable, n.Idle = read.use == Now, !read.holds
	n.Idle = n.Idle && n.allocated == 0 // a merge that raced with its parent's end may leave it idle, with its cores counted as allocated
	n.Lost, n.Away = read.lost(), read.use == Away && !read.dead
	n.Asleep, n.unknown = read.asleep, read.unknown
	if !n.Usable {
		if _, reason, ok := strings.Cut(line, " Reason="); ok {
			n.Why += ": " + strings.TrimSpace(reason)
		}
	}
	return n
}

// ParseReservation reads a line of `show reservation`. One over no nodes (licenses) has none.
func ParseReservation(line string) (adapter.Reservation, error) {
	var e Reader
	r := adapter.Reservation{
		Name:  strings.Clone(Field(line, "ReservationName")),
		Start: e.Instant("StartTime", Field(line, "StartTime")),
		End:   e.Instant("EndTime", Field(line, "EndTime")),
		User:  strings.Clone(Text(Field(line, "Users"))),
	}
	for flag := range strings.SplitSeq(Field(line, "Flags"), ",") {
		name, value, _ := strings.Cut(flag, "=")
		r.OverManaged = r.OverManaged || name == "IGNORE_JOBS"
		r.Strict = r.Strict || name == "MAINT"
		if name == "PURGE_COMP" {
			r.Idle = e.Limit("PURGE_COMP", value)
		}
	}
	if list := Text(Field(line, "Nodes")); list != "" {
		r.Nodes = e.Nodes(list, map[string][]string{})
	}
	r.Repeats = repeatOf(Field(line, "Flags"))
	r.Later = occurrences(r.Start, r.End, r.Repeats, time.Local)
	if r.Name == "" || r.End < r.Start {
		e.Fail("reservation", ErrForm)
	}
	if e.Err != nil {
		return adapter.Reservation{}, fmt.Errorf("reservation %q: %w", r.Name, e.Err)
	}
	return r, nil
}

// parsePartition reads a line of `show partition`. What cannot be read of it but for its nodes is as if it were not set.
func parsePartition(line string) (Partition, error) {
	e := Reader{}
	p := Partition{
		Name:          Field(line, "PartitionName"),
		OverSubscribe: Field(line, "OverSubscribe"),
		State:         Field(line, "State"),
		overTime:      Field(line, "OverTimeLimit"),
		Preempt:       Field(line, "PreemptMode"),
		maxTime:       e.Limit("MaxTime", Field(line, "MaxTime")),
		Tier:          e.Count("PriorityTier", Field(line, "PriorityTier")),
		maxNodes:      e.most("MaxNodes", Field(line, "MaxNodes")),
		defMemPerNode: int64(e.most("DefMemPerNode", Field(line, "DefMemPerNode"))),
		defMemPerCPU:  int64(e.most("DefMemPerCPU", Field(line, "DefMemPerCPU"))),
	}
	whole := Field(line, "Exclusive")
	p.Exclusive = p.OverSubscribe == "EXCLUSIVE" || whole == "NODE" || whole == "TOPO"
	p.ofOneUser = whole == "USER" || Field(line, "ExclusiveUser") == "YES"
	list := Text(Field(line, "Nodes"))
	if list == "" {
		return p, nil // a partition may be empty
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return Partition{}, fmt.Errorf("partition %q: %w", p.Name, err)
	}
	hostlist.Sort(names)
	p.Nodes = names
	return p, nil
}
