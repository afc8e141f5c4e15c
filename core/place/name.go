package place

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/core"
)

// Claim is a node that must not be assigned from second From to second To. A job holds the node until its end,
// the node is in another reservation, or it is down. If it is down, To is core.Forever.
type Claim struct {
	Node     int
	From, To core.Time
}

// Request is a job that needs node IDs.
type Request struct {
	Job   core.JobID
	Start core.Time // now for a running job
	EP    core.EP   // scheduled, from Start on; for a running job what remains (core.EP.From)

	// Held are the nodes that a running job has now, beginning with the node that it frees last. The job keeps them even
	// if they are claimed, because it runs there. Nodes beyond the first step's count are ignored: the caller adds a Claim
	// for these for as long as the job holds them. A job that holds nodes must not start later than any other request.
	Held []int

	// Prefer has the nodes that the job got earlier, from an earlier call of Name or by a reservation. A layer
	// prefers the nodes of the old layer whose beginning is nearest to its own beginning, then the nodes of the
	// next nearest layer. It gets the preferred nodes whenever they are free.
	Prefer []Named

	// Firm marks a job that runs and whose Prefer nodes are reserved for its next steps. The job loses these nodes only to
	// another firm request. A request that is not firm never gets them, even if it fails for that reason.
	Firm bool
}

// Named is a layer with its nodes: first the nodes that the job held, then preferred nodes, then all others.
type Named struct {
	Layer
	Nodes []int
}

// Naming is the result for a request.
type Naming struct {
	Job    core.JobID
	Layers []Named // as Layers returns them
	// Err is nil if each layer has Count nodes. Otherwise it is a *ShortageError for the first layer that has fewer nodes.
	// That layer and the later layers have at least the nodes that the job holds.
	Err error
}

// A ShortageError reports that too few nodes are free from a layer's beginning to its end.
type ShortageError struct {
	Job   core.JobID
	Layer Layer
	Free  int // nodes that are free throughout: fewer than Needs, which does not count nodes that the job holds
	Needs int
}

func (e *ShortageError) Error() string {
	return fmt.Sprintf("naming nodes: job %d needs %d more nodes from second %d to %d, but only %d are free throughout; plan again with the nodes as they are",
		e.Job, e.Needs, e.Layer.From, e.Layer.To, e.Free)
}

// Name assigns nodes of 0 … nodes−1 to the layers of every request, so that no node is in two layers at the
// same time, and no node is in a layer while it is claimed. Layers get their nodes in the order in which they
// begin, and in the order of the requests if they begin together.
//
// This is interval partitioning, for which that order is optimal: as long as every claim begins before the
// first layer and the counts fit, every request gets its nodes. With later claims a request may fail although
// the counts fit, because a job does not migrate. After its preferred nodes, a layer takes the nodes whose next
// claim begins soonest after the layer's end. So the nodes with the longest gaps stay free for other layers. A
// request that fails has Err set. Name still serves the other requests.
//
// A job's first node is the lowest node with which it begins, or for a running job the first node in Held. The
// job's script runs there. Nodes that are added later have higher IDs whenever possible. The reason is that
// after a restart of its controller Slurm assumes that the script runs on the lowest node of a job. If the
// script runs on another node, Slurm does not notice when it ends.
//
// Name keeps the earlier nodes (Prefer) of all requests if every request can then get its nodes. Otherwise requests may lose
// earlier nodes, but firm requests are served first, as if there were no others. Claims, held and preferred nodes that the
// machine does not have are ignored. The result depends only on the arguments.
func Name(nodes int, claims []Claim, requests []Request) []Naming {
	nodes = max(nodes, 0)
	fixed := newCalendar(nodes)
	for _, c := range claims {
		fixed.add(c.Node, c.From, c.To)
	}
	first := newAttempt(nodes, fixed, requests)
	first.hold()
	if !slices.ContainsFunc(requests, func(w Request) bool { return len(w.Prefer) > 0 }) {
		first.sweep()
		return first.namings
	}
	second := first.clone()
	first.pin()
	missed := first.sweep()
	switch firm := count(requests, func(w Request) bool { return w.Firm }); {
	case missed == 0:
	case firm > 0 && firm < len(requests):
		if apart := nameApart(nodes, claims, requests); better(requests, apart, first.namings) {
			return apart
		}
	case second.sweep() < missed:
		return second.namings
	}
	return first.namings
}

