package planner

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/sched"
)

// Choice is one of the configurations of a job: what it wants, all at once, and for how long. Its groups are served one
// after the other, each with the first resources that fit. A group never releases resources that a later group needs,
// as in OAR's schedulers.
type Choice struct {
	ID       int64     // the configuration's ID, for the caller
	Duration core.Time // seconds, above 0
	Groups   []Group
}

// Job is a waiting job. Of its choices the planner takes the one that completes first; among equals the one with the
// fewest resources, then the one listed first.
type Job struct {
	ID       int64
	Submit   core.Time // when it was submitted: some policies rank by it
	Begin    core.Time // it does not start before this instant
	Deadline core.Time // it completes by this instant or is not planned; 0 if there is no deadline
	Choices  []Choice
	Pause    core.Time // seconds at the end of each choice in which it no longer runs and no other job may

	// Uncounted marks a job that has no claim on a share of the machine: other jobs end it when they need its resources
	// (besteffort).
	Uncounted bool

	// Profiles are the profiles of an evolving job, which has no Choices. Their sizes count parts of the first level of
	// Hosts. The sidecar starts such a job. PlanFew gives it its turn, so that no job behind it gets the resources that it
	// is about to get. Plan ignores it.
	Profiles []core.EP
	Hosts    *Tree

	// After lists jobs of the same plan, before it in the queue, that must have completed Gap seconds before it starts.
	After []int64
	Gap   core.Time
}

// Placed is the result of planning one job.
type Placed struct {
	Job       int64
	Choice    int // index
	Start     core.Time
	Duration  core.Time
	Resources Set
	Why       string // why no place was found, in one line; then the other fields are zero

	parts []Claim // of an evolving job: the resources that it has, and when
}

// End returns the instant at which the job's resources are free again.
func (p Placed) End() core.Time { return p.Start + p.Duration }

// Reasons why a job has no place.
const (
	NeverFits   = "the cluster has never enough resources for it, as it is now"
	TooLate     = "it would complete after its deadline"
	WaitsFor    = "it waits for a job that has no planned start"
	OutOfTime   = "the scheduler's time was over before its turn"
	AfterItself = "it waits for a job that comes after it"
	StartsLater = "it starts when there is room for all of it, and has no reservation yet"
)

// Plan places the jobs, in their order, next to what is taken in the calendar. Each job gets its earliest completion in
// what those before it leave (repeated back-filling, RR-7389, Figure 5, on resources that differ). The calendar
// contains the places afterwards. over is called before each job; when it returns true, the remaining jobs get no
// place.
func Plan(cal *Calendar, now core.Time, jobs []Job, over func() bool) []Placed {
	p := planner{search: search{cal: cal}, now: now, seen: map[string][]bound{}, ends: map[int64]core.Time{}}
	placed := make([]Placed, 0, len(jobs))
	late := false
	for _, j := range jobs {
		late = late || over != nil && over()
		if late {
			placed = append(placed, Placed{Job: j.ID, Why: OutOfTime})
			continue
		}
		one := p.place(j, false)
		p.take(one)
		placed = append(placed, one)
	}
	return placed
}

// PlanFew plans like Plan, by a policy under which few jobs have a reservation (core/sched). In the order of their
// turns, each job that fits now starts. The first due jobs that do not fit get their earliest completion, and the
// others no place. listed contains the jobs with all configurations that they listed, from which the policy computes
// when they are due. The place of an evolving job contains all resources that it has at any time.
func PlanFew(cal *Calendar, now core.Time, by sched.Patient, listed, jobs []Job, over func() bool) []Placed {
	p := planner{search: search{cal: cal}, now: now, seen: map[string][]bound{}, ends: map[int64]core.Time{}}
	placed, queue := make([]Placed, len(jobs)), make([]core.Job, len(jobs))
	for i, j := range listed {
		queue[i] = j.counted(Choice.resources)
	}
	late := false
	turns, due := by.QueueOrder(now, queue)
	left := max(by.Reservations, 1)
	for turn, i := range turns {
		late = late || over != nil && over()
		if late {
			placed[i] = Placed{Job: jobs[i].ID, Why: OutOfTime}
			continue
		}
		one := p.place(jobs[i], true)
		if one.Why == StartsLater && turn < due && left > 0 {
			if one = p.place(jobs[i], false); one.Why == "" {
				left--
			}
		}
		p.take(one)
		placed[i] = one
	}
	return placed
}

// take enters a job's place, if it has one.
func (p *planner) take(one Placed) {
	if one.Why != "" {
		return
	}
	p.ends[one.Job] = one.End()
	for _, part := range one.parts {
		p.cal.Take(part.Resources, part.From, part.To)
	}
	if one.parts == nil {
		p.cal.Take(one.Resources, one.Start, one.End())
	}
}

// planner plans jobs one after the other.
type planner struct {
	search
	now  core.Time
	seen map[string][]bound  // lower bounds of the earliest start, for each kind of request
	ends map[int64]core.Time // of the jobs with a place
}

// bound states that a request for this duration starts no earlier. It stays true because a plan only fills up.
type bound struct{ duration, start core.Time }

// place returns a job's place and does not take it: the one where it completes first. Where begins is set, only places
// that start now count.
func (p *planner) place(j Job, begins bool) Placed {
	if j.Profiles != nil {
		return p.evolving(j, begins)
	}
	begin := max(p.now, j.Begin)
	for _, before := range j.After {
		end, planned := p.ends[before]
		if !planned {
			return Placed{Job: j.ID, Why: WaitsFor}
		}
		begin = max(begin, end+j.Gap)
	}
	best := Placed{Job: j.ID, Why: NeverFits}
	for i, c := range j.Choices {
		if best.Why == "" && begin+c.Duration > best.End() {
			continue // it cannot be better
		}
		start, ok := p.start(c, begin)
		if ok && begins && start > p.now {
			ok = false
			if best.Why != "" {
				best.Why = StartsLater
			}
		}
		if !ok || best.Why == "" && !sooner(start+c.Duration, p.taken, best) {
			continue
		}
		best = Placed{Job: j.ID, Choice: i, Start: start, Duration: c.Duration, Resources: slices.Clone(p.taken)}
	}
	if best.Why == "" && j.Deadline > 0 && best.End() > j.Deadline {
		return Placed{Job: j.ID, Why: TooLate}
	}
	return best
}

func sooner(end core.Time, taken Set, best Placed) bool {
	return end < best.End() || end == best.End() && taken.Len() < best.Resources.Len()
}

// start returns the earliest start of a choice, and uses and extends what is known of requests like this one.
func (p *planner) start(c Choice, begin core.Time) (core.Time, bool) {
	kind := c.kind()
	from := begin
	for _, b := range p.seen[kind] {
		if b.duration <= c.Duration {
			from = max(from, b.start)
		}
	}
	if from == core.Forever {
		return 0, false
	}
	start, ok := p.earliest(c, from)
	if begin == p.now {
		known := bound{c.Duration, start}
		if !ok {
			known.start = core.Forever
		}
		p.learn(kind, known)
	}
	return start, ok
}

// learn adds a bound and removes those that it makes redundant.
func (p *planner) learn(kind string, b bound) {
	p.seen[kind] = append(slices.DeleteFunc(p.seen[kind], func(old bound) bool {
		return old.duration >= b.duration && old.start <= b.start
	}), b)
}

// kind returns the same string for choices that want the same resources, for whatever duration.
func (c Choice) kind() string {
	var b strings.Builder
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%p%v", g.Tree, g.Counts)
	}
	return b.String()
}
