// Package allocation finds out which allocations, nodes and tasks a job has. Most jobs have one allocation. A job that grows by companions
// has an additional allocation for each companion, because in Slurm a companion is another job of the same user.
//
//	list, err := allocation.Find(os.LookupEnv)
//	a, node, ok := list.Of("n3")               // a.Job: the job whose steps may run on n3
//
// A list is written as words JOBID:NODES, separated by blanks, with the job's own allocation first: "42:n[1-2] 57:n[3,5]". accordion step
// exports the list to the environment of the job's script. For a job that never calls accordion step, the list is in the hosts file.
//
// Show asks slurmctld about a job, by running scontrol as the job's user with a deadline. Ratio and Counts are numbers of tasks and CPUs on
// nodes, in Slurm's forms:
//
//	of := allocation.Ratio{Tasks: 8, Nodes: 2} // sbatch -N2 -n8
//	of.On(5)                                   // 20
//	allocation.Spread(7, 3).String()           // 3,2(x2)
//
// WriteList writes a file for the job's programs, such as a list of nodes, into a directory that belongs to the user. The file is either
// complete or absent.
package allocation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core/hostlist"
)

// Variable is the environment variable with the list of allocations, for jobs that have companions.
const Variable = "ACCORDION_ALLOCATIONS"

// Allocation is a job of the batch system and its nodes.
type Allocation struct {
	Job   int64
	Nodes []string // in natural order, at least one
}

func (a Allocation) String() string {
	return strconv.FormatInt(a.Job, 10) + ":" + hostlist.Compact(a.Nodes)
}

// List contains the allocations of a job, its own first. No node is in two of them.
type List []Allocation

// Parse parses a list, and sorts the nodes of each allocation. An error names the wrong word and what would be right.
func Parse(text string) (List, error) {
	list, err := parse(strings.Fields(text))
	if err != nil {
		return nil, err
	}
	for i, a := range list {
		if (list[:i]).Has(a.Job) {
			return nil, fmt.Errorf("allocation %d appears twice: want each once", a.Job)
		}
	}
	return list, nil
}

// parse parses words. Each word is an allocation or a part of one.
func parse(words []string) (List, error) {
	var list List
	seen := map[string]int64{}
	for _, word := range words {
		number, nodes, _ := strings.Cut(word, ":")
		job, err := strconv.ParseInt(number, 10, 64)
		if err != nil || job <= 0 || nodes == "" {
			return nil, fmt.Errorf("%.60q is no allocation: want JOBID:NODES, as 42:n[1-2]", word)
		}
		a := Allocation{Job: job}
		if a.Nodes, err = hostlist.Expand(nodes); err != nil {
			return nil, fmt.Errorf("allocation %d: %w", job, err)
		}
		hostlist.Sort(a.Nodes)
		for _, n := range a.Nodes {
			if other, twice := seen[n]; twice {
				return nil, fmt.Errorf("node %s is in the allocations %d and %d: want each node once", n, other, job)
			}
			seen[n] = job
		}
		if len(seen) > hostlist.MaxNames {
			return nil, fmt.Errorf("more than %d nodes", hostlist.MaxNames)
		}
		list = append(list, a)
	}
	return list, nil
}

// joined returns the list with the parts of each allocation joined.
func (l List) joined() List {
	var list List
	for _, part := range l {
		at := slices.IndexFunc(list, func(a Allocation) bool { return a.Job == part.Job })
		if at < 0 {
			list = append(list, part)
			continue
		}
		list[at].Nodes = append(list[at].Nodes, part.Nodes...)
		hostlist.Sort(list[at].Nodes)
	}
	return list
}

func (l List) String() string {
	words := make([]string, len(l))
	for i, a := range l {
		words[i] = a.String()
	}
	return strings.Join(words, " ")
}

// Has reports whether one of the allocations belongs to the job with the given number.
func (l List) Has(job int64) bool {
	return slices.ContainsFunc(l, func(a Allocation) bool { return a.Job == job })
}

// Of returns the allocation that contains a host, and the node's name in that allocation. The host may also have a longer name than the
// node, such as n3.cluster.org.
func (l List) Of(host string) (a Allocation, node string, ok bool) {
	short, _, _ := strings.Cut(host, ".")
	for _, name := range []string{host, short} {
		for _, a := range l {
			if slices.Contains(a.Nodes, name) {
				return a, name, true
			}
		}
	}
	return Allocation{}, "", false
}

// Nodes returns the nodes of all allocations, in the order of the list.
func (l List) Nodes() []string {
	var all []string
	for _, a := range l {
		all = append(all, a.Nodes...)
	}
	return all
}
