package advise

import (
	"math"

	"accordion/core"
)

// Lines computes the sizes and times that runs would have had with the lines of a report. Only one goroutine at
// a time may use it.
type Lines struct {
	options Options
	advised map[Group]bool
	advice  map[part]*Advice
	sizes   map[Group]*Sizing
	watch   watcher
}

// Projection is a run as it would have been submitted with a line.
type Projection struct {
	Fewer   int         // number of nodes, if the run requests fewer nodes than before; otherwise 0
	Choices []core.EP   // requested profile, or sizes
	Runs    []core.Time // run time in each of Choices
	Late    bool        // the run would not have kept to the line; all other fields are empty
}

// Lines returns the lines of the report. o must be the options of the report.
func (r *Report) Lines(o Options) *Lines {
	l := &Lines{options: o, advised: map[Group]bool{}, advice: map[part]*Advice{}, sizes: map[Group]*Sizing{}}
	for i := range r.Sizes {
		l.sizes[r.Sizes[i].Group] = &r.Sizes[i]
	}
	for i := range r.Advice {
		if a := &r.Advice[i]; a.Kind != LeftAlone {
			l.advised[a.Group] = true
			l.advice[part{a.Group, a.shape}] = a
		}
	}
	return l
}

// Project returns the sizes and times that a run would have had with the line of its group. It returns false if
// there is no line for the run. A run that did not complete has no line, because the durations of its steps are
// unknown.
//
// An evolving run begins each step at the time that the line gives, even if it is ready sooner. Its last step keeps its real length. If a
// run gets another size, its run time changes in the same proportion as the run times of the job's other runs on that size.
func (l *Lines) Project(r *Run) (Projection, bool) {
	if !r.Completed || r.End <= r.Start {
		return Projection{}, false
	}
	key := r.group()
	if l.advised[key] {
		if projected, known := l.evolving(key, r); known {
			return projected, true
		}
	}
	key.Requested = 0
	if s := l.sizes[key]; s != nil {
		return s.project(r)
	}
	return Projection{}, false
}

func (l *Lines) evolving(g Group, r *Run) (Projection, bool) {
	observed := l.watch.observed(r)
	if observed == nil {
		return Projection{}, false
	}
	own := sample{run: r, ep: joinShort(observed, l.options.shortest(r.End-r.Start))}
	a := l.advice[part{g, shape(own.ep)}]
	if a == nil {
		a = l.advice[part{g, ""}]
	}
	if a == nil {
		return Projection{}, false
	}
	if a.Kind == Smaller {
		if !own.fits(a.EP) {
			return Projection{Late: true}, true
		}
		return Projection{Fewer: a.EP[0].Nodes}, true
	}
	if !own.onTime(a.EP) {
		return Projection{Late: true}, true
	}
	last := len(a.EP) - 1
	return Projection{Choices: []core.EP{a.EP}, Runs: []core.Time{a.EP[:last].Total() + own.ep[last].length()}}, true
}

// project returns a run on the sizes of the line. The run is late if it would have lasted longer than the line's time on one of the sizes.
func (s *Sizing) project(r *Run) (Projection, bool) {
	own, known := s.usualTime(r.Held)
	if !known {
		return Projection{}, false
	}
	t := Projection{Choices: s.choices, Runs: make([]core.Time, len(s.choices))}
	for i, c := range s.choices {
		there, _ := s.usualTime(c[0].Nodes)
		t.Runs[i] = max(core.Time(math.Ceil(float64(r.End-r.Start)*there/own)), 1)
		if t.Runs[i] > c[0].Duration {
			return Projection{Late: true}, true
		}
	}
	return t, true
}

// usualTime returns the usual run time on this number of nodes: the median, if there were runs. Otherwise it scales the line's time by the
// nearest size that has runs and is in the line. It returns false if neither is possible.
func (s *Sizing) usualTime(nodes int) (float64, bool) {
	said := s.lineTime(nodes)
	nearest, best := math.Inf(1), 0.0
	for _, z := range s.Sizes {
		if z.Nodes == nodes {
			return float64(z.Median), true
		}
		if away := math.Abs(float64(z.Nodes - nodes)); said > 0 && s.lineTime(z.Nodes) > 0 && away < nearest {
			nearest, best = away, float64(said)*float64(z.Median)/float64(s.lineTime(z.Nodes))
		}
	}
	return best, best > 0
}

// lineTime returns the line's time for this number of nodes, or 0 if the line does not have the size.
func (s *Sizing) lineTime(nodes int) core.Time {
	for _, c := range s.choices {
		if c[0].Nodes == nodes {
			return c[0].Duration
		}
	}
	return 0
}
