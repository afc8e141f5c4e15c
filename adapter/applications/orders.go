package applications

import (
	"slices"

	"accordion/adapter/part"
	"accordion/core"
)

// leaving is how long before the end of a ghost a part that is still there is ended, so that its nodes are free then.
const leaving core.Time = 2

// order makes the orders for a cluster, and gives them where they are others than before, and once at the beginning.
func (m *Machine) order(i int) {
	all := []part.Order{} // not nil: that nothing is ordered is an order, too
	for _, a := range m.all {
		if p := a.part(i); p != nil {
			if o, ok := m.orderOf(a, p); ok {
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

// orderOf is what a cluster is to do about a part; ok is false where it is nothing.
func (m *Machine) orderOf(a *application, p *piece) (o part.Order, ok bool) {
	c := m.clusters[p.Cluster]
	o = part.Order{
		Application: a.ID, Job: p.Job, User: a.User, Try: a.Try, Rank: a.Rank, Hosts: p.Hosts, Walltime: a.Walltime,
		Limit: a.Walltime + m.settings.BringUp + m.settings.Guard, At: core.Forever, By: a.By,
	}
	used := p.Hosts > 0
	switch {
	case p.Over && p.Ghost <= m.now || p.Lost > 0:
		return o, false
	case p.Ghost > m.now && (p.Over || m.now < p.Ghost-leaving):
		o.Want, o.Until = part.Ghost, p.Ghost
	case a.Phase == ending && (m.now >= a.EndAt || !used):
		o.Want, o.Why = part.End, a.Why
	case p.Drop > 0:
		o.Want, o.Try, o.Hosts, o.Why = part.Drop, p.Drop, p.Kept, a.Failed
	case a.Phase == running && !used:
		o.Want, o.Why = part.End, "the application started on other clusters"
	case a.Phase == running || a.Phase == ending && a.Went > 0:
		o.Want = part.Run
	case used && (a.Phase == starting || a.Phase == ending):
		o.Want = part.Start
	case used && a.Phase == preparing:
		o.Want = part.Prepare
	default:
		o.Want, o.At = part.Wait, m.estimate(a)
	}
	if c.Embedded && (o.Want == part.Wait || !used && p.Drop == 0) {
		return o, false // there is nothing before its start
	}
	return o, true
}
