package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/srun"
)

// counts are the numbers of nodes and tasks that a command line requests.
type counts struct {
	least, most int              // nodes; 0 means all
	total       int              // tasks; 0 if not given
	perNode     int              // tasks; 0 if not given
	ratio       allocation.Ratio // tasks to nodes, if neither total nor perNode is given
	names       []string         // nodes to use in any case
	excluded    []string         // nodes not to use
	relative    int              // number of nodes at the beginning that are not used
}

// readCounts reads the options. If they contain no number of tasks, it reads the environment.
func readCounts(w World, line srun.Line) (c counts, err error) {
	for _, o := range line.Options {
		switch o.Name {
		case "nodes":
			c.least, c.most, err = nodeRange(o.Value)
		case "ntasks":
			c.total, err = count(o)
		case "ntasks-per-node":
			c.perNode, err = count(o)
		case "nodelist", "nodefile":
			c.names, err = w.names(o)
		case "exclude":
			c.excluded, err = w.names(o)
		case "relative":
			if c.relative, err = strconv.Atoi(o.Value); err != nil || c.relative < 0 {
				err = fmt.Errorf("--relative: %.60q is not a number of nodes", o.Value)
			}
		}
		if err != nil {
			return counts{}, err
		}
	}
	if c.total == 0 && c.perNode == 0 {
		w.tasksOfJob(&c)
	}
	return c, nil
}

func count(o srun.Option) (int, error) {
	n, ok := allocation.Positive(o.Value)
	if !ok {
		return 0, fmt.Errorf("--%s: %.60q is not a number above 0", o.Name, o.Value)
	}
	return n, nil
}

// nodeRange parses MIN or MIN-MAX. Both numbers may end with k or m, for 1024 and 1024², as in srun.
func nodeRange(text string) (least, most int, err error) {
	from, to, ranged := strings.Cut(text, "-")
	least, ok := parseNumber(from)
	most, fine := least, true
	if ranged {
		most, fine = parseNumber(to)
	}
	if !ok || !fine || most < least {
		return 0, 0, fmt.Errorf("--nodes: %.60q is not a number of nodes: want 4 or 2-4", text)
	}
	return least, most, nil
}

func parseNumber(text string) (int, bool) {
	factor := 1
	if digits, found := strings.CutSuffix(strings.ToLower(text), "k"); found {
		text, factor = digits, 1<<10
	} else if digits, found := strings.CutSuffix(strings.ToLower(text), "m"); found {
		text, factor = digits, 1<<20
	}
	n, ok := allocation.Positive(text)
	return n * factor, ok
}

// names parses a list of nodes, or a file that contains one. Like srun it treats a text with a slash as a path.
func (w World) names(o srun.Option) ([]string, error) {
	text := o.Value
	if o.Name == "nodefile" || strings.Contains(text, "/") {
		read, err := w.ReadFile(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", o.Name, err)
		}
		text = strings.Join(strings.Fields(string(read)), ",")
	}
	names, err := hostlist.Expand(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", o.Name, err)
	}
	hostlist.Sort(names)
	return slices.Compact(names), nil
}

// choose returns the nodes to use, in the order of the allocations. It chooses the nodes that the options name, and then the first of the
// other nodes.
func (c counts) choose(list allocation.List) ([]string, error) {
	all := list.Nodes()
	for _, name := range c.names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("node %s is not one of the job's: it has %s", name, hostlist.Compact(all))
		}
	}
	free := slices.DeleteFunc(all[min(c.relative, len(all)):], func(n string) bool { return slices.Contains(c.excluded, n) })
	slices.SortStableFunc(free, func(a, b string) int { return c.rank(a) - c.rank(b) })
	for _, name := range c.names {
		if !slices.Contains(free, name) {
			return nil, fmt.Errorf("node %s is both named and excluded (--exclude or --relative)", name)
		}
	}
	least, most := max(c.least, len(c.names), 1), c.mostNodes(len(free))
	switch {
	case len(free) < least:
		return nil, fmt.Errorf("%s wanted, and there are %d: %s", number(least, "node"), len(free), hostlist.Compact(free))
	case most < len(c.names):
		return nil, fmt.Errorf("%s named, and at most %d can be used", number(len(c.names), "node"), most)
	}
	chosen := free[:min(most, len(free))]
	return slices.DeleteFunc(list.Nodes(), func(n string) bool { return !slices.Contains(chosen, n) }), nil
}

// mostNodes returns how many of `nodes` nodes are used at most. It is the number in the options, or else as many as the tasks need with
// perNode tasks each, or else all. There are never more nodes than tasks.
func (c counts) mostNodes(nodes int) int {
	most := c.most
	if most == 0 {
		most = nodes
		if c.total > 0 && c.perNode > 0 {
			most = max((c.total+c.perNode-1)/c.perNode, len(c.names))
		}
	}
	if c.total > 0 {
		most = min(most, c.total)
	}
	return most
}

// rank sorts the named nodes before the others.
func (c counts) rank(node string) int {
	if slices.Contains(c.names, node) {
		return 0
	}
	return 1
}

// tasksOn returns how many tasks run on a number of nodes.
func (c counts) tasksOn(nodes int) (int, error) {
	switch {
	case c.total > 0 && c.perNode > 0 && c.total > c.perNode*nodes:
		return 0, fmt.Errorf("%s do not fit on %s with %d per node", number(c.total, "task"), number(nodes, "node"), c.perNode)
	case c.total > 0:
		return c.total, nil
	case c.perNode > 0:
		return c.perNode * nodes, nil
	}
	return c.ratio.On(nodes), nil
}

// tasksOfJob sets the number of tasks for an srun whose options have none. If the user has set a number in the
// environment, it is that number. Otherwise each node gets as many tasks as the job has requested per node, or one
// task.
func (w World) tasksOfJob(c *counts) {
	asked, ok := allocation.Positive(w.get("SLURM_NTASKS"))
	if !ok {
		asked, ok = allocation.Positive(w.get("SLURM_NPROCS"))
	}
	if !ok {
		c.perNode, _ = allocation.Positive(w.get("SLURM_NTASKS_PER_NODE"))
		return
	}
	base := w.Allocations[0]
	first, stepped := allocation.ParseRatio(w.get("ACCORDION_TASKS"))
	stepped = stepped && w.get("ACCORDION_JOB") == strconv.FormatInt(base.Job, 10)
	of, known := allocation.Positive(w.get("SLURM_JOB_NUM_NODES"))
	switch {
	case stepped && first.On(len(base.Nodes)) == asked:
		c.ratio = first
	case !stepped && known:
		c.ratio = allocation.Ratio{Tasks: asked, Nodes: of}
	default:
		c.total = asked
	}
}
