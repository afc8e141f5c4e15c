package adaptive

import (
	"accordion/core/adapt"
	"accordion/core/adaptive"
	"accordion/core/policy"
	"accordion/core/queue"
	"accordion/traces/workload"
)

// approach is a policy of the experiments by its name: one of core/policy's, or one of those below, which differ from these in
// a parameter.
type approach string

// The approaches of the paper, as it says (reading P).
const (
	traditional approach = "traditional"
	scojo       approach = "scojo-p"
	blind       approach = "scojo-p:nonpredictive"
	cirne       approach = "cirne-berman"
	share       approach = "share"
	submitted   approach = "submitted" // traditional, each job at the size with which it was submitted
	learned     approach = "learned"   // scojo-p that learns its statistics on the way
	counted     approach = "counted"   // scojo-p with the statistics of the workload that it runs on
	unbounded   approach = "unbounded" // scojo-p without bounds in the load
)

// reading is one of the two under which every claim is looked at.
type reading string

// The readings: the paper's words, and what comes nearest to the printed figures, which is that aged jobs become short ones, and
// that Cirne and Berman's jobs grow to their reference only.
const (
	printed reading = "P"
	fitted  reading = "F"
)

// of is an approach under a reading.
func (r reading) of(a approach) approach {
	switch {
	case r == printed:
		return a
	case a == cirne:
		return a + ":opt:top"
	case a == traditional || a == scojo || a == blind:
		return a + ":top"
	}
	return a
}

// by is the order of the paper, under a reading of how jobs age.
func by(aging adaptive.Aging) adaptive.Order {
	return adaptive.Order{By: adaptive.Class, Aging: aging}
}

// sized is EASY in the paper's order with other sizes than the paper's.
func sized(s adapt.Sizing) queue.Policy {
	return adaptive.EASY{Sizing: s, Floor: adapt.AsListed, Order: by(adaptive.OneUp)}
}

// read is scojo-p with something read in another way.
func read(change func(p *adaptive.EASY, l *adapt.Load)) queue.Policy {
	p, load := adaptive.EASY{Floor: adapt.AsListed, Order: by(adaptive.OneUp), Remembers: true}, adapt.Scojo()
	change(&p, &load)
	p.Sizing = load
	return p
}

// aged is scojo-p with another aging.
func aged(aging adaptive.Aging) queue.Policy {
	return read(func(p *adaptive.EASY, _ *adapt.Load) { p.Order.Aging = aging })
}

// searching is scojo-p with another search for the modifier.
func searching(ideal, delta float64, bad int) queue.Policy {
	return read(func(_ *adaptive.EASY, l *adapt.Load) { l.Ideal, l.Delta, l.Bad = ideal, delta, bad })
}

// variants are the approaches that have no name in core/policy.
var variants = map[approach]queue.Policy{
	submitted:  adaptive.Traditional{Order: by(adaptive.OneUp)},
	"least":    sized(adapt.Least{}),
	"earliest": sized(adapt.Earliest{}),
	"sizes":    sized(adapt.Share{}),

	"traditional:again":    adaptive.Traditional{Order: by(adaptive.Again)},
	"traditional:ageless":  adaptive.Traditional{Order: by(adaptive.Ageless)},
	"cirne-berman:again":   adaptive.CirneBerman{Order: by(adaptive.Again)},
	"cirne-berman:ageless": adaptive.CirneBerman{Order: by(adaptive.Ageless)},
	"scojo-p:again":        aged(adaptive.Again),
	"scojo-p:ageless":      aged(adaptive.Ageless),
	"rounded down":         read(func(p *adaptive.EASY, _ *adapt.Load) { p.Rounding = adapt.Down }),
	"rounded up":           read(func(p *adaptive.EASY, _ *adapt.Load) { p.Rounding = adapt.Up }),
	"ideal .7":             searching(.7, .02, 3),
	"ideal .8":             searching(.8, .02, 3),
	"ideal 1":              searching(1, .02, 3),
	"delta .005":           searching(.9, .005, 3),
	"delta .05":            searching(.9, .05, 3),
	"bad 1":                searching(.9, .02, 1),
	"bad 10":               searching(.9, .02, 10),
	"forgetful":            read(func(p *adaptive.EASY, _ *adapt.Load) { p.Remembers = false }),
	"own modifiers":        read(func(_ *adaptive.EASY, l *adapt.Load) { l.Reading.Own = true }),
	unbounded:              read(func(_ *adaptive.EASY, l *adapt.Load) { l.Reading.Unbounded = true }),
	counted:                aged(adaptive.OneUp),
	learned:                aged(adaptive.OneUp),
}

// knows are the statistics of arrivals that an approach is told, of those of other workloads and the one that it runs on: nil,
// if none.
func (a approach) knows(others *adapt.Statistics, w *workload.Workload) (*adapt.Statistics, error) {
	switch a {
	case learned:
		return nil, nil
	case counted:
		file, err := w.Arrivals(0)
		return &file.Statistics, err
	}
	return others, nil
}

// policy is what runs for an approach that is told of arrivals; of none, where they are nil.
func (a approach) policy(s *adapt.Statistics) (policy.Policy, error) {
	p := policy.Policy{Name: string(a), Policy: variants[a]}
	if p.Policy == nil {
		var err error
		if p, err = policy.Named(string(a), queue.FirstCome); err != nil {
			return policy.Policy{}, err
		}
	}
	if s == nil {
		return p, nil
	}
	return p.Knowing(s), nil
}
