package planner

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/sched"
)

// Choice is one of the configurations of a job: what it wants, all at once, and for how long. Its groups are served one
// after the other, each with the first resources that fit, and none gives up what another needs (as OAR's schedulers do).
type Choice struct {
	ID       int64     // the configuration's, for the caller
	Duration core.Time // seconds, above 0
	Groups   []Group
}

// Job is a job that waits. Of its choices the one is taken that completes first; of equals the one with the fewest
// resources, then the one named first.
type Job struct {
	ID       int64
	Submit   core.Time // when it was submitted: some policies rank by it
	Begin    core.Time // not before this instant
	Deadline core.Time // completed by this instant, or not planned; 0: no such wish
	Choices  []Choice
	Pause    core.Time // seconds of each choice in which it runs no more, and nobody else may

	// Uncounted: it wants no part of the machine from others, which end it where they want its resources (besteffort).
	Uncounted bool

	// Profiles are the profiles of an evolving job, which has no Choices. Their sizes count parts of the first level of Hosts. The sidecar
	// starts such a job. PlanFew gives it its turn, so that no job behind it gets what it is about to get. Plan does not know it.
	Profiles []core.EP
	Hosts    *Tree

	// After are jobs of the same plan, before it in the queue, which must have completed Gap seconds before it begins.
	After []int64
	Gap   core.Time
}

// Placed is what became of a job.
type Placed struct {
	Job       int64
	Choice    int // index
	Start     core.Time
	Duration  core.Time
	Resources Set
	Why       string // no place was found: the reason, in one line; the rest is zero

	parts []Claim // of a job that evolves: what it has when
}

// End is the instant at which the job's resources are free again.
func (p Placed) End() core.Time { return p.Start + p.Duration }

// What is said of jobs without a place.
const (
	NeverFits   = "the cluster has never enough resources for it, as it is now"
	TooLate     = "it would complete after its deadline"
	WaitsFor    = "it waits for a job that has no planned start"
	OutOfTime   = "the scheduler's time was over before its turn"
	AfterItself = "it waits for a job that comes after it"
	StartsLater = "it starts when there is room for all of it, and has no reservation yet"
)

// Plan gives the jobs their places beside what the calendar says is taken, in their order: each gets its earliest
// completion in what those before it leave (repeated back-filling, RR-7389, Figure 5, on resources that differ). The
// calendar holds them afterwards. over is asked before each job; when it says true, the rest of them get no place.
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

// PlanFew is Plan by a policy under which a few jobs have a reservation (core/sched): in the order in which their turns come, a job
// starts that fits now; the first that are due and do not fit get their earliest completion, and the others no place. listed is the jobs as they
// were listed, by which it goes when they are due. Of a job that evolves the place has all resources that it has at some time.
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
	seen map[string][]bound  // of each kind of request: what is known of its earliest start
	ends map[int64]core.Time // of the jobs with a place
}

// bound says that a request for so long starts no earlier. It stays true, because a plan only fills up.
type bound struct{ duration, start core.Time }

// place looks for a job's place and does not take it: where it completes first, or of the places that begin now the one that does.
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
			continue // it cannot win
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

// start is earliest, with what is known of requests like this one.
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

// learn keeps a bound, and forgets those that it makes worthless.
func (p *planner) learn(kind string, b bound) {
	p.seen[kind] = append(slices.DeleteFunc(p.seen[kind], func(old bound) bool {
		return old.duration >= b.duration && old.start <= b.start
	}), b)
}

// kind is the same for choices that want the same, for whatever duration.
func (c Choice) kind() string {
	var b strings.Builder
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%p%v", g.Tree, g.Counts)
	}
	return b.String()
}
