package list

import "accordion/core"

// Change is what is added to an occupation at once: the steps of a profile that follow one another without a break, none
// of 0 nodes. Whoever makes it goes along the occupation and takes it step by step.
type Change struct {
	From, To core.Time // the whole; From < To, and To is EndOfTime when there is no end
	End      core.Time // of the step under way
	steps    core.EP   // the one under way and those behind it
	sign     int       // 1, or -1 when it is taken away
}

// NextChange is the change that the first steps of a profile make, which begins at start, where it is over, and the
// steps that are left. The change is empty when they only pass time.
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

// Rectangle is the change that n nodes, not 0, more in [from, to) make, which is not empty; To is EndOfTime when there is no end.
func Rectangle(from, to core.Time, n int) Change {
	return Change{From: from, To: to, End: to, steps: core.EP{{Duration: to - from, Nodes: n}}, sign: 1}
}

// Nodes is what the step under way adds.
func (c *Change) Nodes() int { return c.sign * c.steps[0].Nodes }

// Next goes on to the next step. It is false when there is none.
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

// Later is t + d without leaving [-Forever, Forever].
func Later(t, d core.Time) core.Time {
	return max(-core.Forever, min(core.Forever, min(t, core.Forever)+min(d, core.Forever)))
}
