package apps

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
)

// fakeCluster simulates a cluster. It carries out orders slowly, and sometimes fails to carry them out.
type fakeCluster struct {
	name     string
	hosts    int
	embedded bool
	dice     *rand.Rand
	calm     bool // no further faults are simulated
	next     core.JobID
	jobs     []*fakeJob
	orders   []mailbox.Order
	local    int // number of hosts that the cluster's own jobs hold until localEnd
	localEnd core.Time
	deaf     core.Time // the cluster shows no state before this second
}

// fakeJob is a batch job on a fakeCluster.
type fakeJob struct {
	id       core.JobID
	app      int64
	user     string
	since    core.Time
	reserved int // number of hosts that are reserved for the try `try`
	try      int
	refused  bool
	stuck    bool // the job never starts, even after it is released
	running  bool
	began    core.Time
	over     bool
	failed   bool
	ghost    bool
	process  *process
}

func (w *fakeCluster) submit(app int64, user string, now core.Time) core.JobID {
	w.next++
	w.jobs = append(w.jobs, &fakeJob{id: w.next, app: app, user: user, since: now})
	return w.next
}

func (w *fakeCluster) job(id core.JobID) *fakeJob {
	for _, b := range w.jobs {
		if b.id == id {
			return b
		}
	}
	return nil
}

func (w *fakeCluster) chance(percent int) bool { return !w.calm && w.dice.IntN(100) < percent }

func (w *fakeCluster) free(now core.Time) int {
	n := w.hosts
	if now < w.localEnd {
		n -= w.local
	}
	for _, b := range w.jobs {
		n -= b.reserved
	}
	return n
}

// of returns the job of an order. If the cluster itself makes the jobs of parts, `of` makes the job if it does not exist.
func (w *fakeCluster) of(o mailbox.Order, now core.Time) *fakeJob {
	if o.Job != 0 {
		return w.job(o.Job)
	}
	for _, b := range w.jobs {
		if b.app == o.Application && !b.over {
			return b
		}
	}
	if o.Want != mailbox.Prepare {
		return nil
	}
	return w.job(w.submit(o.Application, o.User, now))
}

func (b *fakeJob) end(failed bool) { b.running, b.over, b.failed, b.reserved = false, true, failed, 0 }

// obey simulates one second in which the cluster carries out orders.
func (w *fakeCluster) obey(now core.Time) {
	wanted := map[*fakeJob]bool{}
	for _, o := range w.orders {
		b := w.of(o, now)
		if b == nil {
			continue
		}
		wanted[b] = true
		if b.over && o.Want != mailbox.Ghost || w.chance(20) { // the cluster is slow, and carries out the order later
			continue
		}
		switch o.Want {
		case mailbox.Wait:
		case mailbox.Prepare:
			w.prepare(b, o, now)
		case mailbox.Start:
			switch {
			case b.running || b.stuck:
			case b.reserved == 0 || b.try != o.Try:
				b.try, b.refused = o.Try, true
			case w.chance(5):
				b.stuck = true
			case !w.chance(30):
				b.running, b.began = true, now
			}
		case mailbox.Drop:
			if b.running {
				b.end(true)
			}
			b.reserved, b.try, b.refused, b.stuck = 0, o.Try, false, false
		case mailbox.End:
			b.end(true)
		case mailbox.Ghost:
			b.ghost, b.reserved = true, o.Hosts
		}
	}
	for _, b := range w.jobs {
		if !wanted[b] && (!b.running || b.over) {
			b.reserved, b.ghost = 0, false
			if w.embedded {
				b.over = true
			}
		}
		if b.running && w.chance(1) && w.dice.IntN(4) == 0 {
			b.end(true) // as if a node was lost
		}
		if !b.running && !b.over && !w.embedded && w.chance(1) && w.dice.IntN(20) == 0 {
			b.end(true) // as if the job was cancelled
		}
	}
}

func (w *fakeCluster) prepare(b *fakeJob, o mailbox.Order, now core.Time) {
	if b.try == o.Try && (b.reserved == o.Hosts || b.refused) {
		return
	}
	b.reserved, b.try, b.refused = 0, o.Try, false
	if o.Hosts > w.free(now) || w.chance(10) {
		b.refused = true
		return
	}
	b.reserved = o.Hosts
}

// state returns the cluster's state.
func (w *fakeCluster) state(now core.Time) *mailbox.ClusterState {
	b := &mailbox.ClusterState{Read: now, Hosts: w.hosts, HostResources: adapter.HostResources{Cores: 8, Memory: 1000, Scratch: 500, Arch: "x86_64"}}
	state := sched.Repeated{Limit: ep.Limit(1)}.New(core.Machine{Nodes: w.hosts})
	if now < w.localEnd && w.local > 0 {
		state.Running(now, core.Allocation{Job: 1 << 30, Start: now, EP: core.EP{{Duration: w.localEnd - now, Nodes: w.local}}})
	}
	b.Local = sched.Local{State: state.(sched.Viewer)}
	for _, j := range w.jobs {
		s := adapter.Pending
		switch {
		case j.over:
			continue
		case j.running:
			s = adapter.Running
		}
		b.Jobs = append(b.Jobs, mailbox.Job{Key: adapter.Key{ID: j.id, Submitted: j.since}, ID: j.id, Application: j.app, User: j.user, State: s, Submitted: j.since})
	}
	for _, o := range w.orders {
		s := mailbox.Standing{Application: o.Application, Job: o.Job}
		j := w.of(mailbox.Order{Job: o.Job, Application: o.Application}, now)
		if j == nil {
			if s.Stand = mailbox.Over; w.embedded && o.Want != mailbox.End {
				s.Stand, s.Try = mailbox.Waiting, o.Try
			}
			b.Parts = append(b.Parts, s)
			continue
		}
		s.Try, s.Failed, s.Since = j.try, j.failed, j.began
		for i := range j.reserved {
			s.Nodes = append(s.Nodes, fmt.Sprintf("%s%d-%d", w.name, j.id, i))
		}
		switch {
		case j.ghost:
			s.Stand = mailbox.Ghosted
			if j.over {
				s.Stand = mailbox.Over
			}
		case j.over:
			s.Stand = mailbox.Over
		case j.running:
			s.Stand = mailbox.Running
		case j.refused:
			s.Stand, s.Why = mailbox.Refused, "it was refused"
		case j.reserved > 0 && o.Want == mailbox.Start:
			s.Stand = mailbox.Starting
		case j.reserved > 0:
			s.Stand = mailbox.Prepared
		}
		b.Parts = append(b.Parts, s)
	}
	return b
}

// forget removes jobs that have ended and that no order refers to.
func (w *fakeCluster) forget() {
	w.jobs = slices.DeleteFunc(w.jobs, func(b *fakeJob) bool {
		return b.over && b.reserved == 0 && !slices.ContainsFunc(w.orders, func(o mailbox.Order) bool { return o.Application == b.app })
	})
}
