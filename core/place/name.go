package place

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/core"
)

// Claim is a node that nobody may be given from the second From to the second To: it is held by a job until its end, it
// is in somebody's reservation, or it is down (To: core.Forever).
type Claim struct {
	Node     int
	From, To core.Time
}

// Wish is a job whose nodes are to be named.
type Wish struct {
	Job   core.JobID
	Start core.Time // now for a job that runs
	EP    core.EP   // scheduled, from Start on: for a job that runs, what remains (core.EP.From)

	// Held are the nodes that a running job has now, those that leave last first. It keeps them, even against a claim:
	// they are where the job is. Nodes beyond the first step's count are not looked at; claim them for as long as the
	// job has not given them back. Only jobs that start before or with all others may hold nodes.
	Held []int

	// Prefer is how it was named before, by an earlier Name or by what was reserved since. A layer prefers the nodes of
	// the old layer that began nearest to it, then those of the next nearest. They stay wherever they can.
	Prefer []Named

	// Firm is set for a job whose old names are more than a wish: it runs, and they are reserved for its next steps. It
	// gives them up for another firm wish only, and a wish that is not firm goes without names rather than take them.
	Firm bool
}

// Named is a layer with its nodes, those first that were held, then those that were preferred.
type Named struct {
	Layer
	Nodes []int
}

// Naming is what became of a wish.
type Naming struct {
	Job    core.JobID
	Layers []Named // as Layers gives them
	// Err is nil when each layer has its Count nodes, else a *ShortageError that names the first that has not: it and
	// those after it have fewer nodes, at least those that the job holds.
	Err error
}

// A ShortageError says that too few nodes are free from a layer's beginning to its end.
type ShortageError struct {
	Job   core.JobID
	Layer Layer
	Free  int // nodes that are free throughout; fewer than it needs beside those it holds
	Needs int
}

func (e *ShortageError) Error() string {
	return fmt.Sprintf("naming nodes: job %d needs %d more nodes from second %d to %d, but only %d are free throughout; plan again with the nodes as they are",
		e.Job, e.Needs, e.Layer.From, e.Layer.To, e.Free)
}

// Name gives the layers of every wish concrete nodes of 0 … nodes−1, such that no node is in two layers at once and none
// is in a layer while it is claimed. Layers are served in the order of their beginning, those of earlier wishes first
// when they begin together.
//
// This is interval partitioning, for which serving in that order is optimal: as long as every claim begins before the
// first layer and the counts fit, every wish is named. With claims that begin later it may fail though the counts fit,
// because a job does not migrate; then a layer takes, after the nodes it prefers, those whose next claim comes soonest
// after its end, which leaves the longest gaps to others. A wish that fails has Err set, and the others go on.
//
// A job's first node is the lowest of those that it begins with (the first of those it holds): there its script runs.
// Nodes that come later lie above it wherever they can. Slurm takes the lowest node of a job for the script's once its
// controller was started again; if that is another one, it does not hear of the script's end.
//
// Names given before (Prefer) are kept for all wishes together if nobody suffers; if a wish can only be named when
// another gives up old names, it may; but firm wishes are named among themselves then, before the others. Claims, held and preferred nodes that are not nodes of the machine are ignored. The
// answer is a function of the arguments alone.
func Name(nodes int, claims []Claim, wishes []Wish) []Naming {
	nodes = max(nodes, 0)
	fixed := newCalendar(nodes)
	for _, c := range claims {
		fixed.add(c.Node, c.From, c.To)
	}
	first := newAttempt(nodes, fixed, wishes)
	first.hold()
	if !slices.ContainsFunc(wishes, func(w Wish) bool { return len(w.Prefer) > 0 }) {
		first.sweep()
		return first.namings
	}
	second := first.clone()
	first.pin()
	missed := first.sweep()
	switch firm := count(wishes, func(w Wish) bool { return w.Firm }); {
	case missed == 0:
	case firm > 0 && firm < len(wishes):
		if apart := nameApart(nodes, claims, wishes); better(wishes, apart, first.namings) {
			return apart
		}
	case second.sweep() < missed:
		return second.namings
	}
	return first.namings
}

