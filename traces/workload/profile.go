package workload

import "accordion/core"

// appendStep appends a step to a profile, or lengthens the last step if the number of nodes is the same.
func appendStep(ep core.EP, s core.Step) core.EP {
	if s.Duration <= 0 {
		return ep
	}
	if last := len(ep) - 1; last >= 0 && ep[last].Nodes == s.Nodes {
		ep[last].Duration += s.Duration
		return ep
	}
	return append(ep, s)
}

// withTotal gives the profile another total duration: it cuts the profile or lengthens its last step. It changes and returns ep.
func withTotal(ep core.EP, total core.Time) core.EP {
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
