package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// A division is kinds of nodes on their way to machines.
type division struct {
	nodes  []adapter.Node
	kinds  []*kind
	byName map[string]*kind
	asked  map[string][]string // lists of kinds that jobs ask for, each once
}

// kind is nodes that are alike, and the parts of the pool that it goes with.
type kind struct {
	name, build string
	nodes       []int // indices in the pool
	with        *kind // of the machine that it belongs to; nil: it stands for the machine itself
}

func newDivision(nodes []adapter.Node) *division {
	d := &division{nodes: nodes, byName: map[string]*kind{}, asked: map[string][]string{}}
	for i, n := range nodes {
		k := d.byName[n.Kind]
		if k == nil {
			k = &kind{name: n.Kind, build: n.Build}
			if i == 0 { // most pools are of one kind
				k.nodes = make([]int, 0, len(nodes))
			}
			d.byName[n.Kind] = k
			d.kinds = append(d.kinds, k)
		}
		k.nodes = append(k.nodes, i)
	}
	return d
}

// tellApart notes that a job runs on these kinds only; nil: on all.
func (d *division) tellApart(kinds []string) {
	if kinds != nil {
		d.asked[strings.Join(kinds, "\n")] = kinds
	}
}

// divide puts kinds of one build together that every job takes or leaves together.
func (d *division) divide() {
	first := map[string]*kind{}
	for _, k := range d.kinds {
		var key strings.Builder
		key.WriteString(k.build)
		for _, name := range slices.Sorted(maps.Keys(d.asked)) {
			fmt.Fprintf(&key, "\n%t", slices.Contains(d.asked[name], k.name))
		}
		if one := first[key.String()]; one != nil {
			k.with = one
		} else {
			first[key.String()] = k
		}
	}
}

// root is the kind that stands for the machine.
func (k *kind) root() *kind {
	for k.with != nil {
		k = k.with
	}
	return k
}

// join makes one machine of those that the kinds belong to.
func (d *division) join(kinds []*kind) {
	for _, k := range kinds {
		if one, other := kinds[0].root(), k.root(); one != other {
			other.with = one
		}
	}
}

// size is how many nodes the machine has to which the kind belongs.
func (d *division) size(of *kind) int {
	n := 0
	for _, k := range d.kinds {
		if k.root() == of.root() {
			n += len(k.nodes)
		}
	}
	return n
}

// runsOn is the kinds, of the builds that have enough of them, on which a job of so many nodes can run.
func (d *division) runsOn(kinds []string, nodes int) []*kind {
	count := map[string]int{}
	takes := func(k *kind) bool { return kinds == nil || slices.Contains(kinds, k.name) }
	for _, k := range d.kinds {
		if takes(k) {
			count[k.build] += len(k.nodes)
		}
	}
	var all []*kind
	for _, k := range d.kinds {
		if takes(k) && count[k.build] >= nodes {
			all = append(all, k)
		}
	}
	return all
}

// builds is how many nodes there are of each build.
func (d *division) builds() map[string]int {
	count := map[string]int{}
	for _, k := range d.kinds {
		count[k.build] += len(k.nodes)
	}
	return count
}

// describe says how many nodes a job of these kinds can have.
func (d *division) describe(kinds []string) string {
	var all []string
	for _, k := range d.kinds {
		if kinds == nil || slices.Contains(kinds, k.name) {
			all = append(all, fmt.Sprintf("%d of %s", len(k.nodes), k.name))
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// needs is the kinds that a managed job needs together, for none of its machines has nodes enough; nil where one has, and where
// a job before it runs on a part of them only: that one comes first.
func (d *division) needs(w Waiter, before []Waiter) []*kind {
	var together []*kind
	for _, k := range d.runsOn(w.Seen.Kinds, w.fewest()) {
		if d.size(k) >= w.fewest() {
			return nil
		}
		if len(together) == 0 || k.build == together[0].build {
			together = append(together, k)
		}
	}
	for _, other := range before {
		if other.Managed != nil && other.Seen.Kinds != nil && slices.ContainsFunc(together, func(k *kind) bool { return !slices.Contains(other.Seen.Kinds, k.name) }) {
			return nil
		}
	}
	return together
}

// machines is the parts of the sight: the whole of it where nobody tells its nodes apart.
func (d *division) machines(v *World) []*machine {
	if len(d.kinds) > 0 && !slices.ContainsFunc(d.kinds, func(k *kind) bool { return k.root() != d.kinds[0].root() }) {
		return []*machine{d.whole(v)}
	}
	var all []*machine
	byRoot := map[*kind]*machine{}
	members := map[*machine][]int{}
	for _, k := range d.kinds {
		m := byRoot[k.root()]
		if m == nil {
			m = &machine{kinds: map[string]bool{}}
			byRoot[k.root()] = m
			all = append(all, m)
		}
		m.kinds[k.name] = true
		members[m] = append(members[m], k.nodes...)
	}
	for _, m := range all {
		slices.Sort(members[m])
		m.World = v.part(members[m])
	}
	return all
}

// whole is a machine of all nodes. What it has of the sight is the sight's own, and not to be changed.
func (d *division) whole(v *World) *machine {
	m := &machine{kinds: make(map[string]bool, len(d.kinds)), World: &World{
		Input: v.Input, Index: v.Index, Nodes: v.Nodes, guards: v.guards, lost: v.lost, closed: v.closed, taken: v.taken, claims: v.claims,
	}}
	for _, k := range d.kinds {
		m.kinds[k.name] = true
	}
	return m
}

// part is what of the sight concerns the nodes, by their indices: without jobs.
func (v *World) part(nodes []int) *World {
	p := &World{
		Input: v.Input, Index: make(map[string]int, len(nodes)), Nodes: make([]string, len(nodes)),
		guards: make([]guard, len(nodes)), lost: make([]bool, len(nodes)), closed: make([]bool, len(nodes)), taken: make([]Holder, len(nodes)),
	}
	place := make(map[int]int, len(nodes))
	for i, n := range nodes {
		p.Nodes[i], p.guards[i], p.lost[i], p.closed[i], p.taken[i], place[n] = v.Nodes[n], v.guards[n], v.lost[n], v.closed[n], v.taken[n], i
		p.Index[v.Nodes[n]] = i
	}
	for _, c := range v.claims {
		if i, here := place[c.Node]; here {
			c.Node = i
			p.claims = append(p.claims, c)
		}
	}
	return p
}

// Impossible says why a job can never run here, or nothing.
func (v *World) Impossible(r *managed.Job) string {
	if r.Seen.Unfit != "" {
		return r.Seen.Unfit
	}
	d := newDivision(v.Snapshot.Nodes)
	barred := 0
	for _, ep := range r.Choices {
		if !r.Seen.Most.Allows(ep.Peak()) {
			barred++
		} else if len(d.runsOn(r.Seen.Kinds, ep.Peak())) > 0 {
			return ""
		}
	}
	if barred == len(r.Choices) {
		return fmt.Sprintf("%s needs more than the %s that it may ever have: %s", r.Request, NodesWord(r.Seen.Most.Nodes), r.Seen.Most.Why)
	}
	if r.Seen.Kinds == nil && len(d.builds()) == 1 {
		return fmt.Sprintf("%s needs more nodes than the %d of the pool", r.Request, len(v.Nodes))
	}
	return fmt.Sprintf("%s needs more nodes than the pool has of one sort on which the job can run: %s", r.Request, d.describe(r.Seen.Kinds))
}

// NodesWord is "1 node", "3 nodes".
func NodesWord(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