// nameApart serves the firm requests as if there were no others, and then the others around them.
func nameApart(nodes int, claims []Claim, requests []Request) []Naming {
	var firm, rest []Request
	for _, w := range requests {
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
	all := make([]Naming, 0, len(requests))
	for _, w := range requests {
		from := &then
		if w.Firm {
			from = &first
		}
		all = append(all, (*from)[0])
		*from = (*from)[1:]
	}
	return all
}

// better reports whether result a serves more requests than result b. It compares firm requests first, then all
// requests.
func better(requests []Request, a, b []Naming) bool {
	missed := func(all []Naming) (firm, sum int) {
		for i, n := range all {
			if n.Err != nil {
				sum++
				if requests[i].Firm {
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

func count(requests []Request, is func(Request) bool) int {
	n := 0
	for _, w := range requests {
		if is(w) {
			n++
		}
	}
	return n
}

// attempt is one attempt to serve all requests.
type attempt struct {
	nodes    int
	requests []Request
	fixed    *calendar // claims, and what hold and pin have assigned
	namings  []Naming
	items    []item // layers, in the order in which they are served
}

// item is one layer that needs nodes.
type item struct {
	request, layer int   // indices
	fixed          int   // how many of its nodes are in the calendar; the sweep neither takes nor frees these
	prefer         []int // preferred nodes, the best first
	own            int   // how many nodes of prefer come from the nearest earlier layer
}

// preference returns the nodes that a layer prefers, from the job's earlier layers. The first `own` nodes belong to the
// earlier layer whose beginning is nearest.
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

func newAttempt(nodes int, fixed *calendar, requests []Request) *attempt {
	a := &attempt{nodes: nodes, requests: requests, fixed: fixed, namings: make([]Naming, len(requests))}
	for i, w := range requests {
		layers := Layers(w.Start, w.EP)
		a.namings[i] = Naming{Job: w.Job, Layers: make([]Named, len(layers))}
		for k, l := range layers {
			a.namings[i].Layers[k].Layer = l
			prefer, own := preference(l, w.Prefer)
			a.items = append(a.items, item{request: i, layer: k, prefer: prefer, own: own})
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

func (a *attempt) named(it item) *Named { return &a.namings[it.request].Layers[it.layer] }

// give adds a node to a layer and to the calendar.
func (a *attempt) give(it *item, node int) {
	l := a.named(*it)
	a.fixed.add(node, l.From, l.To)
	l.Nodes = append(l.Nodes, node)
	it.fixed++
}

// hold assigns to every job the nodes that it holds, in the layers with which it begins. The first nodes go to the
// lowest layer, which lasts longest.
func (a *attempt) hold() {
	used := make([]int, len(a.requests)) // number of each request's held nodes that were assigned
	taken := make([]bool, a.nodes)       // a node is held only once, whatever the requests say
	for i := range a.items {
		it := &a.items[i]
		w, l := &a.requests[it.request], a.named(*it)
		for l.From == w.Start && len(l.Nodes) < l.Count && used[it.request] < len(w.Held) {
			node := w.Held[used[it.request]]
			used[it.request]++
			if node >= 0 && node < a.nodes && !taken[node] {
				taken[node] = true
				a.give(it, node)
			}
		}
	}
}

// pin assigns to layers the nodes that they prefer, if these are free throughout, before any layer gets other nodes. It goes
// through the requests, firm requests first. The first request that prefers a node gets the node. A layer does not get
// preferred nodes below its job's first node if enough nodes above the first node are free.
func (a *attempt) pin() {
	byRequest := make([]*item, len(a.items))
	for i := range a.items {
		byRequest[i] = &a.items[i]
	}
	rank := func(it *item) int {
		if a.requests[it.request].Firm {
			return it.request - len(a.requests)
		}
		return it.request
	}
	slices.SortStableFunc(byRequest, func(x, y *item) int { return cmp.Compare(rank(x), rank(y)) })
	var below []based
	for _, it := range byRequest {
		if !a.begins(*it) {
			continue // the sweep considers the item's preferred nodes again
		}
		if least := a.least(*it, a.base(*it)); !a.pinFrom(it, it.prefer[:it.own], least, a.named(*it).Count) {
			below = append(below, based{it, least})
		} else {
			a.pinFrom(it, it.prefer[it.own:], least, a.named(*it).Count)
		}
	}
	// The layers of jobs with the highest first nodes come first. Later layers can use nodes above their own job's first node
	// that are too low for earlier layers.
	slices.SortStableFunc(below, func(x, y based) int { return cmp.Compare(y.least, x.least) })
	for _, b := range below {
		a.pinFrom(b.item, b.prefer, b.least, a.named(*b.item).Count)
		a.pinFrom(b.item, b.prefer, 0, a.missing(b))
	}
}

// based is a layer that prefers nodes below `least`, the lowest node that its job should get.
type based struct {
	*item
	least int
}

// pinFrom assigns to a layer at most `most` of its preferred nodes, all of them `least` or higher. It returns false if it
// skipped a lower node.
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

// missing returns how many nodes a layer would still lack if it got all free nodes above its job's first node.
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

// least returns the lowest node that a layer should get: later layers get no node below the job's first node. A layer with
// which the job begins, or a layer of a firm request, can have any node.
func (a *attempt) least(it item, base int) int {
	w := &a.requests[it.request]
	if w.Firm || a.named(it).From == w.Start {
		return 0
	}
	return base
}

// begins reports whether the first node of a layer's job is known. It also returns true for a firm request, for
// which the first node does not matter.
func (a *attempt) begins(it item) bool {
	w := &a.requests[it.request]
	if w.Firm || len(w.Held) > 0 {
		return true
	}
	for _, l := range a.namings[it.request].Layers[:it.layer] {
		if l.From == w.Start && len(l.Nodes) < l.Count {
			return false
		}
	}
	return true
}

// base returns the first node of a layer's job, or 0 if the job has no node yet.
func (a *attempt) base(it item) int {
	w := &a.requests[it.request]
	if len(w.Held) > 0 {
		return max(w.Held[0], 0)
	}
	base := -1
	for _, l := range a.namings[it.request].Layers[:it.layer] {
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
