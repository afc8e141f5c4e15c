package advise

import (
	"fmt"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/ep"
)

// seen is a run as a suggestion needs it.
type seen struct {
	run  *Run
	used int64     // by the observed profile
	ep   []stretch // that profile, coarse enough to be written
}

func (r *Run) held() int64 { return int64(r.Held) * (r.End - r.Start) }

// advise is the advice on one group, and how many of its runs waste nothing that is worth a word. Runs that evolve alike get one line; where too many do
// not, those of each sequence of sizes get one.
func (o Options) advise(g gathered, w *watcher) (told []Advice, sound int) {
	all := make([]seen, len(g.runs))
	for i, r := range g.runs {
		observed := w.observed(r)
		all[i] = seen{run: r, used: area(observed), ep: joined(observed, o.shortest(r.End-r.Start))}
	}
	known := all[:len(all)-len(all)/3]
	if like := alikeOf(known); float64(len(like)) < alike*float64(len(known)) && wasteful(all) {
		return o.split(g, all)
	}
	if a := o.one(g.Group, all); a != nil {
		return []Advice{*a}, 0
	}
	return nil, len(all)
}

// about is the advice on these runs before there is one, and what could be saved if each had carried its own profile.
func about(g Group, all []seen) (a *Advice, could int64) {
	a = &Advice{Group: g, Runs: len(all)}
	for i := range all {
		s := &all[i]
		a.Held += s.run.held()
		a.Used += s.used
		could += max(s.run.held()-changing(s.ep), 0)
	}
	return a, could
}

func wasteful(all []seen) bool {
	a, could := about(Group{}, all)
	return float64(could) >= worth*float64(a.Held)
}

// one is the advice on runs most of which evolve alike; nil where they waste nothing that is worth a word. The first two thirds of the runs make the
// line, the last third judges it.
func (o Options) one(g Group, all []seen) *Advice {
	a, could := about(g, all)
	if float64(could) < worth*float64(a.Held) {
		return nil
	}
	a.Checked = len(all) / 3
	known := all[:len(all)-a.Checked]
	like := alikeOf(known)
	if why := odd(like); why != "" {
		a.Kind, a.Why, a.Saved = LeftAlone, why, could
		return a
	}
	a.EP = o.line(like)
	for _, s := range all {
		if s.fits(a.EP) {
			a.Saved += max(s.run.held()-s.under(a.EP), 0)
		}
	}
	if float64(a.Saved) < worth*float64(a.Held) {
		return nil
	}
	for _, s := range all[len(known):] {
		if s.onTime(a.EP) {
			a.OnTime++
		}
	}
	a.write(like[len(like)-1])
	return a
}

// write puts the line, and where its steps begin in one of the runs.
func (a *Advice) write(of seen) {
	a.Kind, a.Line, a.Latest = Evolving, "#EP "+ep.Format(a.EP), of.run.ID
	if len(a.EP) == 1 {
		a.Kind, a.Line = Smaller, fmt.Sprintf("#SBATCH --nodes=%d", a.EP[0].Nodes)
	}
	for _, s := range of.ep[1:] {
		a.Where = append(a.Where, where(of.run, s.from))
	}
}

// Alone is the advice that one run gives by itself: the line of what it used, with the margin. Where it is left alone there was nothing
// worth saving, or nobody knows, and Why says which.
func Alone(r *Run, o Options) Advice {
	o = o.filled(nil)
	a := Advice{Group: r.group(), Kind: LeftAlone, Runs: 1, Held: r.held(), Used: r.held(), Latest: r.ID}
	observed := new(watcher).observed(r)
	if observed == nil {
		a.Why = "it started nothing with srun, so that nobody knows which of its nodes it used"
		return a
	}
	own := seen{run: r, used: area(observed), ep: joined(observed, o.shortest(r.End-r.Start))}
	a.Used, a.shape = own.used, shape(own.ep)
	a.EP = profile(own.ep)
	a.Saved = max(r.held()-changing(own.ep), 0)
	if a.Why = odd([]seen{own}); a.Why != "" {
		return a
	}
	if float64(a.Saved) < worth*float64(a.Held) {
		a.Why = "its steps used what it held, but for less than 5 %"
		return a
	}
	a.EP = o.line([]seen{own})
	a.write(own)
	return a
}

// odd says why there is no line for runs that evolve alike; "" where there is.
func odd(like []seen) string {
	if n := len(like[0].ep); n > mostSteps {
		return fmt.Sprintf("it changes its size %d times, and nobody writes so many steps: a larger --shortest joins some", n-1)
	}
	return ""
}

// line is the profile for runs of one shape: of each step the most nodes, and the quantile of its durations with the margin. Neighbors
// differ, for in each run they do, and in all runs the same way.
func (o Options) line(like []seen) core.EP {
	ep := make(core.EP, len(like[0].ep))
	lengths := make([]core.Time, len(like))
	for i := range ep {
		for k, s := range like {
			lengths[k] = s.ep[i].length()
			ep[i].Nodes = max(ep[i].Nodes, s.ep[i].nodes)
		}
		ep[i].Duration = o.written(Quantile(lengths, o.Quantile))
	}
	return ep
}

// Quantile is the least of the durations that at least this share of them does not exceed. It sorts them.
func Quantile(lengths []core.Time, share float64) core.Time {
	slices.Sort(lengths)
	const rounding = 1e-9 // 0.9 · 10 is 9
	at := int(math.Ceil(share*float64(len(lengths))-rounding)) - 1
	return lengths[min(max(at, 0), len(lengths)-1)]
}

// written is a duration with the margin, as people write it: whole ten seconds from two minutes on, whole minutes from
// twenty.
func (o Options) written(d core.Time) core.Time {
	const rounding = 1e-6
	d = core.Time(math.Ceil(float64(d)*(1+o.Margin) - rounding))
	grain := core.Time(1)
	switch {
	case d >= 20*60:
		grain = 60
	case d >= 2*60:
		grain = 10
	}
	return min((d+grain-1)/grain*grain, core.MaxTotal/mostSteps)
}

// fits says whether a run, step by step, needs no more nodes than the line has.
func (s *seen) fits(ep core.EP) bool {
	if len(s.ep) != len(ep) {
		return false
	}
	for i, t := range s.ep {
		if t.nodes > ep[i].Nodes {
			return false
		}
	}
	return true
}

// onTime says whether a run that carried the line would have kept to it: no step needs more nodes or lasts longer than told.
// One that was early does not make up for one that is late. A line of one step says how many nodes, and nothing of time.
func (s *seen) onTime(ep core.EP) bool {
	for i, t := range s.ep {
		if len(ep) > 1 && i < len(ep) && t.length() > ep[i].Duration {
			return false
		}
	}
	return s.fits(ep)
}

// changing is what a job holds that has these sizes one after the other: their area, and what it takes to get from one to the next.
func changing(all []stretch) int64 {
	sum := area(all)
	for i := 1; i < len(all); i++ {
		sum += resizing(all[i-1].nodes, all[i].nodes)
	}
	return sum
}

// resizing is the area of a step boundary: the larger of both sizes is held for as long as it takes.
func resizing(before, after int) int64 {
	if after > before {
		return growing * int64(after)
	}
	return shrinking * int64(before)
}

// under is the area of a run that fits the line, had it carried it: the line's nodes for as long as each of its steps lasted, and what
// it takes to get from one to the next.
func (s *seen) under(ep core.EP) (sum int64) {
	for i, t := range s.ep {
		sum += t.length() * int64(ep[i].Nodes)
		if i > 0 {
			sum += resizing(ep[i-1].Nodes, ep[i].Nodes)
		}
	}
	return sum
}
