package slurm

import (
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// A partition is what matters of a Slurm partition.
type partition struct {
	name  string
	nodes []string // in natural order
	tier  int
	state string // UP, DOWN, DRAIN, INACTIVE

	// exclusive: every job gets whole nodes. OverSubscribe=EXCLUSIVE, from 26.05 on Exclusive=NODE or TOPO.
	exclusive     bool
	overSubscribe string // as it is printed: NO, YES:4, FORCE:2, EXCLUSIVE (until 25.11)
	ofOneUser     bool   // a node is one user's at a time. ExclusiveUser=YES, from 26.05 on Exclusive=USER

	maxNodes int       // the most that a job may have; 0: any number
	maxTime  core.Time // the longest limit, in seconds; core.Forever where there is none
	overTime string    // OverTimeLimit: NONE, UNLIMITED or minutes
	preempt  string    // PreemptMode: OFF, CANCEL, REQUEUE, SUSPEND, GANG,SUSPEND

	// What a job gets that does not ask for memory: MB on each node, or for each CPU; both 0: what the cluster gives, or all.
	defMemPerNode, defMemPerCPU int64
}

// sharing is how the partition's jobs share nodes.
func (p *partition) sharing() sharing {
	if p.exclusive {
		return "EXCLUSIVE"
	}
	if p.ofOneUser {
		return sharing(p.overSubscribe + ofOneUser)
	}
	return sharing(p.overSubscribe)
}

// An inventory is all nodes, reservations and partitions of a cluster.
type inventory struct {
	nodes        []node
	reservations []adapter.Reservation
	partitions   []partition
}

// A node as Slurm shows it.
type node struct {
	adapter.Node
	cpus      int    // CPUTot: all that it has
	effective int    // CPUEfctv: those of them that jobs may have; before 22.05 all
	allocated int    // CPUAlloc: those that jobs have; one that is suspended has none
	memory    int64  // RealMemory, MB: all that it has
	reserved  int64  // MemSpecLimit, MB: of it, what jobs cannot have
	gres      string // gpu:4, gpu:a100:4(S:0-1),tape:2; "" for none
	available string // features that it may have: thin,ib. With node_features plug-ins it has not all of them at a time
	features  string // ActiveFeatures: those that it has now
	power     power
}

// power is where a node stands between awake and asleep, where a site lets its nodes sleep (SuspendProgram).
type power int

const (
	awake      power = iota
	asleep           // POWERED_DOWN: an allocation wakes it, and lasts from that instant
	waking           // POWERING_UP: it boots, up to ResumeTimeout, and then answers
	fallAsleep       // POWERING_DOWN, POWER_DOWN: it goes to sleep, up to SuspendTimeout, and cannot be woken before
)

// inventoryCommands is what scontrol is told on its standard input: one process for everything that is not a job.
const inventoryCommands = "show node\nshow reservation\nshow partition\n"

// parseInventory reads the answers to inventoryCommands under -o. Lines are known by how they begin: between them
// scontrol repeats its prompt and the commands, or not, as it was built with readline or not. Only administrators can
// write into any of this.
func parseInventory(out string) (inventory, error) {
	var in inventory
	number := 0
	for line := range strings.SplitSeq(out, "\n") {
		number++
		for strings.HasPrefix(line, "scontrol: ") {
			line = line[len("scontrol: "):]
		}
		var err error
		switch {
		case strings.HasPrefix(line, "NodeName="):
			in.nodes = append(in.nodes, parseNode(line))
		case strings.HasPrefix(line, "ReservationName="):
			var r adapter.Reservation
			if r, err = parseReservation(line); err == nil {
				in.reservations = append(in.reservations, r)
			}
		case strings.HasPrefix(line, "PartitionName="):
			var p partition
			if p, err = parsePartition(line); err == nil {
				in.partitions = append(in.partitions, p)
			}
		}
		if err != nil {
			return inventory{}, fmt.Errorf("scontrol, line %d: %w", number, err)
		}
	}
	if len(in.nodes) == 0 || len(in.partitions) == 0 {
		return inventory{}, fmt.Errorf("scontrol: no nodes or no partitions in %d lines: %w", number, errForm)
	}
	return in, nil
}

// parseNode reads a line of `show node`. A number that cannot be read is 0. What follows the state may be another's words.
func parseNode(line string) node {
	var n node
	var state string
	e := fieldReader{}
	for rest := line; rest != "" && state == ""; {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "NodeName":
			n.Name = strings.Clone(value) // it may be kept for long, and the list must not
		case "CPUTot":
			n.cpus = e.count(key, value)
		case "CPUEfctv":
			n.effective = e.count(key, value)
		case "CPUAlloc":
			n.allocated = e.count(key, value)
		case "RealMemory":
			n.memory = e.memory(key, value)
		case "MemSpecLimit":
			n.reserved = e.memory(key, value)
		case "Gres":
			n.gres = text(value)
		case "AvailableFeatures":
			n.available = text(value)
		case "ActiveFeatures":
			n.features = text(value)
		case "State":
			state = strings.Clone(value)
		}
	}
	if n.effective == 0 {
		n.effective = n.cpus
	}
	n.Why = state
	n.Usable, n.Idle = nodeState(state)
	n.power = nodePower(state)
	n.Asleep = n.power != awake
	if !n.Usable {
		if _, reason, ok := strings.Cut(line, " Reason="); ok {
			n.Why += ": " + strings.TrimSpace(reason)
		}
	}
	return n
}

