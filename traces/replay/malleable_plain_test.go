package replay_test

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// plainMalleable replays rigid and malleable jobs by section 4 of the rule, word by word, on arrays. It is the second implementation of
// package malleable and of the replay's resize points. Its starts, ends and sizes must be equal to theirs.
type plainMalleable struct {
	w          workload.Workload
	points     core.Time // seconds from one resize point to the next: P in the rule
	cost       core.Time // seconds of a resize: c in the rule
	toN        bool
	wait       core.Time // largest patience
	factor     int64
	now        core.Time
	events     plainEvents
	entered    int
	queue      []int // waiting jobs, in order of submission
	running    []*plainJob
	outcomes   []plainOutcome
	looks      []core.Time // from the last pass: when the reservation begins, and when nodes are claimed for it
	nextSubmit int
}

type plainJob struct {
	job            int
	start          core.Time
	size           int
	until, since   core.Time // `until` is the end of the last resize; work is counted up to `since`
	before         int       // nodes that the job holds until the time `until`
	share          float64   // share of the run time that is done
	requested, end core.Time
	told           int
	last           core.Time // the job's last resize point
	version        int
}

type plainOutcome struct {
	start, end core.Time
	sizes      []core.Step // changes of size; Duration is the time of the change, not a duration
}

type plainEvent struct {
	at      core.Time
	entered int
	kind    int // 0 is an end, 1 a resize point, 2 only a pass
	r       *plainJob
	version int
}

type plainEvents []plainEvent

func (e plainEvents) Len() int { return len(e) }
func (e plainEvents) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].entered, e[j].entered)) < 0
}
func (e plainEvents) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *plainEvents) Push(x any)   { *e = append(*e, x.(plainEvent)) }
func (e *plainEvents) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (p *plainMalleable) add(at core.Time, kind int, r *plainJob) {
	v := plainEvent{at: at, entered: p.entered, kind: kind, r: r}
	if r != nil {
		v.version = r.version
	}
	p.entered++
	heap.Push(&p.events, v)
}

// stale reports whether an event belongs to a job that has ended, or is an end that was computed for another size.
func (p *plainMalleable) stale(e plainEvent) bool {
	return e.r != nil && (e.r.end < 0 || e.kind != 1 && e.version != e.r.version)
}

func ceil(x float64) core.Time { return max(1, core.Time(math.Ceil(x*(1-1e-12)))) }

func (p *plainMalleable) job(r *plainJob) *workload.Job { return &p.w.Jobs[r.job] }

func (p *plainMalleable) stretch(j *workload.Job, nodes int) float64 {
	if j.Range == nil {
		return 1
	}
	return j.Range.Real.Stretch(nodes, j.Size)
}

func (p *plainMalleable) request(j *workload.Job, nodes int) core.Time {
	return ceil(float64(j.Request) * p.stretch(j, nodes))
}

func (p *plainMalleable) run() {
	p.outcomes, p.now = make([]plainOutcome, len(p.w.Jobs)), -1
	for {
		for len(p.events) > 0 && p.stale(p.events[0]) {
			heap.Pop(&p.events)
		}
		submit := core.Forever
		if p.nextSubmit < len(p.w.Jobs) {
			submit = p.w.Jobs[p.nextSubmit].Submit
		}
		if len(p.events) == 0 && submit == core.Forever {
			return
		}
		first, look := submit, core.Forever
		if len(p.events) > 0 {
			first = min(first, p.events[0].at)
		}
		for _, at := range p.looks {
			if at > p.now {
				look = min(look, at)
			}
		}
		if look < first {
			p.now = look
		} else if len(p.events) == 0 || submit <= p.events[0].at {
			p.now = submit
			p.queue = append(p.queue, p.nextSubmit)
			p.nextSubmit++
		} else {
			e := heap.Pop(&p.events).(plainEvent)
			p.now = e.at
			switch {
			case e.kind == 0:
				o := &p.outcomes[e.r.job]
				o.end = e.at
				p.running = slices.DeleteFunc(p.running, func(r *plainJob) bool { return r == e.r })
				e.r.end = -1
			case e.kind == 1:
				p.point(e.r)
			}
		}
		p.pass()
	}
}

