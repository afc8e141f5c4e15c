package list

import "accordion/core"

// Change is an addition to an occupation: consecutive steps of a profile without a gap, none of 0 nodes. A reader
// goes through it step by step with Next.
type Change struct {
	From, To core.Time // the time of all steps; From < To, and To is EndOfTime if there is no end
	End      core.Time // end of the current step
	steps    core.EP   // the current step and the later ones
	sign     int       // 1, or -1 for a removal
}

// NextChange returns the change that the first steps of a profile make from start on, its end, and the remaining
// steps. The change is empty if these steps have no nodes.
func NextChange(start core.Time, ep core.EP, sign int) (c Change, end core.Time, left core.EP) {
	end = Later(start, ep[0].Duration)
	c = Change{From: max(start, -core.Forever), End: end, sign: sign}
	if ep[0].Nodes == 0 || c.From >= end {
		return Change{}, end, ep[1:]
	}
	n := 1
	for ; n < len(ep) && ep[n].Nodes != 0 && ep[n].Duration > 0 && end < core.Forever; n++ {
		end = Later(end, ep[n].Duration)
	}
	if c.steps, c.To = ep[:n], end; end >= core.Forever {
		c.To = EndOfTime
	}
	if n == 1 {
		c.End = c.To
	}
	return c, end, ep[n:]
}

// Rectangle returns the change that adds n nodes, not 0, in [from, to), which is not empty. `to` is EndOfTime if there
// is no end.
func Rectangle(from, to core.Time, n int) Change {
	return Change{From: from, To: to, End: to, steps: core.EP{{Duration: to - from, Nodes: n}}, sign: 1}
}

// Nodes returns what the current step adds.
func (c *Change) Nodes() int { return c.sign * c.steps[0].Nodes }

// Next advances to the next step. It returns false if there is none.
func (c *Change) Next() bool {
	if len(c.steps) == 1 {
		return false
	}
	if c.steps = c.steps[1:]; len(c.steps) == 1 {
		c.End = c.To
	} else {
		c.End += c.steps[0].Duration
	}
	return true
}

// Later returns t + d, limited to [-Forever, Forever].
func Later(t, d core.Time) core.Time {
	return max(-core.Forever, min(core.Forever, min(t, core.Forever)+min(d, core.Forever)))
}
