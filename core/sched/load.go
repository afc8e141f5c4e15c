package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/sizing"
)

// SystemLoad counts the running and waiting jobs of a machine, for sizing rules (package sizing). It remembers which
// jobs were submitted, which of them run, and statistics of arrivals. If a running job was never submitted to it, it
// knows only which nodes the job holds.
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

	members    jobTable[*member]
	came       int               // number of jobs submitted so far
	queue      []*member         // jobs that wait and could start, in order of submission
	waiting    []*sizing.Sizes   // the sizes of the jobs in queue
	ineligible []*member         // jobs that start later or exceed the machine
	running    []*member         // in no order
	changing   []core.Allocation // allocations that run or start later and have several sizes
	demand     sizing.Demand     // sums over queue and running
	world      sizing.World      // reused memory

	learns  bool // the sizing needs a forecast
	tally   sizing.Tally
	learned *sizing.Forecast
	half    core.Time // number of the half hour in which learned was computed
}

// member is a job of the load.
type member struct {
	sizes *sizing.Sizes // nil if unknown
	came  int
	begin core.Time // earliest start
	state memberState

	begun     core.Time // when it started
	nodes     int       // nodes that it holds
	end       core.Time // requested end
	reference int       // the job's contribution to the mean reference (sizing.Demand)
	at        int       // index in running
}

// memberState is whether a member runs, waits or is ineligible.
type memberState uint8

const (
	ineligible memberState = iota
	waiting
	running
)

// NewSystemLoad returns the load of a machine without jobs.
func NewSystemLoad(m core.Machine, s sizing.Sizing, f sizing.Floor) *SystemLoad {
	load, learns := s.(sizing.Load)
	return &SystemLoad{
		Sizing: s, floor: f, machine: m.Nodes,
		learns: learns && load.Known == nil && !load.Blind, half: -core.Forever,
	}
}

// Submit adds a waiting job and returns its sizes, or nil if none of them can run. A job counts for the demand only from the time
// on at which it could start, and only if it fits the machine.
func (c *SystemLoad) Submit(now core.Time, j core.Job) *sizing.Sizes {
	s := sizing.New(j, c.floor)
	c.Enter(now, j, s)
	if s != nil && c.learns {
		c.tally.Arrives(now, s)
	}
	return s
}

// Enter adds a waiting job whose sizes are known. A job that never starts (Begin is core.Forever) never counts, even
// if it starts after all.
func (c *SystemLoad) Enter(now core.Time, j core.Job, s *sizing.Sizes) {
	c.Leave(j.ID)
	if s == nil {
		return
	}
	m := &member{sizes: s, came: c.came, begin: j.Begin}
	c.came++
	c.members.Set(j.ID, m)
	if !c.admits(now, m) {
		c.ineligible = append(c.ineligible, m)
	}
}

// admits adds a job to the queue if the job could start now. It reports whether it did.
func (c *SystemLoad) admits(now core.Time, m *member) bool {
	if m.begin > now || m.sizes.Steps[0].Nodes > c.machine {
		return false
	}
	i := len(c.queue)
	for i > 0 && c.queue[i-1].came > m.came {
		i--
	}
	c.queue, c.waiting = slices.Insert(c.queue, i, m), slices.Insert(c.waiting, i, m.sizes)
	m.state = waiting
	c.demand.Waits(m.sizes, 1)
	return true
}

// admit adds the ineligible jobs that could start now to the queue.
func (c *SystemLoad) admit(now core.Time) {
	kept := c.ineligible[:0]
	for _, m := range c.ineligible {
		if !c.admits(now, m) {
			kept = append(kept, m)
		}
	}
	clear(c.ineligible[len(kept):])
	c.ineligible = kept
}

// Nodes changes the number of nodes.
func (c *SystemLoad) Nodes(m core.Machine) {
	c.machine = m.Nodes
	for _, m := range c.queue { // some jobs may exceed the machine now
		m.state = ineligible
		c.demand.Waits(m.sizes, -1)
	}
	c.ineligible, c.queue, c.waiting = append(c.ineligible, c.queue...), nil, nil
}

