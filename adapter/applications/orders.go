package applications

import (
	"slices"

	"accordion/adapter/part"
	"accordion/core"
)

// order makes the orders for a cluster, and gives them where they are others than before, and once at the beginning.
func (m *Machine) order(i int) {
	all := []part.Order{} // not nil: that nothing is ordered is an order, too
	for _, a := range m.all {
		if p := a.Part(i); p != nil {
			if o, ok := a.Order(p, m.now, a.Walltime+m.margin(a), m.estimate(a)); ok && !(m.clusters[i].Embedded && a.Unmade(p, o.Want)) {
				all = append(all, o)
			}
		}
	}
	c := m.clusters[i]
	if c.board != nil {
		for _, j := range c.board.Jobs {
			if since, stray := c.strays[j.ID]; stray && m.now >= since+unclaimed {
				all = append(all, part.Order{Application: j.Application, Job: j.ID, User: j.User, Want: part.End, At: core.Forever,
					Why: "it is marked launch=, and no application names it: submit it through accordion launch"})
			}
		}
	}
	if c.orders == nil || !slices.Equal(all, c.orders) {
		c.orders = all
		m.out.Ordered = append(m.out.Ordered, Orders{Cluster: i, All: slices.Clone(all)})
	}
}