func (p *plainMalleable) point(r *plainJob) {
	j := p.job(r)
	r.last = p.now
	p.add(p.now+p.points, 1, r)
	if p.now < r.until || r.told == 0 {
		return
	}
	size := r.told
	if size > r.size {
		size = min(size, r.size+p.free())
	}
	if size == r.size {
		return
	}
	r.share += float64(max(0, p.now-r.since)) / p.stretch(j, r.size)
	r.before, r.size, r.until, r.since = r.size, size, p.now+p.cost, p.now+p.cost
	at := p.now
	if size < r.before {
		at = r.until
	}
	o := &p.outcomes[r.job]
	o.sizes = append(o.sizes, core.Step{Duration: at, Nodes: size})
	p.ends(r)
	p.add(r.until, 2, nil)
}

func (p *plainMalleable) ends(r *plainJob) {
	j := p.job(r)
	r.version++
	r.requested = r.since + ceil((float64(j.Request)-r.share)*p.stretch(j, r.size))
	r.end = r.since + ceil((float64(j.Run)-r.share)*p.stretch(j, r.size))
	p.add(r.end, 0, r)
	p.add(r.requested, 2, r)
}

// held returns how many nodes a job holds now.
func (p *plainMalleable) held(r *plainJob) int {
	switch {
	case r.requested <= p.now:
		return 0
	case p.now < r.until:
		return max(r.size, r.before)
	}
	return r.size
}

func (p *plainMalleable) free() int {
	free := p.w.Machine.Nodes
	for _, r := range p.running {
		free -= p.held(r)
	}
	return free
}

func (p *plainMalleable) heard(r *plainJob) bool {
	return p.job(r).Range != nil && r.last > 0
}

func (p *plainMalleable) least(r *plainJob) int {
	if j := p.job(r); j.Range != nil {
		return min(r.size, j.Range.Min)
	}
	return r.size
}

func (p *plainMalleable) spare(r *plainJob) int {
	if !p.heard(r) || p.now < r.until || r.requested <= p.now {
		return 0
	}
	size := r.size
	if r.told > 0 {
		size = min(size, r.told)
	}
	return size - p.least(r)
}

func (p *plainMalleable) give(r *plainJob) core.Time {
	from := max(p.now, r.until)
	k := (from - r.start + p.points - 1) / p.points
	next := r.start + max(k, 1)*p.points
	if next == r.last { // the job's resize point in this second has passed
		next += p.points
	}
	return next + p.cost
}

func (p *plainMalleable) pass() {
	M := p.w.Machine.Nodes
	left, returning := p.free(), 0
	p.looks = nil
	for _, r := range p.running {
		r.told = 0
		if p.now < r.until {
			returning += max(0, r.before-r.size)
		}
	}
	due := func(i int) core.Time { return p.w.Jobs[i].Submit + min(p.wait, p.factor*p.w.Jobs[i].Request) }
	var order []int
	for _, i := range p.queue {
		if due(i) <= p.now {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(due(a), due(b)) })
	for _, i := range p.queue {
		if due(i) > p.now {
			order = append(order, i)
		}
	}
	reserved, sh, extra, tried := false, core.Forever, math.MaxInt, math.MaxInt
	H := p.points + p.cost
	waits := false
	for _, i := range order {
		j := &p.w.Jobs[i]
		lo, hi := j.Size, j.Size
		if j.Range != nil {
			lo = max(j.Range.Min, (j.Size+1)/2)
		}
		size := 0
		if !reserved {
			if hi <= left {
				size = hi
			} else if left >= lo {
				size = left
			}
		} else {
			for k := min(hi, left); k >= lo; k-- {
				if k <= extra || p.now+p.request(j, k) <= sh {
					size = k
					break
				}
			}
		}
		if size > 0 {
			p.start(i, size)
			left -= size
			if reserved && p.now+p.request(j, size) > sh {
				extra -= size
			}
			continue
		}
		waits = true
		if !reserved && due(i) <= p.now {
			reserved = true
			sh, extra = p.shadow(lo, left)
			if sh <= p.now+H+1 {
				have := left
				for _, r := range p.running {
					if r.requested <= p.now {
						continue
					}
					if r.requested <= sh {
						have += p.held(r)
					} else if p.now < r.until && r.until <= sh {
						have += p.held(r) - r.size
					}
				}
				if lo > have {
					p.claim(lo-have, sh)
				}
			} else {
				p.looks = append(p.looks, sh-H)
			}
			p.looks = append(p.looks, sh)
			continue
		}
		if lo < tried && (lo <= extra || p.now+H+p.request(j, lo) <= sh) {
			use := min(lo, max(left, 0))
			lack := lo - use - returning
			if lack <= 0 || p.claim(lack, p.now+H) {
				left -= use
				returning -= min(returning, lo-use)
				if p.now+H+p.request(j, lo) > sh {
					extra -= lo
				}
			} else {
				tried = lo
			}
		}
	}
	room := left - 2*M/100
	if waits && sh < p.now+2*H {
		room = min(room, extra)
	}
	p.grow(room)
}

