package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sizing"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/planner"
	"accordion/oar/tables"
)

// Pass is one call of the scheduler.
type Pass struct {
	Queue    string
	Now      core.Time     // the second that OAR passes, which may be ahead of the clock
	Patience time.Duration // time limit of the pass; when it has passed, the plan so far is written

	Statistics func(path string) (sizing.File, error) // reads the file that oar.conf names
}

// Report describes what a pass has done.
type Report struct {
	Queue   string
	Planned int // jobs that have a place in OAR's plan now
	Now     int // the jobs among them that start now
	Waiting int // jobs without a place: refused, too large, left to the sidecar, or not planned in time
	Took    time.Duration

	// Launches are the jobs that start now. The scheduler prints a line for each. Rest is how long it must wait
	// afterwards.
	Launches []Launch
	Rest     time.Duration

	Forgot error // why the budgets of users' SQL were not stored for the next pass; nil if they were
}

func (r Report) String() string {
	text := fmt.Sprintf("queue %s: %d planned, %d of them now; %d without a place; %.2f s", r.Queue, r.Planned, r.Now, r.Waiting, r.Took.Seconds())
	if r.Forgot != nil {
		text += "; for how long users' texts were asked is not kept: " + database.OneLine(r.Forgot)
	}
	return text
}

// Fractions of a pass's Patience. After them, the pass evaluates no further SQL of users, plans no further jobs, and
// writes no further rows, respectively. The remaining time is for the commit.
const (
	askingPart   = 0.25
	planningPart = 0.5
	writingPart  = 0.8
)

// ErrInvalidPlan means that a plan failed the check. Nothing was written.
var ErrInvalidPlan = errors.New("the plan is not valid, and nothing was written")

// ErrOverrun means that OAR no longer waits for the pass. Nothing was written.
var ErrOverrun = errors.New("OAR no longer waits for this pass: nothing was written")

// Schedule does one pass over a queue: it reads, plans, checks and writes. If it returns an error, nothing was written.
func Schedule(ctx context.Context, conf conf.Conf, pass Pass) (Report, error) {
	begin := time.Now()
	report := Report{Queue: pass.Queue}
	ctx, cancel := context.WithTimeout(ctx, pass.Patience)
	defer cancel()
	planner, err := Planner(conf.Policy, pass.Statistics)
	if err != nil {
		return report, fmt.Errorf("queue %s: nothing is planned, and jobs keep waiting: %w", pass.Queue, err)
	}
	opened, err := database.Open(conf)
	if err != nil {
		return report, err
	}
	defer opened.Close()
	db := store{tables.Tables{DB: opened}}
	s, err := db.read(ctx, pass.Queue, pass.Now)
	if err != nil {
		return report, err
	}
	if err := db.readSidecar(ctx, s, planner); err != nil {
		return report, fmt.Errorf("reading the sidecar's lease: %w", err)
	}
	part := func(p float64) time.Time { return begin.Add(time.Duration(p * float64(pass.Patience))) }
	over := func(p float64) func() bool { return func() bool { return time.Now().After(part(p)) } }
	eligible := newEligibility(db.eligible, pass.Patience/10, over(askingPart))
	eligible.now = pass.Now
	if eligible.budget, err = db.remembered(ctx); err != nil {
		return report, err
	}
	before := eligible.budget.lasting(pass.Now)
	t := translator{conf: conf, planner: planner, now: pass.Now, state: s, eligible: eligible}
	p, err := t.translate(ctx)
	if err != nil {
		return report, err
	}
	report.Forgot = db.remember(ctx, before, eligible.budget.lasting(pass.Now))
	plan := p.plan(pass.Now, over(planningPart))
	if err := p.check(pass.Now, plan); err != nil {
		return report, fmt.Errorf("queue %s: %w: %w", pass.Queue, ErrInvalidPlan, err)
	}
	o := decided(s, p, plan)
	written, err := db.write(ctx, pass.Now, o, part(writingPart))
	if err != nil {
		return report, err
	}
	report.Now = len(o.released)
	for _, one := range o.starts[:written] {
		if one.at <= pass.Now {
			report.Now++
		}
	}
	report.Planned = len(o.released) + written
	report.Waiting = len(s.waiting) - len(s.orders.Holders()) - report.Planned
	report.Took = time.Since(begin)
	if conf.EarlyLaunch {
		launches, at, err := db.early(ctx, pass.Now, slices.Concat(o.released, o.starts[:written]))
		if err == nil { // after an error, OAR launches the jobs after the pass
			report.Launches, report.Rest = launches, waitAfter(pass.Now, at)
		}
	}
	return report, nil
}

// store is what a pass reads and writes.
type store struct{ tables.Tables }

// plan plans numbers of hosts if hosts are alike, and individual resources otherwise. It plans jobs in the order of their IDs, or in the
// policy's order if the policy gives few jobs a reservation. Jobs get the sizes that the policy allows.
//
// plan keeps nodes for the sidecar's jobs, but returns no places for them. If the sidecar did not start a job that it could have started,
// plan removes the job and plans again.
func (p *problem) plan(now core.Time, over func() bool) []planner.Placed {
	listed := p.jobs
	for {
		p.jobs = listed
		plan, missed := p.withoutTurns(now, p.planAll(now, over))
		if len(missed) == 0 {
			return plan
		}
		p.turns = slices.DeleteFunc(p.turns, func(j planner.Job) bool { return missed[j.ID] })
	}
}

// planAll plans all jobs, including those of the sidecar for which nodes are kept.
func (p *problem) planAll(now core.Time, over func() bool) []planner.Placed {
	closed, listed := p.closed(), p.queue()
	if plan, ok := planner.PlanAlike(p.rule, p.usable, now, closed, listed); ok {
		return plan
	}
	jobs := p.rule.Capped(p.usable, now, closed, listed)
	p.jobs = slices.DeleteFunc(slices.Clone(jobs), func(j planner.Job) bool { return j.Profiles != nil })
	cal := planner.NewCalendar(p.usable)
	for _, c := range closed {
		cal.Take(c.Resources, c.From, c.To)
	}
	if few, is := policy.Patient(p.rule.Policy); is {
		return planner.PlanFew(cal, now, few, listed, jobs, over)
	}
	return planner.Plan(cal, now, jobs, over)
}

// check checks that released jobs do not conflict with OAR's plan. It checks that the other jobs do not conflict with
// OAR's plan, with released jobs, or with reservations. (A released job is inside a reservation.)
func (p *problem) check(now core.Time, plan []planner.Placed) error {
	if err := planner.Check(p.usable, now, p.claims, p.fixed.jobs, p.fixed.plan); err != nil {
		return err
	}
	return planner.Check(p.usable, now, p.closed(), p.jobs, plan)
}