// nodePower reads the same states. Before 21.08 POWER is asleep and POWER_UP waking; later these are what is wished.
func nodePower(s string) power {
	base, flags, _ := strings.Cut(s, "+")
	p := awake
	for flag := range strings.SplitSeq(flags, "+") {
		switch strings.TrimRight(flag, "*") {
		case "POWERED_DOWN", "POWER":
			p = max(p, asleep)
		case "POWERING_UP", "POWER_UP":
			p = max(p, waking)
		case "POWERING_DOWN", "POWER_DOWN", "POWER_DRAIN":
			p = fallAsleep
		}
	}
	switch {
	case strings.ContainsAny(base, "%!"):
		p = fallAsleep
	case strings.Contains(base, "#"):
		p = max(p, waking)
	case strings.Contains(base, "~"):
		p = max(p, asleep)
	}
	return p
}

// nodeState reads a state such as IDLE+PLANNED, MIXED, DOWN*+DRAIN. A flag that is not known makes a node unusable: a
// later Slurm may mean anything by it, and an idle node left alone does less harm than a job lost on it.
func nodeState(s string) (usable, idle bool) {
	base, flags, _ := strings.Cut(s, "+")
	// Marks that old releases and sinfo put behind the base: * not responding, ~ powered down, # powering up,
	// % powering down, $ maintenance, @ and ^ rebooting, ! power down to come, - planned.
	marks := strings.TrimLeft(base, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	base = base[:len(base)-len(marks)]
	switch base {
	case "IDLE":
		usable, idle = true, true
	case "ALLOCATED", "MIXED", "COMPLETING":
		usable = true
	case "RESERVED", "PLANNED", "MAINT": // names some releases print instead of IDLE
		usable, idle = true, true
	default: // DOWN, UNKNOWN, ERROR, FUTURE, DRAINED, DRAINING…
		return false, false
	}
	for _, m := range marks {
		if !strings.ContainsRune("~#$-", m) {
			usable = false
		}
	}
	if flags == "" {
		return usable, idle
	}
	sleeps := nodePower(s) != awake
	for flag := range strings.SplitSeq(flags, "+") {
		name := strings.TrimRight(flag, "*")
		if name != flag {
			usable = false
		}
		if sleeps && (name == "NOT_RESPONDING" || strings.HasPrefix(name, "POWER")) {
			continue // it answers when it has booted
		}
		switch name {
		case "COMPLETING":
			idle = false
		case "PLANNED", "RESERVED", "MAINT", "MAINTENANCE", "CLOUD", "DYNAMIC_NORM", "POWERED_DOWN", "POWER", "POWERING_UP", "POWERED_UP":
			// The reservation says for whom; a powered-down node is woken by the job.
		default: // DRAIN, FAIL, NOT_RESPONDING, POWERING_DOWN, REBOOT_ISSUED, INVALID_REG…
			usable = false
		}
	}
	return usable, idle
}

// parseReservation reads a line of `show reservation`. One over no nodes (licences) has none.
func parseReservation(line string) (adapter.Reservation, error) {
	var e fieldReader
	r := adapter.Reservation{
		Name:  strings.Clone(field(line, "ReservationName")),
		Start: e.instant("StartTime", field(line, "StartTime")),
		End:   e.instant("EndTime", field(line, "EndTime")),
		User:  strings.Clone(text(field(line, "Users"))),
	}
	for flag := range strings.SplitSeq(field(line, "Flags"), ",") {
		name, value, _ := strings.Cut(flag, "=")
		r.OverManaged = r.OverManaged || name == "IGNORE_JOBS"
		if name == "PURGE_COMP" {
			r.Idle = e.limit("PURGE_COMP", value)
		}
	}
	if list := text(field(line, "Nodes")); list != "" {
		r.Nodes = e.nodes(list, map[string][]string{})
	}
	if r.Name == "" || r.End < r.Start {
		e.fail("reservation", errForm)
	}
	if e.err != nil {
		return adapter.Reservation{}, fmt.Errorf("reservation %q: %w", r.Name, e.err)
	}
	return r, nil
}

// parsePartition reads a line of `show partition`. What cannot be read of it but for its nodes is as if it were not set.
func parsePartition(line string) (partition, error) {
	e := fieldReader{}
	p := partition{
		name:          field(line, "PartitionName"),
		overSubscribe: field(line, "OverSubscribe"),
		state:         field(line, "State"),
		overTime:      field(line, "OverTimeLimit"),
		preempt:       field(line, "PreemptMode"),
		maxTime:       e.limit("MaxTime", field(line, "MaxTime")),
		tier:          e.count("PriorityTier", field(line, "PriorityTier")),
		maxNodes:      e.most("MaxNodes", field(line, "MaxNodes")),
		defMemPerNode: int64(e.most("DefMemPerNode", field(line, "DefMemPerNode"))),
		defMemPerCPU:  int64(e.most("DefMemPerCPU", field(line, "DefMemPerCPU"))),
	}
	whole := field(line, "Exclusive")
	p.exclusive = p.overSubscribe == "EXCLUSIVE" || whole == "NODE" || whole == "TOPO"
	p.ofOneUser = whole == "USER" || field(line, "ExclusiveUser") == "YES"
	list := text(field(line, "Nodes"))
	if list == "" {
		return p, nil // a partition may be empty
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return partition{}, fmt.Errorf("partition %q: %w", p.name, err)
	}
	hostlist.Sort(names)
	p.nodes = names
	return p, nil
}
