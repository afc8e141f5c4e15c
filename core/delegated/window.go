package delegated

import (
	"accordion/core"
	"accordion/core/sched"
)

// holds reports whether the hosts of a window are free for d seconds from t on.
func holds(w sched.Window, t, d core.Time) bool {
	return w.From <= t && (w.To == core.Forever || t+d <= w.To)
}

// needsNames reports whether a request on a cluster depends on which hosts are free, and not only on their number.
func (r *RMS) needsNames(cluster int) bool {
	l := r.local(cluster)
	return l != nil && l.Windows != nil
}

// byName returns the first second, not before t, from which the same `hosts` hosts of a cluster are free for d seconds, or
// core.Forever. The number of such hosts can rise only where a window begins.
func (r *RMS) byName(cluster, hosts int, d, t core.Time) core.Time {
	if !r.needsNames(cluster) {
		return t
	}
	l := r.locals[cluster]
	for {
		free, next := 0, core.Forever
		for _, w := range l.windows {
			if holds(w, t, d) {
				free += w.Hosts
			} else if w.From > t {
				next = min(next, w.From)
			}
		}
		if free >= hosts {
			return t
		}
		if t = next; t == core.Forever {
			return t
		}
	}
}

// useWindows uses up windows for a request that starts now. It takes the windows that end first, and leaves the longest ones.
func (r *RMS) useWindows(cluster, hosts int, d core.Time) {
	if !r.needsNames(cluster) {
		return
	}
	l := r.locals[cluster]
	for hosts > 0 {
		best := -1
		for i, w := range l.windows {
			if w.Hosts > 0 && holds(w, r.now, d) && (best < 0 || w.To < l.windows[best].To) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := &l.windows[best]
		n := min(hosts, w.Hosts)
		w.Hosts, hosts = w.Hosts-n, hosts-n
		l.windows = append(l.windows, sched.Window{From: r.now + d, To: w.To, Hosts: n})
	}
}
