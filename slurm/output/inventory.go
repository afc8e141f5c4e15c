package output

import (
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// A Partition holds the settings of a Slurm partition that the sidecar needs.
type Partition struct {
	Name  string
	Nodes []string // in natural order
	Tier  int
	State string // UP, DOWN, DRAIN, INACTIVE

	// Exclusive means that every job gets whole nodes: OverSubscribe=EXCLUSIVE, or from 26.05 on Exclusive=NODE or
	// TOPO.
	Exclusive     bool
	OverSubscribe string // as Slurm prints it: NO, YES:4, FORCE:2, EXCLUSIVE (until 25.11)
	ofOneUser     bool   // a node serves one user at a time: ExclusiveUser=YES, from 26.05 on Exclusive=USER

	maxNodes int       // the maximum number of nodes of a job; 0 means no maximum
	maxTime  core.Time // the longest time limit, in seconds; core.Forever if there is none
	overTime string    // OverTimeLimit: NONE, UNLIMITED or minutes
	Preempt  string    // PreemptMode: OFF, CANCEL, REQUEUE, SUSPEND, GANG,SUSPEND

	// These fields are the memory, in MB per node or per CPU, of a job that does not request any. If both are 0,
	// the job gets the cluster's default or all memory.
	defMemPerNode, defMemPerCPU int64
}

// An Inventory holds all nodes, reservations and partitions of a cluster.
type Inventory struct {
	Nodes        []Node
	Reservations []adapter.Reservation
	Partitions   []Partition
}

// A Node is a node as scontrol prints it.
type Node struct {
	adapter.Node
	CPUs           int   // CPUTot: all CPUs
	EffectiveCPUs  int   // CPUEfctv: the CPUs that jobs may have; before 22.05 all CPUs
	allocated      int   // CPUAlloc: the CPUs that jobs hold; the CPUs of a suspended job do not count
	RealMemory     int64 // RealMemory, MB: all memory
	reservedMemory int64 // MemSpecLimit, MB: the part that jobs cannot have

	Sockets, CoresPerSocket, ThreadsPerCore int

	GRES      string   // gpu:4, gpu:a100:4(S:0-1),tape:2; "" if the node has none
	available string   // AvailableFeatures: thin,ib; with node_features plug-ins the node has only some of them at a time
	Features  string   // ActiveFeatures: the features that the node has now
	unknown   []string // words in the node's state that Accordion does not know
}

// InventoryCommands is the input of scontrol. One process reads everything except jobs.
const InventoryCommands = "show node\nshow reservation\nshow partition\n"

// ParseInventory parses scontrol's answers to InventoryCommands with the option -o. It recognizes lines by their
// beginnings, because a scontrol with readline also prints its prompt and the commands. Only administrators can
// write any of this text.
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

// unconfigured is the RealMemory, in MB, of a node for which slurm.conf does not set it. The node's true memory is
// then unknown.
const unconfigured = 1

// parseNode parses a line of `show node`. If it cannot parse a number, it uses 0. It stops after TmpDisk, which
// follows the state, because later fields may have an administrator's free text.
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
			n.Name = strings.Clone(value) // a copy, so that the node does not keep the whole output in memory
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
			n.Scratch, over = e.Memory(key, value), true // slurm.conf's TmpDisk, the size of TmpFS; 0 if not set
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
	n.Idle = n.Idle && n.allocated == 0 // after a merge raced with the end of its parent, the node may be IDLE although its cores still count as allocated
	n.Lost, n.Away = read.lost(), read.use == Away && !read.dead
	n.Asleep, n.unknown = read.asleep, read.unknown
	if !n.Usable {
		if _, reason, ok := strings.Cut(line, " Reason="); ok {
			n.Why += ": " + strings.TrimSpace(reason)
		}
	}
	return n
}

// ParseReservation parses a line of `show reservation`. The result has no nodes if the reservation has none, as a
// reservation of licenses.
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

// parsePartition parses a line of `show partition`. A setting that cannot be parsed counts as not set. An invalid
// list of nodes is an error.
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
