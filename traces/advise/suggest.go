package advise

import (
	"fmt"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/ep"
)

// sample is a run with its observed profile.
type sample struct {
	run  *Run
	used int64     // node-seconds of the observed profile
	ep   []stretch // observed profile after joining short stretches
}

func (r *Run) held() int64 { return int64(r.Held) * (r.End - r.Start) }

// advise returns the advice for one group. Runs that evolve alike get one line. If too many evolve differently,
// each sequence of sizes gets its own line. `sound` counts the runs that waste too little for a line.
func (o Options) advise(g gathered, w *watcher) (advised []Advice, sound int) {
	all := make([]sample, len(g.runs))
	for i, r := range g.runs {
		observed := w.observed(r)
		all[i] = sample{run: r, used: area(observed), ep: joinShort(observed, o.shortest(r.End-r.Start))}
	}
	known := all[:len(all)-len(all)/3]
	if like := mostFrequent(known); float64(len(like)) < minAlike*float64(len(known)) && wasteful(all) {
		return o.split(g, all)
	}
	if a := o.one(g.Group, all); a != nil {
		return []Advice{*a}, 0
	}
	return nil, len(all)
}

// totals returns the advice for these runs without a line. `could` is the area that they would have saved if
// each run had requested its own profile.
func totals(g Group, all []sample) (a *Advice, could int64) {
	a = &Advice{Group: g, Runs: len(all)}
	for i := range all {
		s := &all[i]
		a.Held += s.run.held()
		a.Used += s.used
		could += max(s.run.held()-areaWithResizes(s.ep), 0)
	}
	return a, could
}

func wasteful(all []sample) bool {
	a, could := totals(Group{}, all)
	return float64(could) >= minSaving*float64(a.Held)
}

// one returns the advice for runs most of which evolve alike, or nil if they waste too little for a line. The
// first two thirds of the runs make the line, the last third checks it.
func (o Options) one(g Group, all []sample) *Advice {
	a, could := totals(g, all)
	if float64(could) < minSaving*float64(a.Held) {
		return nil
	}
	a.Checked = len(all) / 3
	known := all[:len(all)-a.Checked]
	like := mostFrequent(known)
	if why := tooManySteps(like); why != "" {
		a.Kind, a.Why, a.Saved = LeftAlone, why, could
		return a
	}
	a.EP = o.line(like)
	for _, s := range all {
		if s.fits(a.EP) {
			a.Saved += max(s.run.held()-s.areaWith(a.EP), 0)
		}
	}
	if float64(a.Saved) < minSaving*float64(a.Held) {
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

// write sets the line, and where its steps begin in one of the runs.
func (a *Advice) write(of sample) {
	a.Kind, a.Line, a.Latest = Evolving, "#EP "+ep.Format(a.EP), of.run.ID
	if len(a.EP) == 1 {
		a.Kind, a.Line = Smaller, fmt.Sprintf("#SBATCH --nodes=%d", a.EP[0].Nodes)
	}
	for _, s := range of.ep[1:] {
		a.Boundaries = append(a.Boundaries, boundaryAt(of.run, s.from))
	}
}

// ForRun returns the advice for a single run: a line with the nodes that it used, and with the margin. For LeftAlone, Why has the reason.
func ForRun(r *Run, o Options) Advice {
	o = o.filled(nil)
	a := Advice{Group: r.group(), Kind: LeftAlone, Runs: 1, Held: r.held(), Used: r.held(), Latest: r.ID}
	observed := new(watcher).observed(r)
	if observed == nil {
		a.Why = "it started nothing with srun, so that nobody knows which of its nodes it used"
		return a
	}
	own := sample{run: r, used: area(observed), ep: joinShort(observed, o.shortest(r.End-r.Start))}
	a.Used, a.shape = own.used, shape(own.ep)
	a.EP = profile(own.ep)
	a.Saved = max(r.held()-areaWithResizes(own.ep), 0)
	if a.Why = tooManySteps([]sample{own}); a.Why != "" {
		return a
	}
	if float64(a.Saved) < minSaving*float64(a.Held) {
		a.Why = "its steps used what it held, but for less than 5 %"
		return a
	}
	a.EP = o.line([]sample{own})
	a.write(own)
	return a
}

// tooManySteps returns why runs that evolve alike get no line, or "" if they have few enough steps.
func tooManySteps(like []sample) string {
	if n := len(like[0].ep); n > maxSteps {
		return fmt.Sprintf("it changes its size %d times, and nobody writes so many steps: a larger --shortest joins some", n-1)
	}
	return ""
}

// line returns the profile for runs of one shape. Each step has the most nodes of any run, and the quantile of the durations with the
// margin. Neighboring steps always differ in size, because in all runs of one shape the size changes in the same direction.
func (o Options) line(like []sample) core.EP {
	ep := make(core.EP, len(like[0].ep))
	lengths := make([]core.Time, len(like))
	for i := range ep {
		for k, s := range like {
			lengths[k] = s.ep[i].length()
			ep[i].Nodes = max(ep[i].Nodes, s.ep[i].nodes)
		}
		ep[i].Duration = o.rounded(Quantile(lengths, o.Quantile))
	}
	return ep
}

// Quantile returns the smallest of the durations that at least this share of them does not exceed. It sorts lengths.
func Quantile(lengths []core.Time, share float64) core.Time {
	slices.Sort(lengths)
	const rounding = 1e-9 // so that 0.9 · 10 is 9
	at := int(math.Ceil(share*float64(len(lengths))-rounding)) - 1
	return lengths[min(max(at, 0), len(lengths)-1)]
}

// rounded returns a duration with the margin as people write it: in whole tens of seconds from two minutes on, in whole minutes from twenty
// minutes on.
func (o Options) rounded(d core.Time) core.Time {
	const rounding = 1e-6
	d = core.Time(math.Ceil(float64(d)*(1+o.Margin) - rounding))
	grain := core.Time(1)
	switch {
	case d >= 20*60:
		grain = 60
	case d >= 2*60:
		grain = 10
	}
	return min((d+grain-1)/grain*grain, core.MaxTotal/maxSteps)
}

// fits reports whether no step of a run needs more nodes than the line has.
func (s *sample) fits(ep core.EP) bool {
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

// onTime reports whether a run with the line would have kept to it: no step needs more nodes or lasts longer than in the line. A short step
// does not compensate for a long one. A line of one step limits only nodes, not time.
func (s *sample) onTime(ep core.EP) bool {
	for i, t := range s.ep {
		if len(ep) > 1 && i < len(ep) && t.length() > ep[i].Duration {
			return false
		}
	}
	return s.fits(ep)
}

// areaWithResizes returns the area that a job with these sizes holds, including its resizes.
func areaWithResizes(all []stretch) int64 {
	sum := area(all)
	for i := 1; i < len(all); i++ {
		sum += resizeArea(all[i-1].nodes, all[i].nodes)
	}
	return sum
}

// resizeArea returns the area of a resize, in which the job holds the larger of the two sizes.
func resizeArea(before, after int) int64 {
	if after > before {
		return growSeconds * int64(after)
	}
	return shrinkSeconds * int64(before)
}

// areaWith returns the area that a run would have held with the line. The run must fit the line. The area is
// the line's nodes for the real duration of each step, and the area of the resizes.
func (s *sample) areaWith(ep core.EP) (sum int64) {
	for i, t := range s.ep {
		sum += t.length() * int64(ep[i].Nodes)
		if i > 0 {
			sum += resizeArea(ep[i-1].Nodes, ep[i].Nodes)
		}
	}
	return sum
}
