package limits

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"accordion/core/hostlist"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// This file generates a list of the nodes that exist. With it job_submit.lua can refuse a job that no node can ever
// satisfy. Slurm refuses such a job at submission if the job may start immediately. But the plug-in holds managed
// jobs, and Slurm checks a held job only when the job is to start.

// NodesFile is the name of the file, which is in the folder of the file of limits.
const NodesFile = "accordion_nodes.lua"

// mostKinds limits the kinds of nodes in the file, because the plug-in goes through all of them while slurmctld
// holds its locks.
const mostKinds = 200

// NodesLua returns the Lua text. For each partition of the pool it has the number of nodes of each kind. If
// `memory` is false, Slurm does not allocate memory, and a job may request all memory of a node. The text leaves
// out partitions with too many kinds of nodes. The plug-in refuses no job in such a partition.
func NodesLua(in output.Inventory, pool []string, memory bool) string {
	var b strings.Builder
	b.WriteString("return {\n")
	for _, name := range pool {
		p := in.Partition(name, pool)
		if p == nil {
			continue
		}
		counts, here := map[output.Hardware]int{}, hostlist.Set(p.Nodes)
		for i := range in.Nodes {
			if n := &in.Nodes[i]; here[n.Name] {
				counts[n.Hardware(memory)]++
			}
		}
		if len(counts) == 0 || len(counts) > mostKinds {
			continue
		}
		fmt.Fprintf(&b, "\t[%s] = {\n", quoted(name))
		var lines []string
		for kind, count := range counts {
			lines = append(lines, fmt.Sprintf("\t\t{ count = %d, %s },\n", count, hardwareLua(kind)))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
		b.WriteString("\t},\n")
	}
	b.WriteString("}\n")
	return withDigest("what nodes there are", b.String())
}

// hardwareLua returns the hardware of a node as the fields of a Lua table.
func hardwareLua(h output.Hardware) string {
	features, counts := map[string]string{}, map[string]string{}
	for name := range strings.SplitSeq(h.Features, ",") {
		if name != "" {
			features[name] = "true"
		}
	}
	for name, count := range number.Devices(h.GRES) {
		counts[name] = strconv.FormatInt(count, 10)
	}
	return fmt.Sprintf("cpus = %d, sockets = %d, cores = %d, threads = %d, mem = %d, tmp = %d, features = %s, gres = %s",
		h.CPUs, h.Sockets, h.CoresPerSocket, h.ThreadsPerCore, h.Memory, h.Scratch, table(features), table(counts))
}

// table returns a Lua table with the values.
func table(values map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, fmt.Sprintf("[%s] = %s", quoted(name), values[name]))
	}
	return "{ " + strings.Join(all, ", ") + " }"
}
