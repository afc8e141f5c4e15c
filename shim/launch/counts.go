package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/srun"
	"accordion/shim/tasks"
)

// counts is what was asked of nodes and tasks.
type counts struct {
	least, most int      // nodes; 0: all that there are
	total       int      // tasks; 0: not said
	perNode     int      // tasks; 0: not said
	names       []string // nodes that must be among them
	without     []string // nodes that must not
	relative    int      // so many nodes, from the first, are left out
}

// readCounts reads the options, and where they say nothing of tasks a node the environment.
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
			c.without, err = w.names(o)
		case "relative":
			if c.relative, err = strconv.Atoi(o.Value); err != nil || c.relative < 0 {
				err = fmt.Errorf("--relative: %.60q is no number of nodes", o.Value)
			}
		}
		if err != nil {
			return counts{}, err
		}
	}
	return c, nil
}

func count(o srun.Option) (int, error) {
	n, ok := tasks.Positive(o.Value)
	if !ok {
		return 0, fmt.Errorf("--%s: %.60q is no number above 0", o.Name, o.Value)
	}
	return n, nil
}

// nodeRange reads MIN or MIN-MAX; either may end with k or m, for 1024 and its square, as in srun.
func nodeRange(text string) (least, most int, err error) {
	from, to, ranged := strings.Cut(text, "-")
	least, ok := many(from)
	most, fine := least, true
	if ranged {
		most, fine = many(to)
	}
	if !ok || !fine || most < least {
		return 0, 0, fmt.Errorf("--nodes: %.60q is no number of nodes: want 4 or 2-4", text)
	}
	return least, most, nil
}

func many(text string) (int, bool) {
	factor := 1
	if digits, found := strings.CutSuffix(strings.ToLower(text), "k"); found {
		text, factor = digits, 1<<10
	} else if digits, found := strings.CutSuffix(strings.ToLower(text), "m"); found {
		text, factor = digits, 1<<20
	}
	n, ok := tasks.Positive(text)
	return n * factor, ok
}

// names reads a list of nodes, or a file that has one: srun takes a text with a slash for a path.
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

// choose is the nodes to use, in the order of the allocations: those that are named, then the first others.
func (c counts) choose(list allocation.List) ([]string, error) {
	all := list.Nodes()
	for _, name := range c.names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("node %s is not one of the job's: it has %s", name, hostlist.Compact(all))
		}
	}
	free := slices.DeleteFunc(all[min(c.relative, len(all)):], func(n string) bool { return slices.Contains(c.without, n) })
	slices.SortStableFunc(free, func(a, b string) int { return c.rank(a) - c.rank(b) })
	for _, name := range c.names {
		if !slices.Contains(free, name) {
			return nil, fmt.Errorf("node %s is named, and left out by --exclude or --relative", name)
		}
	}
	least, most := max(c.least, len(c.names), 1), c.most
	if most == 0 {
		most = c.fitting(len(free))
	}
	switch {
	case len(free) < least:
		return nil, fmt.Errorf("%s wanted, and there are %d: %s", number(least, "node"), len(free), hostlist.Compact(free))
	case most < len(c.names):
		return nil, fmt.Errorf("%s named, and at most %d wanted", number(len(c.names), "node"), most)
	}
	chosen := free[:min(most, len(free))]
	return slices.DeleteFunc(list.Nodes(), func(n string) bool { return !slices.Contains(chosen, n) }), nil
}

// rank puts the named nodes before the others.
func (c counts) rank(node string) int {
	if slices.Contains(c.names, node) {
		return 0
	}
	return 1
}

// fitting is how many nodes are used where no number is said: all, or as many as the tasks need at so many a node.
func (c counts) fitting(nodes int) int {
	if c.total > 0 && c.perNode > 0 {
		return max((c.total+c.perNode-1)/c.perNode, len(c.names), 1)
	}
	return nodes
}

// tasks is how many run on so many nodes: what the options say, else as many a node as the job asked for, else one a node.
func (c counts) tasks(w World, nodes int) (int, error) {
	switch {
	case c.total > 0 && c.perNode > 0 && c.total > c.perNode*nodes:
		return 0, fmt.Errorf("%s do not fit on %s at %d a node", number(c.total, "task"), number(nodes, "node"), c.perNode)
	case c.total > 0:
		return c.total, nil
	case c.perNode > 0:
		return c.perNode * nodes, nil
	}
	return w.usual(nodes), nil
}

// usual is the number of tasks of an srun that says nothing of tasks.
func (w World) usual(nodes int) int {
	base := w.Allocations[0]
	asked, ok := tasks.Positive(w.get("SLURM_NTASKS"))
	if !ok {
		asked, ok = tasks.Positive(w.get("SLURM_NPROCS"))
	}
	if !ok {
		if perNode, ok := tasks.Positive(w.get("SLURM_NTASKS_PER_NODE")); ok {
			return perNode * nodes
		}
		return nodes
	}
	if first, ok := tasks.ParseRatio(w.get("ACCORDION_TASKS")); ok && w.get("ACCORDION_JOB") == strconv.FormatInt(base.Job, 10) {
		if first.On(len(base.Nodes)) != asked { // its user has set another number since
			return asked
		}
		return first.On(nodes)
	}
	if of, ok := tasks.Positive(w.get("SLURM_JOB_NUM_NODES")); ok {
		return tasks.Ratio{Tasks: asked, Nodes: of}.On(nodes)
	}
	return asked
}
