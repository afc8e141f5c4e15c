package apps

import (
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
)

// sort finds the orders about an application.
func (m *Machine) sort(a *application) {
	a.estimate = m.estimate(a)
	for _, p := range a.Parts {
		o, ok := a.Order(p, m.now, a.Walltime+m.margin(a), a.estimate)
		if !ok || m.clusters[p.Cluster].Embedded && a.Unmade(p, o.Want) {
			m.setOrder(a, p.Cluster, nil)
			continue
		}
		m.setOrder(a, p.Cluster, &o)
	}
}

// setOrder keeps the order about an application's part on a cluster, nil for none.
func (m *Machine) setOrder(a *application, i int, o *mailbox.Order) {
	c := m.clusters[i]
	if a.orders == nil && o == nil {
		return
	}
	if a.orders == nil {
		a.orders = make([]*mailbox.Order, len(m.clusters))
	}
	old := a.orders[i]
	if old == nil && o == nil || old != nil && o != nil && *old == *o {
		return
	}
	a.orders[i], c.changed = o, true
	at, _ := slices.BinarySearchFunc(c.ordered, a, func(b, a *application) int { return b.Compare(&a.Application) })
	switch {
	case old == nil:
		c.ordered = slices.Insert(c.ordered, at, a)
	case o == nil:
		c.ordered = slices.Delete(c.ordered, at, at+1)
	}
}

// order makes the orders for a cluster, and gives them where they are others than before, and once at the beginning.
func (m *Machine) order(i int) {
	c := m.clusters[i]
	all := make([]mailbox.Order, 0, len(c.ordered)) // not nil: that nothing is ordered is an order, too
	for _, a := range c.ordered {
		all = append(all, *a.orders[i])
	}
	if c.State != nil {
		for _, j := range c.State.Jobs {
			since, stray := c.strays[j.ID]
			if stray && m.now >= since+unclaimed && !slices.ContainsFunc(all, func(o mailbox.Order) bool { return o.Job == j.ID }) { // an application may have named it since the newest state
				all = append(all, mailbox.Order{Application: j.Application, Job: j.ID, User: j.User, Want: mailbox.End, At: core.Forever,
					Why: "it is marked launch=, and no application names it: submit it through accordion launch"})
			}
		}
	}
	if c.orders == nil || !slices.Equal(all, c.orders) {
		c.orders = all
		m.out.Ordered = append(m.out.Ordered, Orders{Cluster: i, All: slices.Clone(all)})
	}
}
