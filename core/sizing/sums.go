package sizing

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// sums computes the sums over the jobs of a world that Load needs. If all numbers are whole, it adds them up in
// advance in tables, which serve several jobs and factors. Otherwise it adds them one by one. The result is the
// same to the last bit.
type sums struct {
	world  *World // nil if the world has changed since the sums were computed
	asked  int    // number of queries about this world
	bounds []bounds

	indexed   bool            // the fields below match the world
	waits     map[*Sizes]bool // the waiting jobs whose bounds are computed
	low, high float64         // at factors up to `low` all jobs have their smallest size, from `high` on all have their largest size
	running   table
	waiting   [3]table // waiting jobs on their references, on their smallest sizes and on their largest sizes
}

// bounds are the smallest and the largest size of a waiting job.
type bounds struct {
	sizes             *Sizes
	reference         float64 // nodes
	least, most       float64 // nodes
	longest, shortest float64 // run times on the smallest and on the largest size, in seconds
}

// Settle prepares the world for queries. The world must not change until the next call of Settle. Load then
// reuses sums that it computed for one job when it sizes other jobs.
func (w *World) Settle() {
	if w.sums == nil {
		w.sums = new(sums)
	}
	w.sums.world = nil
}

// ready returns the sums of the world for a query. It builds tables only at the second query about a world, because for a single
// query tables take longer than adding.
func (w *World) ready() *sums {
	a := w.sums
	if a == nil {
		a = new(sums)
	}
	if a.world != w { // the world changed or is a copy
		a.world, a.asked = w, 0
	}
	a.asked++
	switch a.asked {
	case 1:
		a.bound()
	case 2:
		a.index()
	}
	return a
}

// bound computes the bounds of all waiting jobs.
func (a *sums) bound() {
	a.indexed = false
	waiting := a.world.Waiting
	a.bounds = slices.Grow(a.bounds[:0], len(waiting))[:len(waiting)]
	for i, s := range waiting {
		b := &a.bounds[i]
		b.sizes, b.reference = s, float64(s.Nodes)
		b.least, b.most = s.bounds(a.world.Machine)
		b.longest, b.shortest = s.Lasts(b.least), s.Lasts(b.most)
	}
}

// index invalidates the tables and rebuilds the table of the running jobs.
func (a *sums) index() {
	if a.waits == nil {
		a.waits = make(map[*Sizes]bool, len(a.bounds))
	}
	clear(a.waits)
	a.low, a.high = math.Inf(1), 0
	for i := range a.bounds {
		b := &a.bounds[i]
		a.waits[b.sizes] = true
		if b.most > b.least {
			a.low = min(a.low, b.least/b.reference*(1-near))
			a.high = max(a.high, b.most/b.reference*(1+near))
		}
	}
	a.indexed = len(a.waits) == len(a.bounds) // no job waits twice
	a.running.begin()
	for _, h := range a.world.Running {
		if rest := h.End - a.world.Now; rest > 0 {
			a.running.add(float64(h.Nodes), float64(rest))
		}
	}
	a.running.end()
	for i := range a.waiting {
		a.waiting[i].made = false
	}
}

// load returns the load of the machine during the run time of a job, if jobs have the given factor times their
// references.
func (a *sums) load(s *Sizes, f *Forecast, factor float64) float64 {
	own, span := a.on(s, factor)
	work := a.work(s, factor, own, span)
	if f != nil {
		work += f.work(a.world.Now, span, factor)
	}
	return work / (float64(a.world.Machine) * span)
}

// on returns the nodes that a job has at a factor, and its run time on them in seconds.
func (a *sums) on(s *Sizes, factor float64) (nodes, seconds float64) {
	least, most := s.bounds(a.world.Machine)
	nodes = max(least, min(factor*float64(s.Nodes), most))
	return nodes, s.Lasts(nodes)
}

