package queue

import "accordion/core"

// reservation is when the head of the queue starts, by the requested times of what runs: as soon as enough nodes are free.
type reservation struct {
	made  bool
	rank  uint32    // the head's
	at    core.Time // Forever on a machine that lost nodes and will never have as many
	extra int       // nodes that are free beside the head then
	short int       // nodes that are missing right before
}

// reserve finds out when the head starts, who does not fit now. What runs is given by its ends, the soonest last.
func reserve(head *want, free int, running []held) reservation {
	nodes := int(head.nodes)
	i := len(running)
	for i > 0 && free < nodes {
		i--
		free += running[i].nodes
	}
	if free < nodes {
		return reservation{made: true, rank: head.came, at: core.Forever, short: nodes - free}
	}
	at := running[i].end
	short := nodes - free + running[i].nodes
	for i > 0 && running[i-1].end == at {
		i--
		free += running[i].nodes
	}
	return reservation{true, head.came, at, free - nodes, short}
}

// of says whether it is a job's.
func (r *reservation) of(head *want) bool { return r.made && r.rank == head.came }

// ended is told of a running job that ends before the end of its request. Whoever was to end before the head starts is counted at
// that time already. The nodes of the others are free beside the head, and can make it start sooner: when they were all
// that was missing.
func (r *reservation) ended(h held) {
	if h.end < r.at {
		return
	}
	if h.end > r.at {
		r.extra += h.nodes
	}
	r.short -= h.nodes
	r.made = r.made && r.short > 0
}

// began is told of a job that starts. It is in the head's way if it ranked before it and started at once.
func (r *reservation) began(h held) {
	if h.end < r.at {
		return
	}
	if h.end > r.at {
		r.extra -= h.nodes
	}
	r.short += h.nodes
	r.made = r.made && r.extra >= 0
}
