package managed

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// An Outage is a span in which the batch system did not answer, in Unix seconds. To is 0 while the
// outage lasts.
type Outage struct {
	From core.Time `json:"from"`
	To   core.Time `json:"to,omitempty"`
}

// Outages has the known outages of a batch system. The zero value has no outage.
type Outages struct {
	Known    []Outage  // ordered by time, without overlaps
	Answered core.Time // second of the last answer; 0 if there was no answer yet
	Booted   core.Time // adapter.Snapshot.Booted of the last answer

	slow    bool        // the last answer took long
	answers []core.Time // seconds of the latest answers, because only a later answer may show that the controller was restarted
}

const (
	mostOutages = 64
	mostAnswers = 64
	// An answer that takes at least `hangs` seconds counts as an outage, if the previous answer was
	// quick.
	hangs core.Time = 10
	// If no call failed, the controller is assumed to have been down for at most `unseen` seconds
	// before it started again.
	unseen core.Time = 60
	// Stall is for how many seconds after its end an outage may still keep a program from starting.
	// slurmctld refuses an srun until the nodes have registered. The srun then asks again after 60
	// to 69 s, and was observed to do so twice.
	Stall core.Time = 150
	// settling is the number of seconds after an outage in which slurmctld may refuse programs,
	// because its nodes have not registered yet.
	settling core.Time = 10
)

// Fail records the failure of a call that began at the second `began`.
func (o *Outages) Fail(began core.Time) {
	if o.lasts() {
		return
	}
	if o.Answered > 0 && o.Answered <= began {
		began = max(o.Answered, began-unseen)
	}
	o.add(Outage{From: began})
}

// Answer records the answer at the second `now` to a call that began at the second `began`. It
// returns the outage that ended with this answer, and whether an outage ended.
func (o *Outages) Answer(began, now, booted core.Time) (over Outage, ended bool) {
	switch {
	case o.lasts():
		last := &o.Known[len(o.Known)-1]
		last.To = max(now, last.From+1)
		over, ended = *last, true
	case o.Booted > 0 && booted > o.Booted:
		over = Outage{From: o.answeredBefore(booted), To: booted}
	case now-began >= hangs && o.Answered > 0 && !o.slow:
		over = Outage{From: began, To: now}
	}
	if last := len(o.Known) - 1; !ended && last >= 0 { // an earlier outage already covers the seconds before its end
		over.From = max(over.From, o.Known[last].To)
	}
	if !ended && over.To > over.From {
		o.add(over)
		ended = true
	}
	o.Answered, o.Booted, o.slow = began, max(booted, o.Booted), now-began >= hangs/2
	if o.answers = append(o.answers, began); len(o.answers) > mostAnswers {
		o.answers = slices.Clone(o.answers[mostAnswers/2:])
	}
	return over, ended
}

// answeredBefore returns the last second before `second` in which an answered call began. It
// returns `second` minus `unseen` if that is later.
func (o *Outages) answeredBefore(second core.Time) core.Time {
	from := second - unseen
	for _, at := range append(slices.Clone(o.answers), o.Answered) {
		if at < second {
			from = max(from, at)
		}
	}
	return from
}

func (o *Outages) lasts() bool { return len(o.Known) > 0 && o.Known[len(o.Known)-1].To == 0 }

func (o *Outages) add(one Outage) {
	if o.Known = append(o.Known, one); len(o.Known) > mostOutages {
		o.Known = slices.Clone(o.Known[len(o.Known)-mostOutages:])
	}
}

// Shift adjusts all times after the clock was set by the given number of seconds.
func (o *Outages) Shift(by core.Time) {
	for i := range o.Known {
		o.Known[i].From += by
		if o.Known[i].To > 0 {
			o.Known[i].To += by
		}
	}
	if o.Answered > 0 {
		o.Answered += by
	}
	for i := range o.answers {
		o.answers[i] += by
	}
}

// Within returns for how many seconds between `from` and `to` the batch system did not answer.
func (o Outages) Within(from, to core.Time) (seconds core.Time) {
	for _, one := range o.Known {
		seconds += overlap(one.From, one.end(to), from, to)
	}
	return seconds
}

