package adaptive

import (
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
	"accordion/traces/workload"
)

// approach is the name of a policy in the experiments: a policy of core/policy, or an entry of `variants`. A
// variant differs from a policy of core/policy in one parameter.
type approach string

// The approaches of the paper, in our interpretation P of it (see reading).
const (
	traditional approach = "traditional"
	scojo       approach = "scojo-p"
	blind       approach = "scojo-p:nonpredictive"
	cirne       approach = "cirne-berman"
	share       approach = "share"
	submitted   approach = "submitted" // traditional, but each job has the size with which it was submitted
	learned     approach = "learned"   // scojo-p that learns its statistics during the run
	counted     approach = "counted"   // scojo-p with the statistics of the workload that it runs on
	unbounded   approach = "unbounded" // scojo-p without bounds of the sizes in the load
)

// reading is an interpretation of the paper. Every claim is checked under both interpretations.
type reading string

// Interpretation P follows the words of the paper. Interpretation F comes nearest to the paper's figures: aged
// jobs count as short jobs, and jobs under Cirne and Berman grow only up to their reference.
const (
	printed reading = "P"
	fitted  reading = "F"
)

// of returns the policy for an approach under an interpretation of the paper.
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

// by returns the order of the paper, with this aging of jobs.
func by(aging easy.Aging) easy.Order {
	return easy.Order{By: easy.Class, Aging: aging}
}

// sized returns EASY with the order of the paper and other sizes.
func sized(s sizing.Sizing) sched.Policy {
	return easy.EASY{Sizing: s, Floor: sizing.AsListed, Order: by(easy.OneUp)}
}

// read returns scojo-p with a different interpretation of one part of the paper.
func read(change func(p *easy.EASY, l *sizing.Load)) sched.Policy {
	p, load := easy.EASY{Floor: sizing.AsListed, Order: by(easy.OneUp), Remembers: true}, sizing.Scojo()
	change(&p, &load)
	p.Sizing = load
	return p
}

// aged returns scojo-p with another aging.
func aged(aging easy.Aging) sched.Policy {
	return read(func(p *easy.EASY, _ *sizing.Load) { p.Order.Aging = aging })
}

// searching returns scojo-p with another search for the modifier.
func searching(ideal, delta float64, bad int) sched.Policy {
	return read(func(_ *easy.EASY, l *sizing.Load) { l.Ideal, l.Delta, l.Bad = ideal, delta, bad })
}

// variants are the approaches that are not in core/policy.
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

// knows returns the statistics of arrivals that an approach gets, or nil. `others` has the statistics of other workloads, and w is the workload
// on which the approach runs.
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

// policy returns the policy of an approach with these statistics of arrivals, which may be nil.
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