// work returns the node-seconds, within the run time of a job, of running and waiting jobs. The waiting jobs
// have the given factor times their references. `own` and `span` are the nodes and the run time of job s, which
// need not be among the waiting jobs.
func (a *sums) work(s *Sizes, factor, own, span float64) float64 {
	if work := a.added(s, factor, own, span); work < exact {
		return work
	}
	return a.others(a.held(own*span, span), s, factor, span)
}

// held adds the work of running jobs.
func (a *sums) held(work, span float64) float64 {
	for i := range a.world.Running {
		h := &a.world.Running[i]
		if rest := h.End - a.world.Now; rest > 0 {
			work += min(float64(rest), span) * float64(h.Nodes)
		}
	}
	return work
}

// others adds the work of the waiting jobs other than s.
func (a *sums) others(work float64, s *Sizes, factor, span float64) float64 {
	for i := range a.bounds {
		b := &a.bounds[i]
		if b.sizes == s {
			continue
		}
		nodes, seconds := factor*b.reference, span
		switch {
		case nodes <= b.least:
			nodes, seconds = b.least, b.longest
		case nodes >= b.most:
			nodes, seconds = b.most, b.shortest
		case span > b.shortest*(1-near): // otherwise it runs longer than span on any of its sizes
			seconds = b.sizes.between(nodes)
		}
		if seconds > span {
			seconds = span
		}
		work += seconds * nodes
	}
	return work
}

// near is larger than any relative rounding error in this file.
const near = 1e-12

// exact is the limit below which whole numbers are added and multiplied without rounding, so that their order does
// not matter.
const exact = 1 << 53

// added returns the work by the tables. It returns the constant `exact` or more if the tables cannot give the
// work exactly.
func (a *sums) added(s *Sizes, factor, own, span float64) float64 {
	t := a.table(factor)
	if t == nil || !isWhole(own) || !isWhole(span) {
		return exact
	}
	work := a.running.within(span) + t.within(span)
	if !a.waits[s] {
		work += own * span
	}
	return work
}

func isWhole(x float64) bool { return x == math.Trunc(x) }

// table returns the table of the waiting jobs at a factor of their references, or nil if their numbers are not all
// whole.
func (a *sums) table(factor float64) *table {
	which := 0
	switch {
	case !a.indexed:
		return nil
	case factor == 1:
	case factor <= a.low:
		which = 1
	case factor >= a.high:
		which = 2
	default:
		return nil
	}
	t := &a.waiting[which]
	if !t.made {
		t.begin()
		for i := range a.bounds {
			t.add(a.on(a.bounds[i].sizes, factor))
		}
		t.end()
	}
	if !t.whole {
		return nil
	}
	return t
}

// table lists jobs by run time. It gives the sum of their work within any time.
type table struct {
	made, whole bool // all numbers are whole
	rows        []row
}

// row is a job in a table.
type row struct {
	seconds float64
	nodes   float64 // the job's nodes, plus the nodes of all longer jobs
	before  float64 // node-seconds of all earlier rows
}

func (t *table) begin() { t.made, t.whole, t.rows = false, true, t.rows[:0] }

func (t *table) add(nodes, seconds float64) {
	t.whole = t.whole && isWhole(nodes) && isWhole(seconds)
	t.rows = append(t.rows, row{seconds: seconds, nodes: nodes})
}

func (t *table) end() {
	t.made = true
	if !t.whole {
		return
	}
	slices.SortFunc(t.rows, func(a, b row) int { return cmp.Compare(a.seconds, b.seconds) })
	before, nodes := 0., 0.
	for i := range t.rows {
		r := &t.rows[i]
		r.before = before
		before += r.nodes * r.seconds
	}
	for i := len(t.rows) - 1; i >= 0; i-- {
		nodes += t.rows[i].nodes
		t.rows[i].nodes = nodes
	}
	t.rows = append(t.rows, row{seconds: math.Inf(1), before: before})
}

// within returns the work of the jobs within the given seconds.
func (t *table) within(seconds float64) float64 {
	r := &t.rows[sort.Search(len(t.rows), func(i int) bool { return t.rows[i].seconds > seconds })]
	return r.before + seconds*r.nodes
}
