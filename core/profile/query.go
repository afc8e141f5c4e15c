package profile

import "accordion/core"

// At is the number of nodes used at an instant: ep(t) of the paper.
func (p *Profile) At(t core.Time) int { return p.used[p.index(t)] }

// Free is the number of nodes free at an instant; 0 where more is used than there is.
func (p *Profile) Free(t core.Time) int { return max(0, p.nodes-p.At(t)) }

// Max is the largest number of nodes used in [from, to), and 0 when that is empty: max(ep, t0, t1) of the paper.
func (p *Profile) Max(from, to core.Time) int {
	peak, _ := p.peak(from, to)
	return peak
}

// Loc is the end of the last step that holds the maximum of [from, to), restricted to it: loc(ep, t0, t1) of the
// paper. A placement that failed there need not be tried before it. When [from, to) is empty it is to.
func (p *Profile) Loc(from, to core.Time) core.Time {
	_, end := p.peak(from, to)
	return end
}

// peak is the maximum of [from, to) and where its last step ends.
func (p *Profile) peak(from, to core.Time) (peak int, end core.Time) {
	if from >= to {
		return 0, to
	}
	i := p.index(from)
	peak, end = p.used[i], min(to, p.endOf(i))
	for i++; i < len(p.at) && p.at[i] < to; i++ {
		if p.used[i] >= peak {
			peak, end = p.used[i], min(to, p.endOf(i))
		}
	}
	return peak, end
}

// FirstFit is the earliest instant, not before from, at which n nodes are free for d seconds; d is Forever for a need
// without end. ok is false when there is none. It sweeps once over the change points behind from.
func (p *Profile) FirstFit(n int, d, from core.Time) (start core.Time, ok bool) {
	if n <= 0 {
		return from, true
	}
	start = from
	most := p.nodes - n // what may be used
	at, used := p.at, p.used
	used = used[:len(at)] // one bounds check for the sweep
	for i := p.index(from); i < len(at); i++ {
		switch {
		case used[i] > most && i+1 == len(at):
			return core.Forever, false
		case used[i] > most:
			start = at[i+1]
		case i+1 < len(at) && at[i+1]-start >= d:
			return start, true
		}
	}
	return start, true
}

// FirstFree is the first instant, not before from, with at least n nodes free; Forever and false when there is none.
func (p *Profile) FirstFree(n int, from core.Time) (t core.Time, ok bool) { return p.FirstFit(n, 1, from) }

// Hole is FirstFit with the end of the hole: the first instant after start with fewer than n nodes free, Forever when
// there is none.
func (p *Profile) Hole(n int, d, from core.Time) (start, end core.Time, ok bool) {
	if start, ok = p.FirstFit(n, d, from); !ok {
		return start, start, false
	}
	end, _ = p.FirstBelow(n, start)
	return start, end, true
}

// FirstBelow is the first instant, not before from, with fewer than n nodes free; Forever and false when there is none.
func (p *Profile) FirstBelow(n int, from core.Time) (t core.Time, ok bool) {
	most := p.nodes - n
	for i := p.index(from); n > 0 && i < len(p.at); i++ {
		if p.used[i] > most {
			return max(from, p.at[i]), true
		}
	}
	return core.Forever, false
}

// FreeSince is the begin of the stretch with n nodes free that reaches up to t: n are free in [FreeSince, t), and not
// right before it. It is t itself when n are not free right before t.
func (p *Profile) FreeSince(n int, t core.Time) core.Time {
	since := t
	for i := p.index(t - 1); i >= 0 && (n <= 0 || p.used[i] <= p.nodes-n); i-- {
		since = p.at[i]
	}
	return since
}

// Steps is the occupation from an instant to its last change, as a resource EP; nil when nothing is used from then on.
// Its last step reaches to Forever when its nodes are never given back.
func (p *Profile) Steps(from core.Time) core.EP {
	var ep core.EP
	for i := p.index(from); i < len(p.at); i++ {
		if i+1 == len(p.at) && p.used[i] == 0 {
			break
		}
		if begin, end := max(from, p.at[i]), p.endOf(i); begin < end {
			ep = append(ep, core.Step{Duration: end - begin, Nodes: p.used[i]})
		}
	}
	return ep
}