// nameApart names the firm wishes as if there were no others, and these around them.
func nameApart(nodes int, claims []Claim, wishes []Wish) []Naming {
	var firm, rest []Wish
	for _, w := range wishes {
		if w.Firm {
			firm = append(firm, w)
		} else {
			rest = append(rest, w)
		}
	}
	first := Name(nodes, claims, firm)
	claims = slices.Clone(claims)
	for _, n := range first {
		for _, l := range n.Layers {
			for _, node := range l.Nodes {
				claims = append(claims, Claim{node, l.From, l.To})
			}
		}
	}
	then := Name(nodes, claims, rest)
	all := make([]Naming, 0, len(wishes))
	for _, w := range wishes {
		from := &then
		if w.Firm {
			from = &first
		}
		all = append(all, (*from)[0])
		*from = (*from)[1:]
	}
	return all
}

// better says whether a names more than b: firm wishes first, then all.
func better(wishes []Wish, a, b []Naming) bool {
	missed := func(all []Naming) (firm, sum int) {
		for i, n := range all {
			if n.Err != nil {
				sum++
				if wishes[i].Firm {
					firm++
				}
			}
		}
		return firm, sum
	}
	firmA, sumA := missed(a)
	firmB, sumB := missed(b)
	return cmp.Or(cmp.Compare(firmA, firmB), cmp.Compare(sumA, sumB)) < 0
}

func count(wishes []Wish, is func(Wish) bool) int {
	n := 0
	for _, w := range wishes {
		if is(w) {
			n++
		}
	}
	return n
}

// attempt is one try to name all wishes.
type attempt struct {
	nodes   int
	wishes  []Wish
	fixed   *calendar // claims, and what hold and pin have decided
	namings []Naming
	items   []item // in the order in which they are served
}

// item is one layer on its way to its nodes.
type item struct {
	wish, layer int   // indices
	fixed       int   // so many of its nodes are in the calendar: the sweep neither takes nor frees them
	prefer      []int // nodes, the best first
	own         int   // so many of these are of the layer that it was before
}

// preference lists the nodes that a layer would like, after what its job was named before. The first own of them are of the
// layer that began nearest to it.
func preference(l Layer, old []Named) (nodes []int, own int) {
	switch len(old) {
	case 0:
		return nil, 0
	case 1:
		return old[0].Nodes, len(old[0].Nodes)
	}
	distance := func(a, b core.Time) core.Time { return max(a-b, b-a) }
	old = slices.Clone(old)
	slices.SortStableFunc(old, func(a, b Named) int {
		return cmp.Or(cmp.Compare(distance(a.From, l.From), distance(b.From, l.From)),
			cmp.Compare(distance(a.To, l.To), distance(b.To, l.To)))
	})
	for _, o := range old {
		nodes = append(nodes, o.Nodes...)
	}
	return nodes, len(old[0].Nodes)
}

func newAttempt(nodes int, fixed *calendar, wishes []Wish) *attempt {
	a := &attempt{nodes: nodes, wishes: wishes, fixed: fixed, namings: make([]Naming, len(wishes))}
	for i, w := range wishes {
		layers := Layers(w.Start, w.EP)
		a.namings[i] = Naming{Job: w.Job, Layers: make([]Named, len(layers))}
		for k, l := range layers {
			a.namings[i].Layers[k].Layer = l
			prefer, own := preference(l, w.Prefer)
			a.items = append(a.items, item{wish: i, layer: k, prefer: prefer, own: own})
		}
	}
	slices.SortStableFunc(a.items, func(x, y item) int { return cmp.Compare(a.named(x).From, a.named(y).From) })
	return a
}

func (a *attempt) clone() *attempt {
	c := *a
	c.fixed = a.fixed.clone()
	c.items = slices.Clone(a.items)
	c.namings = slices.Clone(a.namings)
	for i := range c.namings {
		c.namings[i].Layers = slices.Clone(c.namings[i].Layers)
		for k := range c.namings[i].Layers {
			c.namings[i].Layers[k].Nodes = slices.Clone(c.namings[i].Layers[k].Nodes)
		}
	}
	return &c
}

func (a *attempt) named(it item) *Named { return &a.namings[it.wish].Layers[it.layer] }

// give puts a node into a layer, and into the calendar.
func (a *attempt) give(it *item, node int) {
	l := a.named(*it)
	a.fixed.add(node, l.From, l.To)
	l.Nodes = append(l.Nodes, node)
	it.fixed++
}

