package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/sizing"
)

// SystemLoad counts what runs and what waits on a machine, as rules for sizes see it (package sizing). It is the memory of the policies
// that size jobs: what was submitted, what of it runs, and what was learned of arrivals. If it was not told of the submission of a job
// that runs, it knows only what the job holds.
//
//	all := sched.NewSystemLoad(machine, sizing.Share{}, sizing.HalfReference)
//	sizes := all.Submit(now, job)
//	world := all.World(now) // valid until the next call
//	factor := all.Sizing.Factor(world, sizes)
//	all.Begin(now, job.ID, nodes, end)
type SystemLoad struct {
	Sizing  sizing.Sizing
	floor   sizing.Floor
	machine int

	members  jobTable[*member]
	came     int               // jobs submitted so far
	queue    []*member         // those that wait and could begin, as they were submitted
	waiting  []*sizing.Sizes   // theirs
	aside    []*member         // they begin later, or exceed the machine
	running  []*member         // in no order
	changing []core.Allocation // running, or to come, of several sizes
	demand   sizing.Demand     // of queue and running
	world    sizing.World      // memory

	learns  bool // the sizing wants a forecast
	tally   sizing.Tally
	learned *sizing.Forecast
	half    core.Time // half hour at which it was learned
}

// member is a job.
type member struct {
	sizes *sizing.Sizes // nil: nobody knows what it listed
	came  int
	begin core.Time // not before
	state state

	begun     core.Time // when it began
	nodes     int       // that it holds
	end       core.Time // requested
	reference int       // what it counts in the mean
	at        int       // in running
}

// state is what a member does.
type state uint8

const (
	aside state = iota
	waits
	runs
)

// NewSystemLoad returns the load of a machine without jobs.
func NewSystemLoad(m core.Machine, s sizing.Sizing, f sizing.Floor) *SystemLoad {
	load, learns := s.(sizing.Load)
	return &SystemLoad{
		Sizing: s, floor: f, machine: m.Nodes,
		learns: learns && load.Known == nil && !load.Blind, half: -core.Forever,
	}
}

// Submit enters a waiting job. It gives its sizes; nil when none can be run. A job that begins later, or that exceeds the
// machine, wants nothing before.
func (c *SystemLoad) Submit(now core.Time, j core.Job) *sizing.Sizes {
	s := sizing.New(j, c.floor)
	c.Enter(now, j, s)
	if s != nil && c.learns {
		c.tally.Arrives(now, s)
	}
	return s
}

// Enter enters a waiting job whose sizes are known. One that begins never (core.Forever) counts in nothing, and if it begins all the
// same not then either.
func (c *SystemLoad) Enter(now core.Time, j core.Job, s *sizing.Sizes) {
	c.Leave(j.ID)
	if s == nil {
		return
	}
	m := &member{sizes: s, came: c.came, begin: j.Begin}
	c.came++
	c.members.Set(j.ID, m)
	if !c.admits(now, m) {
		c.aside = append(c.aside, m)
	}
}

// admits lets a job wait if it could begin.
func (c *SystemLoad) admits(now core.Time, m *member) bool {
	if m.begin > now || m.sizes.Steps[0].Nodes > c.machine {
		return false
	}
	i := len(c.queue)
	for i > 0 && c.queue[i-1].came > m.came {
		i--
	}
	c.queue, c.waiting = slices.Insert(c.queue, i, m), slices.Insert(c.waiting, i, m.sizes)
	m.state = waits
	c.demand.Waits(m.sizes, 1)
	return true
}

// admit lets those wait who could begin.
func (c *SystemLoad) admit(now core.Time) {
	kept := c.aside[:0]
	for _, m := range c.aside {
		if !c.admits(now, m) {
			kept = append(kept, m)
		}
	}
	clear(c.aside[len(kept):])
	c.aside = kept
}

// Nodes says that nodes came or went.
func (c *SystemLoad) Nodes(m core.Machine) {
	c.machine = m.Nodes
	for _, m := range c.queue { // some may exceed it now
		m.state = aside
		c.demand.Waits(m.sizes, -1)
	}
	c.aside, c.queue, c.waiting = append(c.aside, c.queue...), nil, nil
}

// Sizes are those of a job; nil when they are not known.
func (c *SystemLoad) Sizes(id core.JobID) *sizing.Sizes {
	if m, known := c.members.Get(id); known {
		return m.sizes
	}
	return nil
}

// Begin says that a waiting job begins on so many nodes, until its requested end.
func (c *SystemLoad) Begin(now core.Time, id core.JobID, nodes int, end core.Time) {
	if m, known := c.members.Get(id); known && m.state != runs {
		if m.begin >= core.Forever {
			c.Leave(id)
			return
		}
		c.unqueue(m)
		m.begun, m.nodes, m.end, m.reference = now, nodes, end, m.sizes.Nodes
		c.run(m)
	}
}

