package apps

import "time"

// Link is what lies between two clusters or sites, or between the clusters of one site.
type Link struct {
	Between   [2]string
	Latency   time.Duration
	Bandwidth int // Mbit/s; 0: not known
}

// usual is the latency of a pair that no link names.
const usual = 50 * time.Millisecond

// Place is where a cluster is: its own name, and that of its site.
type Place struct{ Name, Site string }

// worth is how well a link's end names a place: itself rather than its site; negative: it does not.
func (p Place) worth(end string) int {
	switch end {
	case p.Name:
		return 1
	case p.Site:
		return 0
	}
	return -3
}

// Between is the link of a pair: the one that names both clusters rather than their sites.
func Between(links []Link, a, b Place) Link {
	best, found := -1, Link{Latency: usual}
	for _, l := range links {
		worth := max(a.worth(l.Between[0])+b.worth(l.Between[1]), a.worth(l.Between[1])+b.worth(l.Between[0]))
		if worth > best {
			best, found = worth, l
		}
	}
	return found
}
