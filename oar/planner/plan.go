package planner

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/sched"
)

// Choice is one of the configurations of a job. It has the resources that the job requests at the same time, and the
// duration. Each group in turn gets the first free resources that fit. As in OAR's schedulers, a group never releases
// resources that a later group needs.
type Choice struct {
	ID       int64     // the configuration's ID, for the caller
	Duration core.Time // seconds, above 0
	Groups   []Group
}

// Job is a waiting job. The planner takes the job's choice that completes first. If several choices complete at the
// same time, it takes the one with the fewest resources, then the one that comes first in the request.
type Job struct {
	ID       int64
	Submit   core.Time // when the job was submitted; some policies rank jobs by it
	Begin    core.Time // it does not start before this instant
	Deadline core.Time // it completes by this instant or is not planned; 0 if there is no deadline
	Choices  []Choice
	Pause    core.Time // seconds after the job's end, within each choice's duration, in which no other job may use its resources

	// Uncounted marks a besteffort job. It has no claim on a share of the machine, because it is ended when other jobs need its resources.
	Uncounted bool

	// Profiles are the profiles of an evolving job, which has no Choices. The sizes in them are numbers of parts of
	// the first level of Hosts. The sidecar, not the pass, starts evolving jobs. PlanFew places evolving jobs, too, so
	// that jobs behind an evolving job do not get the resources that the evolving job is about to get. Plan ignores
	// evolving jobs.
	Profiles []core.EP
	Hosts    *Tree

	// After lists jobs that must have completed Gap seconds before this job starts. They are in the same plan, before this job in the
	// queue.
	After []int64
	Gap   core.Time
}

// Placed is the result of planning one job.
type Placed struct {
	Job       int64
	Choice    int // index in the job's Choices
	Start     core.Time
	Duration  core.Time
	Resources Set
	Why       string // why no place was found, in one line; then the other fields are zero

	parts []Claim // resources of an evolving job in each step of its profile
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

// Plan places the jobs, in their order, on resources that are free in the calendar. Each job completes as early as the jobs before it allow
// (repeated back-filling, RR-7389, Figure 5, on resources that differ). Afterwards the calendar contains the places. Plan calls `over`
// before each job; once `over` returns true, the remaining jobs get no place.
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

// PlanFew plans like Plan, but by a policy that gives few jobs a reservation (core/sched). It goes through the jobs in
// the policy's order. Each job that fits now starts now. Among the jobs that do not fit, those that are due first get
// the place where they complete earliest, and the others get no place. `listed` contains the jobs with all
// configurations that they request; the policy uses them to compute when jobs are due. The place of an evolving job
// contains all resources that the job has at any time.
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

// take marks a job's place as taken in the calendar, if the job has a place.
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

// planner plans jobs one after another.
type planner struct {
	search
	now  core.Time
	seen map[string][]bound  // lower bounds of the earliest start, for each kind of request
	ends map[int64]core.Time // ends of the jobs with a place
}

// bound says that a request with this duration cannot start before this start. That remains true, because planning only takes more
// resources.
type bound struct{ duration, start core.Time }

// place returns the place where a job completes first, without taking it. If `begins` is set, only places that start now count.
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

// start returns the earliest start of a choice. It uses the known bounds of similar requests, and adds a new one.
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

// kind returns a string that is the same for all choices that request the same resources, whatever their durations.
func (c Choice) kind() string {
	var b strings.Builder
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%p%v", g.Tree, g.Counts)
	}
	return b.String()
}
