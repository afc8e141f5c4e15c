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

// linkBetween returns the link between two clusters. A link that names clusters wins over one that names their sites.
func linkBetween(links []Link, a, b Cluster) Link {
	best, found := -1, Link{Latency: usual}
	for _, l := range links {
		rank := max(a.rankOf(l.Between[0])+b.rankOf(l.Between[1]), a.rankOf(l.Between[1])+b.rankOf(l.Between[0]))
		if rank > best {
			best, found = rank, l
		}
	}
	return found
}

// rankOf returns 1 if a link's end names the cluster, 0 if it names its site, and a negative number if neither.
func (c Cluster) rankOf(end string) int {
	switch end {
	case c.Name:
		return 1
	case c.Site:
		return 0
	}
	return -3
}