// Sizes returns the sizes of a job, or nil if they are not known.
func (c *SystemLoad) Sizes(id core.JobID) *sizing.Sizes {
	if m, known := c.members.Get(id); known {
		return m.sizes
	}
	return nil
}

// Begin records that a waiting job starts on the given nodes, until its requested end.
func (c *SystemLoad) Begin(now core.Time, id core.JobID, nodes int, end core.Time) {
	if m, known := c.members.Get(id); known && m.state != running {
		if m.begin >= core.Forever {
			c.Leave(id)
			return
		}
		c.unqueue(m)
		m.begun, m.nodes, m.end, m.reference = now, nodes, end, m.sizes.Nodes
		c.run(m)
	}
}

// run adds a running job.
func (c *SystemLoad) run(m *member) {
	m.state, m.at = running, len(c.running)
	c.running = append(c.running, m)
	c.demand.Holds(m.nodes, m.reference, 1)
}

// Running adds an allocation that runs already or starts later. The sizes of a known job stay known.
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

// Allocation returns what a running job holds.
func (c *SystemLoad) Allocation(id core.JobID) (core.Allocation, bool) {
	if m, known := c.members.Get(id); known && m.state == running {
		return core.Allocation{Job: id, Start: m.begun, EP: core.EP{{Duration: m.end - m.begun, Nodes: m.nodes}}}, true
	}
	if i := slices.IndexFunc(c.changing, func(a core.Allocation) bool { return a.Job == id }); i >= 0 {
		return c.changing[i], true
	}
	return core.Allocation{}, false
}

// End removes a job that ended or no longer waits. The load learns from it how long such jobs run.
func (c *SystemLoad) End(now core.Time, id core.JobID) {
	if m, known := c.members.Get(id); c.learns && known && m.state == running && m.sizes != nil && m.end > m.begun {
		c.tally.Ends(m.sizes, float64(m.sizes.Seconds)*float64(now-m.begun)/float64(m.end-m.begun))
	}
	c.Leave(id)
}

// Leave removes a job without learning from it.
func (c *SystemLoad) Leave(id core.JobID) {
	m, known := c.members.Take(id)
	if !known {
		c.changing = slices.DeleteFunc(c.changing, func(a core.Allocation) bool { return a.Job == id })
		return
	}
	if m.state != running {
		c.unqueue(m)
		return
	}
	c.demand.Holds(m.nodes, m.reference, -1)
	last := c.running[len(c.running)-1]
	c.running[m.at], last.at = last, m.at
	c.running = c.running[:len(c.running)-1]
}

// unqueue removes a job that does not run.
func (c *SystemLoad) unqueue(m *member) {
	if m.state == ineligible {
		c.ineligible = slices.DeleteFunc(c.ineligible, func(other *member) bool { return other == m })
		return
	}
	c.demand.Waits(m.sizes, -1)
	i := slices.Index(c.queue, m)
	c.queue, c.waiting = slices.Delete(c.queue, i, i+1), slices.Delete(c.waiting, i, i+1)
}

// World returns the information on which a sizing rule decides at the given time.
func (c *SystemLoad) World(now core.Time) *sizing.World {
	if len(c.ineligible) > 0 {
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

// learn returns the forecast of future jobs. It computes it again every half hour.
func (c *SystemLoad) learn(now core.Time) *sizing.Forecast {
	if half := now / sizing.HalfHour; half != c.half {
		c.half, c.learned = half, nil
		if s, enough := c.tally.Statistics(now); enough {
			c.learned = s.Forecast()
		}
	}
	return c.learned
}

// Clone returns an independent copy.
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
	d.queue, d.ineligible, d.running = copied(c.queue), copied(c.ineligible), copied(c.running)
	d.waiting, d.changing, d.world = slices.Clone(c.waiting), slices.Clone(c.changing), sizing.World{}
	return &d
}
