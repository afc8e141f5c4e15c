package advise

import (
	"fmt"
	"slices"
	"strings"
)

// split returns the advice for runs of a group that evolve differently: one line for each sequence of sizes
// with enough runs. The other runs are left alone. `sound` counts the runs that waste too little for a line.
func (o Options) split(g gathered, all []sample) (advised []Advice, sound int) {
	var order []string // shapes, in order of their first runs
	parts := map[string][]sample{}
	for _, s := range all {
		key := shape(s.ep)
		if parts[key] == nil {
			order = append(order, key)
		}
		parts[key] = append(parts[key], s)
	}
	var rest []sample
	for _, key := range order {
		part := parts[key]
		if len(part) < o.Runs {
			rest = append(rest, part...)
			continue
		}
		a := o.one(g.Group, part)
		if a == nil {
			sound += len(part)
			continue
		}
		a.shape, a.Sequence, a.Of = key, sizesText(profileOf(a, part)), len(all)
		advised = append(advised, *a)
	}
	if len(rest) == 0 {
		return advised, sound
	}
	slices.SortFunc(rest, func(a, b sample) int { return compareStarts(a.run, b.run) })
	if !wasteful(rest) {
		return advised, sound + len(rest)
	}
	a, could := totals(g.Group, rest)
	a.Kind, a.Saved, a.Why = LeftAlone, could, "its runs do not evolve alike: "+sequencesText(rest)
	if len(rest) < len(all) {
		a.Of, a.Why = len(all), "these evolve otherwise than the others, and seldom alike: "+sequencesText(rest)
	}
	return append(advised, *a), sound
}

// profileOf returns the sizes of an advice. For LeftAlone these are the sizes of the last run.
func profileOf(a *Advice, part []sample) []stretch {
	last := slices.Clone(part[len(part)-1].ep)
	for i := range a.EP {
		last[i].nodes = a.EP[i].Nodes
	}
	return last
}

// shape returns how the sizes of a profile follow each other: one character per step, which stands for the
// first step, a growth or a shrink.
func shape(ep []stretch) string {
	turns := make([]byte, len(ep))
	for i := range ep {
		switch {
		case i == 0:
			turns[i] = '.'
		case ep[i].nodes > ep[i-1].nodes:
			turns[i] = '+'
		default:
			turns[i] = '-'
		}
	}
	return string(turns)
}

// mostFrequent returns the runs with the most frequent shape. If two shapes are equally frequent, it takes the
// one that came first.
func mostFrequent(all []sample) []sample {
	byShape := map[string][]sample{}
	var best []sample
	for _, s := range all {
		byShape[shape(s.ep)] = append(byShape[shape(s.ep)], s)
	}
	for _, s := range all {
		if these := byShape[shape(s.ep)]; len(these) > len(best) {
			best = these
		}
	}
	return best
}

// sequencesText returns the sequences of sizes as text, the most frequent ones first, at most three.
func sequencesText(all []sample) string {
	type count struct {
		text string
		n    int
	}
	var counts []count
	for _, s := range all {
		text := sizesText(s.ep)
		at := slices.IndexFunc(counts, func(c count) bool { return c.text == text })
		if at < 0 {
			at = len(counts)
			counts = append(counts, count{text: text})
		}
		counts[at].n++
	}
	slices.SortStableFunc(counts, func(a, b count) int { return b.n - a.n })
	var parts []string
	for i, c := range counts {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d others", len(counts)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d times %s", c.n, c.text))
	}
	return strings.Join(parts, "; ")
}

// sizesText returns the sizes as text: "2, 16, 2 nodes".
func sizesText(ep []stretch) string {
	const most = 6
	var b strings.Builder
	for i, s := range ep {
		if i == most {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, s.nodes)
	}
	if len(ep) == 1 && ep[0].nodes == 1 {
		return b.String() + " node"
	}
	return b.String() + " nodes"
}
