package planner

import (
	"slices"

	"accordion/core"
	"accordion/core/place"
)

// evolving does what place does, for an evolving job. It uses the job's profile that completes first.
func (p *planner) evolving(j Job, begins bool) Placed {
	begin := max(p.now, j.Begin)
	best := Placed{Job: j.ID, Why: NeverFits}
	for i, ep := range j.Profiles {
		if ep.Peak() > len(j.Hosts.children) {
			continue
		}
		instants := []core.Time{begin}
		if !begins {
			instants = p.instants(ep, begin)
		} else if begin > p.now {
			instants = nil
		}
		if begins && best.Why != "" {
			best.Why = StartsLater
		}
		for _, at := range instants {
			if best.Why == "" && at+ep.Total() >= best.End() {
				break // it cannot be better
			}
			if parts, fits := p.fits(j.Hosts, ep, at); fits {
				best = Placed{Job: j.ID, Choice: i, Start: at, Duration: ep.Total(), Resources: together(parts), parts: parts}
				break
			}
		}
	}
	return best
}

// instants returns the possible earliest starts of a profile from `begin` on. At each of them, one of the profile's steps starts exactly
// when resources become free.
func (p *planner) instants(ep core.EP, begin core.Time) []core.Time {
	all := []core.Time{begin}
	offset := core.Time(0)
	for _, step := range ep {
		for _, s := range p.cal.slots {
			if at := s.from - offset; at > begin {
				all = append(all, at)
			}
		}
		offset += step.Duration
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fits returns the hosts for a profile that starts at an instant, without taking them.
func (p *planner) fits(hosts *Tree, ep core.EP, at core.Time) (parts []Claim, fits bool) {
	for _, l := range place.Layers(at, ep) {
		c := Choice{Duration: l.To - l.From, Groups: []Group{{Tree: hosts, Counts: []int{l.Count}}}}
		p.reset(c)
		if p.throughout(l.From, c.Duration, p.cal.at(l.From), c.resources()) >= 0 {
			return nil, false
		}
		for _, other := range parts {
			if other.From < l.To && l.From < other.To {
				p.free.Drop(other.Resources)
			}
		}
		if !p.pick(c) {
			return nil, false
		}
		parts = append(parts, Claim{Resources: slices.Clone(p.taken), From: l.From, To: l.To})
	}
	return parts, len(parts) > 0
}

// together returns all resources that the parts of a place have at any time.
func together(parts []Claim) Set {
	all := make(Set, len(parts[0].Resources))
	for _, one := range parts {
		all.Join(one.Resources)
	}
	return all
}
