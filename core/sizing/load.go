package sizing

import (
	"math"

	"accordion/core"
)

// Load sizes a job by the load that the machine would have over the job's run time if it, all that waits and all that is
// still to arrive had so many times their references: Figure 2 of Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive
// Job Resource Allocation" (JSSPP 2006). Two things differ from what is printed there. All sizes stay between their floor and
// the largest that is listed, unrounded, in the load as well. And when the load is met, the factor is the one that met it,
// not the one before.
type Load struct {
	Ideal  float64   // load of the machine
	Delta  float64   // how far from Ideal is near enough
	Bad    int       // so many factors in a row without a better load end the search
	Known  *Forecast // of jobs to come; nil: as far as was learned (World.Learned)
	Beyond bool      // even if nothing is known of jobs to come a job may get more than its reference
	Blind  bool      // jobs to come do not count at all

	Reading Reading
}

// Reading is how the paper is read where that moves sizes. The zero value is what stands above.
type Reading struct {
	Own       bool // a back-filled job has a factor of its own, not that of the head of the queue
	Unbounded bool // sizes have no bounds in the load: the factor runs away to reach it
}

// Scojo is Load with the parameters of the paper.
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

// Trial is a factor of all references that was tried.
type Trial struct {
	Factor float64
	Load   float64 // node-seconds of work within the job's run time, per node-second of the machine
	Better bool    // nearer to the ideal load than all before
}

// forecast is what is known of jobs to come; nil when it is nothing.
func (l Load) forecast(w *World) *Forecast {
	switch {
	case l.Blind:
		return nil
	case l.Known != nil:
		return l.Known
	}
	return w.Learned
}

// Search tells of each factor that is tried: the last one that is better is the answer. Without a forecast no factor is above
// 1, unless Beyond is set: an empty machine would make a job so large that those who come next find no room.
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

// unbounded is the load of the machine over the run time of a job, at a factor of all references, whatever sizes they listed.
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

// stretched is how many times as long a job lasts on so many times its reference: by the speed-up of section 4.6 of the paper,
// which has efficiencies of .8, .65 and .4 at half, once and twice as many, and is linear in between.
func stretched(factor float64) float64 {
	if factor <= 1 {
		return .65 / (.4 + .5*(factor-.5))
	}
	return .65 / (.65 + .15*(factor-1))
}

// work is the work of the jobs that arrive within so many seconds, as far as it is done within them, in node-seconds; each gets from
// half to twice its reference.
func (f *Forecast) work(now core.Time, span, factor float64) float64 {
	return f.unbounded(now, span, max(.5, min(factor, 2)))
}

// unbounded is the same on any factor of the references.
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
