package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// A partition is what matters of a Slurm partition.
type partition struct {
	name     string
	nodes    []string // in natural order
	tier     int
	sharing  sharing
	state    string // UP, DOWN, DRAIN, INACTIVE
	overTime string // OverTimeLimit: NONE, UNLIMITED or minutes
	preempt  string
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
	gres     string
	cpus     int    // for jobs
	memory   int    // MB for jobs
	features string // active ones, comma separated
}

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

// parseNode reads a line of `show node`.
func parseNode(line string) node {
	state := field(line, "State")
	n := node{gres: strings.Clone(text(field(line, "Gres")))}
	n.features = strings.Clone(text(field(line, "ActiveFeatures")))
	n.cpus, n.memory = numbers(line, "CPUEfctv", "CPUTot"), numbers(line, "RealMemory")-numbers(line, "MemSpecLimit")
	n.Name, n.Why = strings.Clone(field(line, "NodeName")), strings.Clone(state) // they may be kept for long, and the list must not
	n.Usable, n.Idle = nodeState(state)
	n.Asleep, _ = power(state)
	if !n.Usable {
		if _, reason, ok := strings.Cut(line, " Reason="); ok {
			n.Why += ": " + strings.TrimSpace(reason)
		}
	}
	return n
}

// numbers is the value of the first of the keys that has one; 0 without.
func numbers(line string, keys ...string) int {
	for _, k := range keys {
		if n, err := strconv.Atoi(field(line, k)); err == nil {
			return n
		}
	}
	return 0
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
	asleep, _ := power(s)
	for flag := range strings.SplitSeq(flags, "+") {
		name := strings.TrimRight(flag, "*")
		if name != flag {
			usable = false
		}
		if asleep && (name == "NOT_RESPONDING" || name == "POWERING_DOWN" || name == "POWER_UP") {
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

// parsePartition reads a line of `show partition`.
func parsePartition(line string) (partition, error) {
	p := partition{
		name:     field(line, "PartitionName"),
		sharing:  sharing(field(line, "OverSubscribe")),
		state:    field(line, "State"),
		overTime: field(line, "OverTimeLimit"),
		preempt:  field(line, "PreemptMode"),
	}
	if tier, err := count(field(line, "PriorityTier")); err == nil {
		p.tier = tier
	}
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
