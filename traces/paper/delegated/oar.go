package delegated

import (
	"slices"

	"accordion/core"
	"accordion/core/delegated"
)

// oar runs a batch system like OAR. An application submits all its configurations when it arrives. Each pass
// goes through the applications in order, and gives each the configuration that completes first. There are no
// ghosts. The timer is the same as in the delegated RMS, and the same events need a pass.
type oar struct {
	setup   Setup
	hosts   []int // number of hosts of each cluster
	board   delegated.Board
	waiting []*waiting
	started []running // started applications, in the order of the jobs
	due     core.Time
	last    core.Time
	events  events
	passes  int
	chain   int
	longest int
}

type waiting struct {
	job       *Job
	index     int
	walltimes []core.Time // cluster by cluster, for rising sizes
}

type running struct {
	index, cluster, hosts int
	until                 core.Time // end by its walltime
	over                  bool
}

func (s Setup) oar(jobs []Job) Counters {
	o := oar{setup: s, hosts: s.hosts(), board: s.board(), due: core.Forever, last: -core.Forever}
	c := Counters{RMS: OAR, Clusters: s.Clusters, FairStart: s.FairStart, Timer: s.Timer, Applications: len(jobs)}
	for arrived := 0; ; {
		now := min(o.events.next(), o.due)
		if arrived < len(jobs) {
			now = min(now, jobs[arrived].Arrive)
		}
		if now >= core.Forever {
			break
		}
		for ; arrived < len(jobs) && jobs[arrived].Arrive == now; arrived++ {
			job := &jobs[arrived]
			o.arrive(job, arrived)
			all := s.Clusters * job.sizes()
			c.Unique += all
			c.BytesRequest += int64(8 * all)
			o.want(now)
		}
		for o.events.next() == now {
			e := o.events.pop()
			c.Makespan = max(c.Makespan, now)
			c.SumEnd += now
			if s.Ended != nil {
				s.Ended(e.job, now)
			}
			o.over(e.job)
			o.want(now)
		}
		if now >= o.due {
			o.pass(now)
		}
	}
	c.Passes, c.LongestChain = o.passes, o.longest
	s.count(o.board.Steps(), &c)
	return c
}

func (w *waiting) walltime(cluster, hosts int) core.Time {
	return w.walltimes[cluster*w.job.sizes()+hosts-w.job.Least]
}

func (o *oar) arrive(job *Job, index int) {
	w := &waiting{job: job, index: index}
	for cluster := range o.setup.Clusters {
		for n := job.Least; n <= job.Most; n++ {
			w.walltimes = append(w.walltimes, job.walltime(job.time(cluster, n)))
		}
	}
	o.waiting = append(o.waiting, w)
}

func (o *oar) over(job int) {
	for i := range o.started {
		if o.started[i].index == job {
			o.started[i].over = true
		}
	}
}

// want requests a pass after an event from outside.
func (o *oar) want(now core.Time) {
	o.chain = 0
	if o.due == core.Forever {
		o.due = max(now, o.last+o.setup.Timer)
	}
}

func (o *oar) pass(now core.Time) {
	o.last, o.due = now, core.Forever
	o.passes++
	o.chain++
	o.longest = max(o.longest, o.chain)
	o.started = slices.DeleteFunc(o.started, func(r running) bool { return r.over })
	o.board.Begin(now, o.hosts)
	for _, r := range o.started {
		o.board.Occupy(r.cluster, now, r.until, r.hosts)
	}
	left := o.waiting[:0]
	for _, w := range o.waiting {
		start, cluster, n := o.best(w, now)
		d := w.walltime(cluster, n)
		o.board.Occupy(cluster, start, start+d, n)
		if start > now {
			left = append(left, w)
			continue
		}
		at, _ := slices.BinarySearchFunc(o.started, w.index, func(r running, index int) int { return r.index - index })
		o.started = slices.Insert(o.started, at, running{index: w.index, cluster: cluster, hosts: n, until: now + d})
		o.events.push(event{at: now + w.job.run(w.job.time(cluster, n)), kind: done, job: w.index})
	}
	o.waiting = left
}

// best returns the configuration that completes first. If several do, it takes the one that starts first, then the one on the lowest
// cluster, then the one with the most hosts.
func (o *oar) best(w *waiting, now core.Time) (start core.Time, cluster, hosts int) {
	start, end := core.Forever, core.Forever
	for c := range o.setup.Clusters {
		for n := w.job.Most; n >= w.job.Least; n-- {
			d := w.walltime(c, n)
			at, ok := o.board.FirstFit(c, n, d, now, end-d+1)
			if ok && (at+d < end || at+d == end && at < start) {
				start, end, cluster, hosts = at, at+d, c, n
			}
		}
	}
	return start, cluster, hosts
}
