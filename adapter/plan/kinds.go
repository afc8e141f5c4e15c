package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"accordion/adapter"
)

// A division divides a pool whose nodes differ into machines of like nodes, as far as jobs tell the nodes apart. Kinds of one
// build that every job takes or leaves together are one machine. A job that needs more nodes than any machine has joins several:
//
//	d := newDivision(snapshot.Nodes)
//	d.TellApart([]string{"old"}) // a job runs on these only
//	d.Divide()
//	d.Join(d.Together(nil, 12)) // another job needs twelve
//	machines := d.Machines()
type division struct {
	kinds  []*nodeClass
	byName map[string]*nodeClass
	asked  map[string][]string // lists of kinds that jobs ask for, each once
}

// A nodeClass is nodes that are alike, and the machine that they belong to.
type nodeClass struct {
	Name  string
	Nodes []int // indices in the pool

	build string
	with  *nodeClass // of the machine that it belongs to; nil: it stands for the machine itself
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

// TellApart notes that a job runs on these kinds only; nil: on all.
func (d *division) TellApart(kinds []string) {
	if kinds != nil {
		d.asked[strings.Join(kinds, "\n")] = kinds
	}
}

// Divide puts kinds of one build together that every job takes or leaves together.
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

// root is the kind that stands for the machine.
func (k *nodeClass) root() *nodeClass {
	for k.with != nil {
		k = k.with
	}
	return k
}

// Join makes one machine of those that the kinds belong to.
func (d *division) Join(kinds []*nodeClass) {
	for _, k := range kinds {
		if one, other := kinds[0].root(), k.root(); one != other {
			other.with = one
		}
	}
}

// Size is how many nodes the machine has to which the kind belongs.
func (d *division) Size(of *nodeClass) int {
	n := 0
	for _, k := range d.kinds {
		if k.root() == of.root() {
			n += len(k.Nodes)
		}
	}
	return n
}

// RunsOn is the kinds, of the builds that have enough of them, on which a job of so many nodes can run.
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

// OneBuild says whether all nodes are of one build.
func (d *division) OneBuild() bool {
	return len(d.kinds) > 0 && !slices.ContainsFunc(d.kinds, func(k *nodeClass) bool { return k.build != d.kinds[0].build })
}

// Describe says how many nodes a job of these kinds can have.
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

// Machines are the kinds of each machine, in the order of the pool's nodes.
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

// Together are, of kinds on which a job of so many nodes can run, those of one build that no machine has together: the job needs them to be one
// machine. nil where a machine has nodes enough, or none ever can.
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