func (p *plainMalleable) start(i, size int) {
	j := &p.w.Jobs[i]
	p.queue = slices.DeleteFunc(p.queue, func(o int) bool { return o == i })
	r := &plainJob{job: i, start: p.now, since: p.now, size: size}
	p.running = append(p.running, r)
	p.outcomes[i] = plainOutcome{start: p.now, sizes: []core.Step{{Duration: p.now, Nodes: size}}}
	p.ends(r)
	if j.Range != nil {
		p.add(p.now+p.points, 1, r)
	}
}

// shadow returns when `lo` nodes will be free, and how many more nodes will be free then.
func (p *plainMalleable) shadow(lo, left int) (core.Time, int) {
	type back struct {
		at    core.Time
		nodes int
	}
	var all []back
	for _, r := range p.running {
		if r.requested <= p.now {
			continue
		}
		rest := p.held(r)
		if p.now < r.until && r.before > r.size {
			all = append(all, back{min(r.until, r.requested), r.before - r.size})
			rest = r.size
		}
		if s := p.spare(r); s > 0 {
			if at := p.give(r); at < r.requested {
				all = append(all, back{at, s})
				rest -= s
			}
		}
		all = append(all, back{r.requested, rest})
	}
	slices.SortStableFunc(all, func(a, b back) int { return cmp.Compare(a.at, b.at) })
	have, at := left, p.now
	for i := 0; i < len(all); i++ {
		if have >= lo && all[i].at > at {
			break
		}
		have, at = have+all[i].nodes, all[i].at
	}
	return at, have - lo
}

func (p *plainMalleable) claim(n int, by core.Time) bool {
	type offer struct {
		r     *plainJob
		spare int
	}
	var offers []offer
	total := 0
	for _, r := range p.running {
		if s := p.spare(r); s > 0 && p.give(r) <= by && by < r.requested {
			offers = append(offers, offer{r, s})
			total += s
		}
	}
	if total < n {
		return false
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.spare, a.spare) })
	for _, o := range offers {
		taken := min(n, o.spare)
		size := o.r.size
		if o.r.told > 0 {
			size = min(size, o.r.told)
		}
		o.r.told = size - taken
		if n -= taken; n == 0 {
			break
		}
	}
	return true
}

func (p *plainMalleable) grow(room int) {
	var all []*plainJob
	for _, r := range p.running {
		if p.heard(r) && r.told == 0 && p.now >= r.until && p.now < r.requested {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *plainJob) int {
		return cmp.Compare(a.size*p.job(b).Size, b.size*p.job(a).Size)
	})
	for phase := range 2 {
		for _, r := range all {
			j := p.job(r)
			to := j.Size
			if phase == 1 && !p.toN {
				to = j.Range.Max
			}
			size := max(r.size, r.told)
			plus := min(to-size, room)
			if plus <= 0 || size+plus < to && plus < (r.size+3)/4 {
				continue
			}
			r.told = size + plus
			room -= plus
		}
	}
}