// Last returns the newest outage that may have kept a program from starting between `from` and
// `to`.
func (o Outages) Last(from, to core.Time) (Outage, bool) {
	for _, one := range slices.Backward(o.Known) {
		if one.touches(from, to) {
			return one, true
		}
	}
	return Outage{}, false
}

func (o Outage) end(now core.Time) core.Time {
	if o.To == 0 {
		return max(now, o.From)
	}
	return o.To
}

func (o Outage) touches(from, to core.Time) bool {
	return overlap(o.From, o.end(to)+settling, from, to) > 0
}

// Cost returns for how many seconds between `from` and `to` outages kept an application from
// working. A program that was to start during an outage may start long after the outage. An outage
// costs nothing any more once a program has started after the outage began. A program that started
// before the outage was not kept from working. p has the job's programs as last read, and is nil if
// they are not known.
func (o Outages) Cost(from, to core.Time, p *adapter.Programs) (seconds core.Time) {
	counted := from
	for _, one := range o.Known {
		if !one.touches(from, to) {
			continue
		}
		end := stalled(one.From, one.end(to), to, p)
		seconds += overlap(one.From, end, counted, to)
		counted = max(counted, end)
	}
	return seconds
}

// stalled returns the second in which an application continues after an outage stopped it.
func stalled(from, end, now core.Time, p *adapter.Programs) core.Time {
	if p == nil {
		return end
	}
	first, through := core.Forever, false
	for _, at := range p.Begun {
		if at >= from {
			first = min(first, at)
		} else {
			through = true
		}
	}
	switch {
	case p.Waits:
	case first < core.Forever:
		return min(max(end, first), end+Stall)
	case through:
		return end
	}
	return min(max(end, now), end+Stall)
}

func overlap(from, to, begin, end core.Time) core.Time { return max(0, min(to, end)-max(from, begin)) }

// ApplyOutages applies outages to a running job. The seconds that outages cost the job in its
// present step do not count as late, even after the outage is forgotten.
func (r *Job) ApplyOutages(o Outages, now core.Time) {
	if r.Phase != Running || len(o.Known) == 0 {
		return
	}
	if cost := o.Cost(r.working(), r.until(now), r.Programs); cost > r.OutageCost {
		r.OutageCost, r.Unsaved = cost, true
	}
}

// working returns the second since which the application works on its present step. An application
// that never calls `accordion step` works without a break from its start.
func (r *Job) working() core.Time {
	if r.Step == 0 || r.StepCalls == StepCallsNever {
		return r.Began + r.Clock
	}
	return r.Promise[r.Step-1]
}

// `until` returns the second up to which the application has worked on the present step: now, or
// the second in which it asked for the next step.
func (r *Job) until(now core.Time) core.Time {
	if r.Question != nil {
		return r.Question.At.Unix()
	}
	return now
}

// Outage returns the newest outage that may have kept the job from working in its present step.
func (r *Job) Outage(o Outages, now core.Time) (Outage, bool) {
	return o.Last(r.working(), r.until(now))
}

// lookEvery is the number of seconds between two readings of a job's programs.
const lookEvery core.Time = 5

// LooksDue reports whether the job's programs have to be read. They have to be read while an outage
// may still keep a program from starting, or while the cost of the outage is not known.
func (r *Job) LooksDue(o Outages, now core.Time) bool {
	last, touched := r.Outage(o, now)
	return touched && r.Question == nil && now >= r.ProgramsReadAt+lookEvery && r.ProgramsReadAt < last.end(now)+Stall
}

// LimitExtension returns by how many more seconds the job's time limit has to be raised because of
// outages. Limits are raised by whole minutes.
func (r *Job) LimitExtension(now core.Time) core.Time {
	if r.Phase != Running || r.Limit == 0 || r.Seen == nil || r.Seen.Limit >= core.Forever || r.Resizing() {
		return 0
	}
	lost := r.PastOutageCost
	if now > r.Due()+r.SidecarDelay {
		lost += r.OutageCost
	}
	return max(0, (lost+59)/60*60-r.LimitExtended)
}

// ResetStepCosts resets the costs of outages and suspensions when the next step begins.
func (r *Job) ResetStepCosts() {
	r.OutageCost, r.OutageTold, r.Programs, r.ProgramsReadAt = 0, false, nil, 0
	r.SuspendedFor = 0
}
