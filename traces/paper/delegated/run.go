package delegated

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// Setup describes the system of a run.
type Setup struct {
	RMS       string // Delegated (the default) or OAR
	Clusters  int    // 1 to MaxClusters
	FairStart core.Time
	Timer     core.Time

	EarlyGhosts bool // see core/delegated.Options

	// Plain uses lists of steps, which count the basic operations. Otherwise core/profile is used, which counts its own steps.
	Plain bool

	// Told, unless nil, is called for each message of the delegated RMS. The slices of the message are read only.
	Told func(now core.Time, m delegated.Message)
	// Started, unless nil, is called for each start with the application's index. `parts` is read only.
	Started func(job int, parts []moldable.Part)
	// Ended, unless nil, is called for each end with the application's index.
	Ended func(job int, now core.Time)
}

func (s Setup) board() delegated.Board {
	if s.Plain {
		return &delegated.Linear{}
	}
	return &delegated.Indexed{}
}

// count adds the steps of a run's board.
func (s Setup) count(steps int64, c *Counters) {
	if s.Plain {
		c.OperationsRMS = steps
	} else {
		c.OperationsIndexed = steps
	}
}

func (s Setup) hosts() []int { return slices.Repeat([]int{Hosts}, s.Clusters) }

func (s Setup) check(jobs []Job) error {
	switch {
	case s.RMS != "" && s.RMS != Delegated && s.RMS != OAR:
		return fmt.Errorf("there is no RMS %q: it is %s or %s", s.RMS, Delegated, OAR)
	case s.Clusters < 1 || s.Clusters > MaxClusters:
		return fmt.Errorf("%d clusters: there are 1 to %d", s.Clusters, MaxClusters)
	case s.FairStart < 0 || s.FairStart > core.MaxTotal:
		return fmt.Errorf("a fair-start delay of %d s: it is 0 to %d s", s.FairStart, core.MaxTotal)
	case s.Timer < 0 || s.Timer > core.MaxTotal:
		return fmt.Errorf("a timer of %d s: it is 0 to %d s", s.Timer, core.MaxTotal)
	case s.RMS == OAR && slices.ContainsFunc(jobs, func(j Job) bool { return j.Kind == CEM }):
		return fmt.Errorf("%s is told all configurations, and those of a cem application are too many to tell: use %s", OAR, Delegated)
	}
	return nil
}

// Run runs the jobs, in their order, until the last one ends. The result depends only on the jobs and the setup.
func (s Setup) Run(jobs []Job) (Counters, error) {
	if err := s.check(jobs); err != nil {
		return Counters{}, err
	}
	if s.RMS == OAR {
		return s.oar(jobs), nil
	}
	r := run{setup: s, jobs: jobs}
	r.rms = delegated.New(s.hosts(), delegated.Options{FairStart: s.FairStart, Timer: s.Timer, EarlyGhosts: s.EarlyGhosts}, s.board())
	r.launchers = make([]*launcher, len(jobs))
	if err := r.all(); err != nil {
		return Counters{}, err
	}
	return r.sum(), nil
}

// run is a run of the delegated RMS.
type run struct {
	setup     Setup
	jobs      []Job
	rms       *delegated.RMS
	launchers []*launcher // of the jobs that have arrived
	events    events
	arrived   int
	counters  Counters
}

// all advances from second to second until no event is left.
func (r *run) all() error {
	for {
		now := min(r.events.next(), r.rms.Next())
		if r.arrived < len(r.jobs) {
			now = min(now, r.jobs[r.arrived].Arrive)
		}
		if now >= core.Forever {
			return nil
		}
		for r.arrived < len(r.jobs) && r.jobs[r.arrived].Arrive == now {
			if err := r.arrive(now); err != nil {
				return err
			}
		}
		for r.events.next() == now {
			if err := r.happen(now, r.events.pop()); err != nil {
				return err
			}
		}
		messages, err := r.rms.Wake(now)
		if err != nil {
			return err
		}
		r.differ(messages)
		if err := r.hear(now, messages); err != nil {
			return err
		}
	}
}

func (r *run) arrive(now core.Time) error {
	i := r.arrived
	r.arrived++
	r.launchers[i] = newLauncher(&r.jobs[i], r.setup.Clusters)
	messages, err := r.rms.Subscribe(now, core.JobID(i))
	if err != nil {
		return err
	}
	return r.hear(now, messages)
}

