package adaptive

import (
	"accordion/core/adapt"
	"accordion/core/adaptive"
	"accordion/core/policy"
	"accordion/core/queue"
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
	learned     approach = "learned"   // scojo-p that learns its statistics from the very jobs
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

// byClass is EASY in the paper's order with other sizes than the paper's.
func byClass(s adapt.Sizing) queue.Policy {
	return adaptive.EASY{Sizing: s, Floor: adapt.AsListed, Order: adaptive.Order{By: adaptive.Class}}
}

// variants are the approaches that have no name in core/policy.
var variants = map[approach]func() queue.Policy{
	submitted: func() queue.Policy { return adaptive.Traditional{Order: adaptive.Order{By: adaptive.Class}} },
	learned: func() queue.Policy {
		return adaptive.EASY{Sizing: adapt.Scojo(), Floor: adapt.AsListed, Order: adaptive.Order{By: adaptive.Class}, Remembers: true}
	},
	"least":    func() queue.Policy { return byClass(adapt.Least{}) },
	"earliest": func() queue.Policy { return byClass(adapt.Earliest{}) },
	"sizes":    func() queue.Policy { return byClass(adapt.Share{}) },
	"ageless": func() queue.Policy {
		return adaptive.EASY{Sizing: adapt.Scojo(), Floor: adapt.AsListed, Order: adaptive.Order{By: adaptive.Class, Aging: adaptive.Ageless}, Remembers: true}
	},
	"traditional ageless": func() queue.Policy {
		return adaptive.Traditional{Order: adaptive.Order{By: adaptive.Class, Aging: adaptive.Ageless}}
	},
	"forgetful":  func() queue.Policy { return byClass(adapt.Scojo()) },
	"ideal .7":   func() queue.Policy { return parameters(.7, .02, 3) },
	"ideal .8":   func() queue.Policy { return parameters(.8, .02, 3) },
	"ideal 1":    func() queue.Policy { return parameters(1, .02, 3) },
	"delta .005": func() queue.Policy { return parameters(.9, .005, 3) },
	"delta .05":  func() queue.Policy { return parameters(.9, .05, 3) },
	"bad 1":      func() queue.Policy { return parameters(.9, .02, 1) },
	"bad 10":     func() queue.Policy { return parameters(.9, .02, 10) },
}

// parameters is scojo-p with others than its own.
func parameters(ideal, delta float64, bad int) queue.Policy {
	return adaptive.EASY{Sizing: adapt.Load{Ideal: ideal, Delta: delta, Bad: bad}, Floor: adapt.AsListed, Order: adaptive.Order{By: adaptive.Class}, Remembers: true}
}

// policy is what runs for an approach that is told of arrivals.
func (a approach) policy(s *adapt.Statistics) (policy.Policy, error) {
	if make, here := variants[a]; here {
		p := policy.Policy{Name: string(a), Policy: make()}
		if a == learned {
			return p, nil
		}
		return p.Knowing(s), nil
	}
	p, err := policy.Named(string(a), queue.FirstCome)
	if err != nil {
		return policy.Policy{}, err
	}
	return p.Knowing(s), nil
}
