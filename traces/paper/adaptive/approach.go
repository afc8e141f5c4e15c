package adaptive

import (
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
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
func by(aging easy.Aging) easy.Order {
	return easy.Order{By: easy.Class, Aging: aging}
}

// sized is EASY in the paper's order with other sizes than the paper's.
func sized(s sizing.Sizing) sched.Policy {
	return easy.EASY{Sizing: s, Floor: sizing.AsListed, Order: by(easy.OneUp)}
}

// read is scojo-p with something read in another way.
func read(change func(p *easy.EASY, l *sizing.Load)) sched.Policy {
	p, load := easy.EASY{Floor: sizing.AsListed, Order: by(easy.OneUp), Remembers: true}, sizing.Scojo()
	change(&p, &load)
	p.Sizing = load
	return p
}

// aged is scojo-p with another aging.
func aged(aging easy.Aging) sched.Policy {
	return read(func(p *easy.EASY, _ *sizing.Load) { p.Order.Aging = aging })
}

// searching is scojo-p with another search for the modifier.
func searching(ideal, delta float64, bad int) sched.Policy {
	return read(func(_ *easy.EASY, l *sizing.Load) { l.Ideal, l.Delta, l.Bad = ideal, delta, bad })
}

// variants are the approaches that have no name in core/policy.
var variants = map[approach]sched.Policy{
	submitted:  easy.Traditional{Order: by(easy.OneUp)},
	"least":    sized(sizing.Least{}),
	"earliest": sized(sizing.Earliest{}),
	"sizes":    sized(sizing.Share{}),

	"traditional:again":    easy.Traditional{Order: by(easy.Again)},
	"traditional:ageless":  easy.Traditional{Order: by(easy.Ageless)},
	"cirne-berman:again":   easy.CirneBerman{Order: by(easy.Again)},
	"cirne-berman:ageless": easy.CirneBerman{Order: by(easy.Ageless)},
	"scojo-p:again":        aged(easy.Again),
	"scojo-p:ageless":      aged(easy.Ageless),
	"rounded down":         read(func(p *easy.EASY, _ *sizing.Load) { p.Rounding = sizing.Down }),
	"rounded up":           read(func(p *easy.EASY, _ *sizing.Load) { p.Rounding = sizing.Up }),
	"ideal .7":             searching(.7, .02, 3),
	"ideal .8":             searching(.8, .02, 3),
	"ideal 1":              searching(1, .02, 3),
	"delta .005":           searching(.9, .005, 3),
	"delta .05":            searching(.9, .05, 3),
	"bad 1":                searching(.9, .02, 1),
	"bad 10":               searching(.9, .02, 10),
	"forgetful":            read(func(p *easy.EASY, _ *sizing.Load) { p.Remembers = false }),
	"own modifiers":        read(func(_ *easy.EASY, l *sizing.Load) { l.Reading.Own = true }),
	unbounded:              read(func(_ *easy.EASY, l *sizing.Load) { l.Reading.Unbounded = true }),
	counted:                aged(easy.OneUp),
	learned:                aged(easy.OneUp),
}

// knows are the statistics of arrivals that an approach is told, of those of other workloads and the one that it runs on: nil,
// if none.
func (a approach) knows(others *sizing.Statistics, w *workload.Workload) (*sizing.Statistics, error) {
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
func (a approach) policy(s *sizing.Statistics) (policy.Policy, error) {
	p := policy.Policy{Name: string(a), Policy: variants[a]}
	if p.Policy == nil {
		var err error
		if p, err = policy.Named(string(a), sched.FirstCome); err != nil {
			return policy.Policy{}, err
		}
	}
	if s == nil {
		return p, nil
	}
	return p.Knowing(s), nil
}