// run enters a running job.
func (c *SystemLoad) run(m *member) {
	m.state, m.at = runs, len(c.running)
	c.running = append(c.running, m)
	c.demand.Holds(m.nodes, m.reference, 1)
}

// Running tells of what runs already, or is to come. What was known of the job's sizes stays known.
func (c *SystemLoad) Running(now core.Time, a core.Allocation) {
	sizes := c.Sizes(a.Job)
	c.Leave(a.Job)
	if len(a.EP) != 1 || a.Start > now {
		c.changing = append(c.changing, a)
		return
	}
	m := &member{sizes: sizes, begun: a.Start, nodes: a.EP[0].Nodes, end: a.End(), reference: a.EP[0].Nodes}
	if sizes != nil {
		m.reference = sizes.Nodes
	}
	c.members.Set(a.Job, m)
	c.run(m)
}

// Allocation is what a running job holds.
func (c *SystemLoad) Allocation(id core.JobID) (core.Allocation, bool) {
	if m, known := c.members.Get(id); known && m.state == runs {
		return core.Allocation{Job: id, Start: m.begun, EP: core.EP{{Duration: m.end - m.begun, Nodes: m.nodes}}}, true
	}
	if i := slices.IndexFunc(c.changing, func(a core.Allocation) bool { return a.Job == id }); i >= 0 {
		return c.changing[i], true
	}
	return core.Allocation{}, false
}

// End takes a job out that ended, or waits no more. It learns of it how long such jobs run.
func (c *SystemLoad) End(now core.Time, id core.JobID) {
	if m, known := c.members.Get(id); c.learns && known && m.state == runs && m.sizes != nil && m.end > m.begun {
		c.tally.Ends(m.sizes, float64(m.sizes.Seconds)*float64(now-m.begun)/float64(m.end-m.begun))
	}
	c.Leave(id)
}

// Leave takes a job out, and learns nothing of it.
func (c *SystemLoad) Leave(id core.JobID) {
	m, known := c.members.Take(id)
	if !known {
		c.changing = slices.DeleteFunc(c.changing, func(a core.Allocation) bool { return a.Job == id })
		return
	}
	if m.state != runs {
		c.unqueue(m)
		return
	}
	c.demand.Holds(m.nodes, m.reference, -1)
	last := c.running[len(c.running)-1]
	c.running[m.at], last.at = last, m.at
	c.running = c.running[:len(c.running)-1]
}

// unqueue takes a job out of those that do not run.
func (c *SystemLoad) unqueue(m *member) {
	if m.state == aside {
		c.aside = slices.DeleteFunc(c.aside, func(other *member) bool { return other == m })
		return
	}
	c.demand.Waits(m.sizes, -1)
	i := slices.Index(c.queue, m)
	c.queue, c.waiting = slices.Delete(c.queue, i, i+1), slices.Delete(c.waiting, i, i+1)
}

// World is what a sizing looks at, at an instant.
func (c *SystemLoad) World(now core.Time) *sizing.World {
	if len(c.aside) > 0 {
		c.admit(now)
	}
	w := &c.world
	w.Now, w.Machine, w.Demand, w.Waiting, w.Running = now, c.machine, c.demand, c.waiting, w.Running[:0]
	for _, a := range c.changing {
		if nodes := a.EP.At(now - a.Start); nodes > 0 {
			w.Holds(nodes, nodes, 1)
			w.Running = append(w.Running, sizing.Holding{Nodes: nodes, End: a.End()})
		}
	}
	if _, load := c.Sizing.(sizing.Load); load {
		for _, m := range c.running {
			w.Running = append(w.Running, sizing.Holding{Nodes: m.nodes, End: m.end})
		}
		w.Settle()
	}
	if c.learns {
		w.Learned = c.learn(now)
	}
	return w
}

// learn is what was learned of jobs to come: anew in each half hour.
func (c *SystemLoad) learn(now core.Time) *sizing.Forecast {
	if half := now / sizing.HalfHour; half != c.half {
		c.half, c.learned = half, nil
		if s, enough := c.tally.Statistics(now); enough {
			c.learned = s.Forecast()
		}
	}
	return c.learned
}

// Clone is an independent copy.
func (c *SystemLoad) Clone() *SystemLoad {
	d := *c
	copies := map[*member]*member{}
	d.members = c.members.Map(func(m *member) *member {
		n := *m
		copies[m] = &n
		return &n
	})
	copied := func(all []*member) []*member {
		twins := make([]*member, len(all))
		for i, m := range all {
			twins[i] = copies[m]
		}
		return twins
	}
	d.queue, d.aside, d.running = copied(c.queue), copied(c.aside), copied(c.running)
	d.waiting, d.changing, d.world = slices.Clone(c.waiting), slices.Clone(c.changing), sizing.World{}
	return &d
}