// hold gives every job the nodes that it holds, to the layers that begin with it: the first to the lowest layer, which
// lasts longest.
func (a *attempt) hold() {
	used := make([]int, len(a.wishes)) // of each wish's held nodes
	taken := make([]bool, a.nodes)     // a node is held once, whatever the wishes say
	for i := range a.items {
		it := &a.items[i]
		w, l := &a.wishes[it.wish], a.named(*it)
		for l.From == w.Start && len(l.Nodes) < l.Count && used[it.wish] < len(w.Held) {
			node := w.Held[used[it.wish]]
			used[it.wish]++
			if node >= 0 && node < a.nodes && !taken[node] {
				taken[node] = true
				a.give(it, node)
			}
		}
	}
}

// pin gives layers the nodes that they prefer before anybody else is served, where these are free throughout. It goes
// wish by wish, firm ones before the others: the first wish that names a node has it. Who prefers nodes below his first one
// though enough are free above it is not given them.
func (a *attempt) pin() {
	byWish := make([]*item, len(a.items))
	for i := range a.items {
		byWish[i] = &a.items[i]
	}
	rank := func(it *item) int {
		if a.wishes[it.wish].Firm {
			return it.wish - len(a.wishes)
		}
		return it.wish
	}
	slices.SortStableFunc(byWish, func(x, y *item) int { return cmp.Compare(rank(x), rank(y)) })
	var below []based
	for _, it := range byWish {
		if !a.begins(*it) {
			continue // it prefers them still when its turn comes
		}
		if least := a.least(*it, a.base(*it)); !a.pinFrom(it, it.prefer[:it.own], least, a.named(*it).Count) {
			below = append(below, based{it, least})
		} else {
			a.pinFrom(it, it.prefer[it.own:], least, a.named(*it).Count)
		}
	}
	// Whoever comes later here can do without nodes that are above his first one: he has none of those who came before.
	slices.SortStableFunc(below, func(x, y based) int { return cmp.Compare(y.least, x.least) })
	for _, b := range below {
		a.pinFrom(b.item, b.prefer, b.least, a.named(*b.item).Count)
		a.pinFrom(b.item, b.prefer, 0, a.missing(b))
	}
}

// based is a layer that had nodes below least, where its job does not want to have them.
type based struct {
	*item
	least int
}

// pinFrom gives a layer those of the nodes it prefers that are at least so high, and at most so many of them. It says
// whether none of them is lower.
func (a *attempt) pinFrom(it *item, prefer []int, least, most int) bool {
	l, all := a.named(*it), true
	for _, node := range prefer {
		switch {
		case len(l.Nodes) == l.Count || most == 0:
			return all
		case node < least:
			all = false
		case a.fixed.free(node, l.From, l.To):
			a.give(it, node)
			most--
		}
	}
	return all
}

// missing is how many nodes a layer lacks when it is given all those that are free above its job's first one.
func (a *attempt) missing(b based) int {
	l := a.named(*b.item)
	missing := l.Count - len(l.Nodes)
	for node := b.least; node < a.nodes && missing > 0; node++ {
		if a.fixed.free(node, l.From, l.To) {
			missing--
		}
	}
	return missing
}

// least is the lowest node that a layer is to have: what comes after the job's beginning lies not below its first node. For
// the layers that begin with the job any node will do, and what is firm stays where it is.
func (a *attempt) least(it item, base int) int {
	w := &a.wishes[it.wish]
	if w.Firm || a.named(it).From == w.Start {
		return 0
	}
	return base
}

// begins says whether it is known where a layer's job begins, as far as that matters to the layer.
func (a *attempt) begins(it item) bool {
	w := &a.wishes[it.wish]
	if w.Firm || len(w.Held) > 0 {
		return true
	}
	for _, l := range a.namings[it.wish].Layers[:it.layer] {
		if l.From == w.Start && len(l.Nodes) < l.Count {
			return false
		}
	}
	return true
}

// base is the first node of the job that a layer belongs to, 0 before it has any.
func (a *attempt) base(it item) int {
	w := &a.wishes[it.wish]
	if len(w.Held) > 0 {
		return max(w.Held[0], 0)
	}
	base := -1
	for _, l := range a.namings[it.wish].Layers[:it.layer] {
		if l.From > w.Start {
			break
		}
		for _, node := range l.Nodes {
			if base < 0 || node < base {
				base = node
			}
		}
	}
	return max(base, 0)
}
