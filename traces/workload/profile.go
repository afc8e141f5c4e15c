package workload

import "accordion/core"

// then adds a step to a profile, joined to the last where the number of nodes stays.
func then(ep core.EP, s core.Step) core.EP {
	if s.Duration <= 0 {
		return ep
	}
	if last := len(ep) - 1; last >= 0 && ep[last].Nodes == s.Nodes {
		ep[last].Duration += s.Duration
		return ep
	}
	return append(ep, s)
}

// lasting is the profile with another total: cut there, or with its last step going on. It changes and returns ep.
func lasting(ep core.EP, total core.Time) core.EP {
	left := total
	for i := range ep {
		if last := i == len(ep)-1; last || ep[i].Duration >= left {
			ep[i].Duration = left
			return ep[:i+1]
		}
		left -= ep[i].Duration
	}
	return ep
}