func (r *run) happen(now core.Time, e event) error {
	if e.kind == answered {
		return r.send(now, e.job, e.request)
	}
	r.counters.Makespan = max(r.counters.Makespan, now)
	r.counters.SumEnd += now
	if r.setup.Ended != nil {
		r.setup.Ended(e.job, now)
	}
	return r.rms.Done(now, core.JobID(e.job))
}

// hear passes messages to the launchers. Launchers answer only after all messages of the second have been passed.
func (r *run) hear(now core.Time, messages []delegated.Message) error {
	for _, m := range messages {
		if r.setup.Told != nil {
			r.setup.Told(now, m)
		}
		l := r.launchers[m.To]
		switch m.Kind {
		case delegated.View:
			r.count(m)
			l.see(m.Changes)
		case delegated.Start:
			l.ran = append(l.ran, m.Request.Parts...)
			if r.setup.Started != nil {
				r.setup.Started(int(m.To), l.ran)
			}
			r.events.push(event{at: now + l.run(l.ran), kind: done, job: int(m.To)})
		}
	}
	for _, m := range messages {
		if m.Kind == delegated.View && len(r.launchers[m.To].ran) == 0 {
			if err := r.answer(now, int(m.To)); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts a message about a view.
func (r *run) count(m delegated.Message) {
	r.counters.Changes++
	for _, c := range m.Changes {
		r.counters.BytesChange += whole(c)
	}
}

// whole returns the bytes of a cluster's whole view: one, and eight for each step that has an end.
func whole(c delegated.Change) int64 { return int64(1 + 8*(len(c.Points)-1)) }

// differ counts the bytes that the messages of a pass would have with only the differences. Each cluster then
// takes eight additional bytes, but only its new steps are in the message.
func (r *run) differ(messages []delegated.Message) {
	for _, m := range messages {
		for _, c := range m.Changes {
			r.counters.BytesDifference += min(whole(c), int64(9+8*(len(c.Points)-c.Head-c.Tail)))
		}
	}
}

// answer makes a launcher answer its view, immediately or after the job's delay.
func (r *run) answer(now core.Time, job int) error {
	l := r.launchers[job]
	found, err := l.find(now)
	if err != nil {
		return fmt.Errorf("application %d: %w", job, err)
	}
	r.counters.OperationsApplications += int64(found.Steps)
	if !found.OK {
		return nil
	}
	if l.job.Delay == 0 {
		return r.send(now, job, found.Request)
	}
	found.Parts = slices.Clone(found.Parts)
	r.events.push(event{at: now + l.job.Delay, kind: answered, job: job, request: found.Request})
	return nil
}

// send sends a request if it differs from the last one.
func (r *run) send(now core.Time, job int, q moldable.Request) error {
	l := r.launchers[job]
	if len(l.ran) > 0 || l.last.Walltime == q.Walltime && slices.Equal(l.last.Parts, q.Parts) {
		return nil
	}
	l.last.Walltime, l.last.Parts = q.Walltime, append(l.last.Parts[:0], q.Parts...)
	r.counters.Requests++
	r.counters.BytesRequest += int64(4 + 5*len(q.Parts))
	return r.rms.Request(now, core.JobID(job), q)
}

// sum returns the results of the run.
func (r *run) sum() Counters {
	c, done := r.counters, r.rms.Counts()
	c.RMS, c.Clusters, c.FairStart, c.Timer, c.Applications = Delegated, r.setup.Clusters, r.setup.FairStart, r.setup.Timer, len(r.jobs)
	c.Passes, c.LongestChain, c.Waste = done.Passes, done.Longest, done.Waste
	r.setup.count(r.rms.Steps(), &c)
	together := map[[MaxClusters]int]bool{}
	for _, l := range r.launchers {
		c.Unique += l.computed
		if l.complex == nil {
			continue
		}
		for offered := range l.complex.Asked {
			c.Unique++
			c.UniqueCEM++
			key := [MaxClusters]int{}
			copy(key[:], offered)
			together[key] = true
		}
		for _, p := range l.ran {
			c.CEMHosts += p.Hosts
		}
	}
	c.UniqueCEMAll = len(together)
	return c
}
