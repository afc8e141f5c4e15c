package advise

import (
	"math"

	"accordion/core"
)

// Lines knows of each run with which line of a report it would have been submitted, and how it would have gone. It is not for several
// goroutines.
type Lines struct {
	options Options
	advised map[Group]bool
	advice  map[part]*Advice
	sizes   map[Group]*Sizing
	watch   watcher
}

// Told is a run as it would have been submitted with a line.
type Told struct {
	Fewer   int         // it asks for so many nodes, for as long as before; 0: it does not
	Choices []core.EP   // that it tells: one profile, or several sizes
	Runs    []core.Time // beside Choices: how long it would have run
	Late    bool        // with the line it would not have kept to it: all else is empty
}

// Lines are the lines of the report, made with these options.
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

// Of says how a run would have gone with the line of its group; false where there is none for it. A run that did not complete has none: what
// its steps would have taken is not known.
//
// An evolving run begins each of its steps when the line says so, though it may be ready sooner; the last is as long as it was. One on another size
// is as much slower or faster as the runs of its job were there.
func (l *Lines) Of(r *Run) (Told, bool) {
	if !r.Completed || r.End <= r.Start {
		return Told{}, false
	}
	key := r.group()
	if l.advised[key] {
		if told, known := l.evolving(key, r); known {
			return told, true
		}
	}
	key.Requested = 0
	if s := l.sizes[key]; s != nil {
		return s.told(r)
	}
	return Told{}, false
}

func (l *Lines) evolving(g Group, r *Run) (Told, bool) {
	observed := l.watch.observed(r)
	if observed == nil {
		return Told{}, false
	}
	own := seen{run: r, ep: joined(observed, l.options.shortest(r.End-r.Start))}
	a := l.advice[part{g, shape(own.ep)}]
	if a == nil {
		a = l.advice[part{g, ""}]
	}
	if a == nil {
		return Told{}, false
	}
	if a.Kind == Smaller {
		if !own.fits(a.EP) {
			return Told{Late: true}, true
		}
		return Told{Fewer: a.EP[0].Nodes}, true
	}
	if !own.onTime(a.EP) {
		return Told{Late: true}, true
	}
	last := len(a.EP) - 1
	return Told{Choices: []core.EP{a.EP}, Runs: []core.Time{a.EP[:last].Total() + own.ep[last].length()}}, true
}

// told is a run on the sizes of the line. It is late where on one of them it would have lasted longer than the line says.
func (s *Sizing) told(r *Run) (Told, bool) {
	own, known := s.likely(r.Held)
	if !known {
		return Told{}, false
	}
	t := Told{Choices: s.choices, Runs: make([]core.Time, len(s.choices))}
	for i, c := range s.choices {
		there, _ := s.likely(c[0].Nodes)
		t.Runs[i] = max(core.Time(math.Ceil(float64(r.End-r.Start)*there/own)), 1)
		if t.Runs[i] > c[0].Duration {
			return Told{Late: true}, true
		}
	}
	return t, true
}

// likely is how long the job usually takes on so many nodes: what was seen; between that what the line says, by the nearest size seen
// that the line has, too. False where neither is known.
func (s *Sizing) likely(nodes int) (float64, bool) {
	said := s.said(nodes)
	nearest, best := math.Inf(1), 0.0
	for _, z := range s.Sizes {
		if z.Nodes == nodes {
			return float64(z.Median), true
		}
		if away := math.Abs(float64(z.Nodes - nodes)); said > 0 && s.said(z.Nodes) > 0 && away < nearest {
			nearest, best = away, float64(said)*float64(z.Median)/float64(s.said(z.Nodes))
		}
	}
	return best, best > 0
}

// said is how long the job runs on so many nodes at most, by its line; 0: the line does not have the size.
func (s *Sizing) said(nodes int) core.Time {
	for _, c := range s.choices {
		if c[0].Nodes == nodes {
			return c[0].Duration
		}
	}
	return 0
}
