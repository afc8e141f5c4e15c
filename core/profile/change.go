package profile

import "accordion/core"

// change is what is added to an occupation at once: the steps of a profile that follow one another without a break, none
// of 0 nodes. Whoever makes it goes along the occupation and takes it step by step.
type change struct {
	from, to core.Time // the whole; from < to, and to is endOfTime when there is no end
	end      core.Time // of the step under way
	steps    core.EP   // the one under way and those behind it
	sign     int       // 1, or -1 when it is taken away
}

// nextChange is the change that the first steps of a profile make, which begins at start, where it is over, and the
// steps that are left. The change is empty when they only pass time.
func nextChange(start core.Time, ep core.EP, sign int) (c change, end core.Time, left core.EP) {
	end = later(start, ep[0].Duration)
	c = change{from: max(start, -core.Forever), end: end, sign: sign}
	if ep[0].Nodes == 0 || c.from >= end {
		return change{}, end, ep[1:]
	}
	n := 1
	for ; n < len(ep) && ep[n].Nodes != 0 && ep[n].Duration > 0 && end < core.Forever; n++ {
		end = later(end, ep[n].Duration)
	}
	if c.steps, c.to = ep[:n], end; end >= core.Forever {
		c.to = endOfTime
	}
	if n == 1 {
		c.end = c.to
	}
	return c, end, ep[n:]
}

// nodes is what the step under way adds.
func (c *change) nodes() int { return c.sign * c.steps[0].Nodes }

// next goes on to the next step. It is false when there is none.
func (c *change) next() bool {
	if len(c.steps) == 1 {
		return false
	}
	if c.steps = c.steps[1:]; len(c.steps) == 1 {
		c.end = c.to
	} else {
		c.end += c.steps[0].Duration
	}
	return true
}

// raise adds n to each of these numbers. It says the least and the most of them, before and after, and of two others.
func raise(used []int, n, low, high int) (int, int) {
	if len(used) == 0 {
		return low, high
	}
	least, most := used[0], used[0]
	for k, u := range used {
		least, most = min(least, u), max(most, u)
		used[k] = u + n
	}
	return min(low, least, least+n), max(high, most, most+n)
}

// later is t + d without leaving [-Forever, Forever].
func later(t, d core.Time) core.Time {
	return max(-core.Forever, min(core.Forever, min(t, core.Forever)+min(d, core.Forever)))
}
