package apps

import (
	"strings"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
)

// leaving is how long before the end of a ghost a part that is still there is ended, so that its nodes are free then.
const leaving core.Time = 2

// Order is what a cluster is to do about a part now, whose batch job may last limit seconds; estimate is when the application would start.
// ok is false where it is nothing.
func (a *Application) Order(p *Part, now, limit, estimate core.Time) (o mailbox.Order, ok bool) {
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

// Unmade says whether there is nothing yet that an order could be about, of a part that its cluster makes at its start.
func (a *Application) Unmade(p *Part, want mailbox.Want) bool {
	return want == mailbox.Wait || p.Hosts == 0 && p.Drop == 0
}
