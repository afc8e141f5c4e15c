package sizing

import (
	"math"

	"accordion/core"
)

// Load sizes a job by a predicted load of the machine during the job's run time. In this prediction the job,
// all waiting jobs and all jobs still to arrive have a common factor times their references. The rule is Figure
// 2 of Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation" (JSSPP 2006). It
// differs from the figure in two ways. All sizes stay, unrounded, between their floor and the largest listed
// size, also when the load is computed. And when a factor meets the ideal load, Load uses this factor, and not
// the previous factor that was tried.
type Load struct {
	Ideal  float64   // load of the machine at which the search aims
	Delta  float64   // the largest difference from Ideal that ends the search
	Bad    int       // how many factors in a row without a better load end the search
	Known  *Forecast // forecast of jobs to come; if nil, World.Learned is used
	Beyond bool      // without a forecast, a job may still get more than its reference
	Blind  bool      // ignores jobs to come

	Reading Reading
}

// Reading selects an interpretation of the paper where it is ambiguous and sizes depend on it. The zero value is the
// interpretation described above.
type Reading struct {
	Own       bool // a back-filled job uses its own factor, not the factor of the head of the queue
	Unbounded bool // sizes have no bounds in the load, so that the factor can grow without limit
}

// Scojo returns Load with the parameters of the paper.
func Scojo() Load { return Load{Ideal: .90, Delta: .02, Bad: 3} }

// Filling implements Sizing.
func (l Load) Filling() Filling {
	if l.Reading.Own {
		return AtTarget
	}
	return AsHead
}

// Factor implements Sizing.
func (l Load) Factor(w *World, s *Sizes) float64 {
	best := 0.
	l.Search(w, s, func(t Trial) {
		if t.Better {
			best = t.Factor
		}
	})
	return best
}

// Trial is a factor that the search tried.
type Trial struct {
	Factor float64
	Load   float64 // node-seconds of work within the job's run time, per node-second of the machine
	Better bool    // closer to the ideal load than all earlier trials
}

// forecast returns the forecast of jobs to come, or nil.
func (l Load) forecast(w *World) *Forecast {
	switch {
	case l.Blind:
		return nil
	case l.Known != nil:
		return l.Known
	}
	return w.Learned
}

// Search calls `tell` with each factor that it tries. The last trial with Better set is the result. Without a
// forecast no factor exceeds 1, unless Beyond is set. With a larger factor, one job could take most nodes of an
// empty machine, and the next jobs would find no room.
func (l Load) Search(w *World, s *Sizes, tell func(Trial)) {
	f := l.forecast(w)
	most := math.Inf(1)
	if f == nil && !l.Beyond {
		most = 1
	}
	within := w.unbounded
	if !l.Reading.Unbounded {
		within = w.ready().load
	}
	factor, least, bad := 1., math.Inf(1), 0
	for {
		load := within(s, f, factor)
		off := math.Abs(load - l.Ideal)
		tell(Trial{min(factor, most), load, off < least})
		if off < least {
			least, bad = off, 0
		} else if bad++; bad >= l.Bad {
			return
		}
		before := factor
		factor *= l.Ideal / load
		if off <= l.Delta || factor == before || !(factor < math.Inf(1)) {
			return
		}
	}
}

// unbounded returns the load of the machine during the run time of a job, if all jobs have the given factor
// times their references. It ignores the sizes that the jobs listed.
func (w *World) unbounded(s *Sizes, f *Forecast, factor float64) float64 {
	own := factor * float64(s.Nodes)
	span := s.Lasts(own)
	work := own * span
	for i := range w.Running {
		if rest := w.Running[i].End - w.Now; rest > 0 {
			work += min(float64(rest), span) * float64(w.Running[i].Nodes)
		}
	}
	for _, other := range w.Waiting {
		if other != s {
			nodes := factor * float64(other.Nodes)
			work += min(other.Lasts(nodes), span) * nodes
		}
	}
	if f != nil {
		work += f.unbounded(w.Now, span, factor)
	}
	return work / (float64(w.Machine) * span)
}

// stretched returns the run time of a job on a factor of its reference, relative to the run time on the
// reference. It follows from the speed-up of section 4.6 of the paper: efficiencies of .8, .65 and .4 at half,
// once and twice the reference, and linear in between.
func stretched(factor float64) float64 {
	if factor <= 1 {
		return .65 / (.4 + .5*(factor-.5))
	}
	return .65 / (.65 + .15*(factor-1))
}

// work returns the node-seconds, within span seconds from now, of the jobs that arrive in this time. At the factor, each job gets
// at least half and at most twice its reference.
func (f *Forecast) work(now core.Time, span, factor float64) float64 {
	return f.unbounded(now, span, max(.5, min(factor, 2)))
}

// unbounded does what work does, without bounds of the sizes.
func (f *Forecast) unbounded(now core.Time, span, factor float64) float64 {
	stretch := stretched(factor)
	work := 0.
	for c := range Class(Classes) {
		if lasts := f.seconds[c] * stretch; lasts > 0 {
			work += factor * f.nodes[c] * f.overlap(c, now, span, min(lasts, span))
		}
	}
	return work
}
