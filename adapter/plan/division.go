package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"accordion/adapter"
)

// A division divides a pool whose nodes differ into machines, as far as jobs distinguish the nodes.
// Kinds of one build that every job accepts or rejects together are one machine. If a job needs
// more nodes than any machine has, several machines are joined:
//
//	d := newDivision(snapshot.Nodes)
//	d.TellApart([]string{"old"}) // a job runs on these only
//	d.Divide()
//	d.Join(d.Together(nil, 12)) // another job needs twelve
//	machines := d.Machines()
type division struct {
	kinds  []*nodeClass
	byName map[string]*nodeClass
	asked  map[string][]string // the lists of kinds that jobs request, without repetitions
}

// A nodeClass is the set of nodes of one kind.
type nodeClass struct {
	Name  string
	Nodes []int // indices in the pool

	build string
	with  *nodeClass // a class of the same machine, nearer to the class that represents it; nil if this class represents its machine
}

// newDivision returns a division in which each kind is a machine of its own.
func newDivision(nodes []adapter.Node) *division {
	d := &division{byName: map[string]*nodeClass{}, asked: map[string][]string{}}
	for i, n := range nodes {
		k := d.byName[n.Kind]
		if k == nil {
			k = &nodeClass{Name: n.Kind, build: n.Build}
			if i == 0 { // most pools are of one kind
				k.Nodes = make([]int, 0, len(nodes))
			}
			d.byName[n.Kind] = k
			d.kinds = append(d.kinds, k)
		}
		k.Nodes = append(k.Nodes, i)
	}
	return d
}

// TellApart records that a job runs on these kinds only. nil means all kinds.
func (d *division) TellApart(kinds []string) {
	if kinds != nil {
		d.asked[strings.Join(kinds, "\n")] = kinds
	}
}

// Divide joins kinds of one build that every job accepts or rejects together.
func (d *division) Divide() {
	first := map[string]*nodeClass{}
	for _, k := range d.kinds {
		var key strings.Builder
		key.WriteString(k.build)
		for _, name := range slices.Sorted(maps.Keys(d.asked)) {
			fmt.Fprintf(&key, "\n%t", slices.Contains(d.asked[name], k.Name))
		}
		if one := first[key.String()]; one != nil {
			k.with = one
		} else {
			first[key.String()] = k
		}
	}
}

// root returns the class that represents the machine of k.
func (k *nodeClass) root() *nodeClass {
	for k.with != nil {
		k = k.with
	}
	return k
}

// Join joins the machines of the given kinds.
func (d *division) Join(kinds []*nodeClass) {
	for _, k := range kinds {
		if one, other := kinds[0].root(), k.root(); one != other {
			other.with = one
		}
	}
}

// Size returns how many nodes the machine of a kind has.
func (d *division) Size(of *nodeClass) int {
	n := 0
	for _, k := range d.kinds {
		if k.root() == of.root() {
			n += len(k.Nodes)
		}
	}
	return n
}

// RunsOn returns the kinds on which a job can run and whose build has enough nodes for the job.
// `kinds` has the names of the kinds that the job accepts; nil means all.
func (d *division) RunsOn(kinds []string, nodes int) []*nodeClass {
	count := map[string]int{}
	takes := func(k *nodeClass) bool { return kinds == nil || slices.Contains(kinds, k.Name) }
	for _, k := range d.kinds {
		if takes(k) {
			count[k.build] += len(k.Nodes)
		}
	}
	var all []*nodeClass
	for _, k := range d.kinds {
		if takes(k) && count[k.build] >= nodes {
			all = append(all, k)
		}
	}
	return all
}

// OneBuild reports whether all nodes are of one build.
func (d *division) OneBuild() bool {
	return len(d.kinds) > 0 && !slices.ContainsFunc(d.kinds, func(k *nodeClass) bool { return k.build != d.kinds[0].build })
}

// Describe returns how many nodes of each of the given kinds there are, such as "4 of thin, 2 of
// fat".
func (d *division) Describe(kinds []string) string {
	var all []string
	for _, k := range d.kinds {
		if kinds == nil || slices.Contains(kinds, k.Name) {
			all = append(all, fmt.Sprintf("%d of %s", len(k.Nodes), k.Name))
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// Machines returns the kinds of each machine, in the order of the pool's nodes.
func (d *division) Machines() [][]*nodeClass {
	var all [][]*nodeClass
	number := make(map[*nodeClass]int, len(d.kinds))
	for _, k := range d.kinds {
		i, known := number[k.root()]
		if !known {
			i = len(all)
			number[k.root()] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], k)
	}
	return all
}

// Together returns the kinds of one build that have to be joined for a job of the given kinds and
// number of nodes. It returns nil if one machine already has enough nodes, and if no build has
// enough nodes.
func (d *division) Together(kinds []string, nodes int) []*nodeClass {
	var together []*nodeClass
	for _, k := range d.RunsOn(kinds, nodes) {
		if d.Size(k) >= nodes {
			return nil
		}
		if len(together) == 0 || k.build == together[0].build {
			together = append(together, k)
		}
	}
	return together
}
