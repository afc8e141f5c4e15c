package apps

import (
	"slices"
	"strings"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
)

// updateOrders updates the orders about an application.
func (m *Machine) updateOrders(a *application) {
	a.estimate = m.estimate(a)
	for _, p := range a.Parts {
		o, ok := a.orderOf(p, m.now, a.Walltime+m.margin(a), a.estimate)
		if !ok || m.clusters[p.Cluster].Embedded && a.unmade(p, o.Want) {
			m.setOrder(a, p.Cluster, nil)
			continue
		}
		m.setOrder(a, p.Cluster, &o)
	}
}

// setOrder sets the order about an application's part on a cluster, or removes it if o is nil.
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

// sendOrders sends the complete list of orders for a cluster: at the first call after m was created, and whenever the list has changed.
func (m *Machine) sendOrders(i int) {
	c := m.clusters[i]
	all := make([]mailbox.Order, 0, len(c.ordered)) // not nil, because an empty list of orders must also be sent
	for _, a := range c.ordered {
		all = append(all, *a.orders[i])
	}
	if c.State != nil {
		for _, j := range c.State.Jobs {
			since, orphan := c.orphans[j.ID]
			if orphan && m.now >= since+orphanGrace && !slices.ContainsFunc(all, func(o mailbox.Order) bool { return o.Job == j.ID }) { // an application may have named the job since the newest state
				all = append(all, mailbox.Order{Application: j.Application, Job: j.ID, User: j.User, Want: mailbox.End, At: core.Forever,
					Why: "it is marked launch=, and no application names it: submit it through accordion launch"})
			}
		}
	}
	if c.orders == nil || !slices.Equal(all, c.orders) {
		c.orders = all
		m.out.Ordered = append(m.out.Ordered, ClusterOrders{Cluster: i, All: slices.Clone(all)})
	}
}

// leaving is a number of seconds. If the job of a part still exists when its ghost has only that long left, the job is ended. So the
// nodes are free when the ghost ends.
const leaving core.Time = 2

// orderOf returns the order about a part. The parameter `limit` is the time limit of the part's batch job in seconds, and `estimate` is
// the estimated start. ok is false if the cluster has nothing to do for the part.
func (a *Application) orderOf(p *Part, now, limit, estimate core.Time) (o mailbox.Order, ok bool) {
	o = mailbox.Order{
		Application: a.ID, Job: p.Job, Submitted: p.Since, User: a.User, Try: a.Try, Rank: a.Rank, Hosts: p.Hosts, Walltime: a.Walltime,
		Limit: limit, At: core.Forever, By: a.By,
	}
	used := p.Hosts > 0
	switch {
	case p.Over && p.Ghost <= now || p.Lost > 0:
		return o, false
	case p.Ghost > now && (p.Over || now < p.Ghost-leaving):
		o.Want, o.Until = mailbox.Ghost, p.Ghost
	case a.Phase == Ending && (now >= a.EndAt || !used):
		o.Want, o.Why = mailbox.End, a.Why
	case p.Drop > 0:
		o.Want, o.Try, o.Hosts, o.Why = mailbox.Drop, p.Drop, p.Kept, a.Failed
	case a.Phase == Running && !used:
		o.Want, o.Why = mailbox.End, "the application started on other clusters"
	case a.Phase == Running || a.Phase == Ending && a.Went > 0:
		o.Want = mailbox.Run
	case used && (a.Phase == Starting || a.Phase == Ending):
		o.Want, o.On = mailbox.Start, strings.Join(p.Nodes, " ")
	case used && a.Phase == Preparing:
		o.Want = mailbox.Prepare
	default:
		o.Want, o.At = mailbox.Wait, estimate
	}
	return o, true
}

// unmade reports whether a part on an embedded cluster needs no order, because the cluster makes the part's job only at the start.
func (a *Application) unmade(p *Part, want mailbox.Want) bool {
	return want == mailbox.Wait || p.Hosts == 0 && p.Drop == 0
}
