package sched

import (
	"math"

	"accordion/core"
	"accordion/core/sizing"
)

// Patient starts the jobs that fit now. A job that is due and does not fit gets a reservation: the first second at which it
// fits, given the running jobs and the earlier reservations. A job is due after it has waited Factor times its requested time, or
// Most if that is less, counted from its submission (core.Job.Submit). Jobs that are due come first, in the order in which they
// became due. The others follow in the order of the Submit calls. A job that never fits the machine is skipped.
//
// If several profiles of a job can start now, the job starts with the one that completes first. A reservation
// is for the profile that completes first overall. Among profiles that complete together the job gets the one
// with the lowest peak of nodes, then the one listed first. Guards and margins (core.Job) are handled as in
// Repeated.
//
// With one reservation no job starves. The reservation never moves back while the machine keeps its nodes. So a job
// that fits the machine waits until it is due, and then for the jobs that were due before it, one after the other.
//
// A job that the batch system starts (core.Job.Foreign) always has a place, which does not count as a reservation. No later job
// moves this place, even if the later job has the reservation.
//
// With a Sizing a moldable job gets only sizes from its floor to its target, as in Repeated. The time at which it becomes due
// depends on all sizes that it lists.
//
// The zero value is EASY: every job is due at its submission, and the first job of the queue has the only reservation.
type Patient struct {
	Factor       int64         // a job is due once it has waited this many times its requested time; 0 means at its submission
	Most         core.Time     // the longest wait until a job is due, in seconds; 0 means that it is due at its submission
	Reservations int           // number of simultaneous reservations; 0 means 1
	Sizing       sizing.Sizing // the rule for the sizes of moldable jobs; nil permits all sizes that they list
}

// AllReserved gives every job a reservation. If jobs are also due at their submission, the policy is the same
// as Repeated, except for moldable jobs. Patient starts a moldable job on a size that can start now, even if
// another size would start later and end sooner.
const AllReserved = math.MaxInt

// EASY is EASY back-filling as it is published for rigid jobs. It is Patient in which every job is due at its submission. Each
// job takes the peak of its first choice for the total duration of that choice. EASY ignores guards, margins and Foreign. A job
// with a later Begin joins the queue at that time.
//
// On the log KTH-SP2 every start equals the start in the published schedule.
type EASY struct {
	Order  Order
	Strict bool // no job starts before one ahead of it: first come, first served, without back-filling
}

var (
	_ Policy   = Patient{}
	_ Policy   = EASY{}
	_ Promiser = (*easyState)(nil)
	_ Sizer    = (*easyState)(nil)
)

// New returns the state of a machine without jobs. A negative node count counts as 0.
//
// The state keeps an allocation that is passed to Running unchanged. If the allocation begins later, Starts
// does not report its beginning. If running jobs exceed the machine because nodes were lost, no node is free.
// Plan contains what starts now and the reservations. Its EPs share memory with the jobs' choices and are read
// only.
func (p Patient) New(m core.Machine) State { return newState(rules{Patient: p}, m) }

// New returns the state of a machine without jobs. A negative node count counts as 0.
func (p EASY) New(m core.Machine) State {
	return newState(rules{rigid: true, order: p.Order, strict: p.Strict}, m)
}

// rules are the rules of a state, which come from a Patient or an EASY.
type rules struct {
	Patient
	rigid  bool
	order  Order // Order of EASY; strict is Strict of EASY
	strict bool
}

// Due returns when a job becomes due. This is at its submission if jobs need not wait until they are due.
func (p Patient) Due(j core.Job) core.Time { return j.Submit + p.patience(&j) }

// DueLike returns j with another submission time, so that it becomes due at the same time as job `other`. Use
// it for two forms of the same job, such as with different choices.
func (p Patient) DueLike(j, other core.Job) core.Job {
	j.Submit += p.Due(other) - p.Due(j)
	return j
}

// Ages reports whether jobs wait before they are due.
func (p Patient) Ages() bool { return p.Factor > 0 && p.Most > 0 }

// patience returns how long a job waits before it is due, in seconds.
func (p Patient) patience(j *core.Job) core.Time {
	if !p.Ages() {
		return 0
	}
	request := core.Forever
	for _, ep := range j.Choices {
		request = min(request, ep.Total())
	}
	if request = max(request-j.Guard-j.Pause, 0); request <= p.Most/p.Factor {
		return min(p.Factor*request, core.Forever)
	}
	return min(p.Most, core.Forever)
}

// rank returns, for a job under EASY, a due time by which the queue is ordered. It is before every real time.
func (r *rules) rank(length core.Time) core.Time { return r.order.Key(length) - 2*core.Forever }

// due returns the time by which due jobs are ordered. If jobs are due at their submission, this time is the same for all jobs, so
// that they keep the order of the queue whatever their submission times.
func (p Patient) due(j *core.Job) core.Time {
	if !p.Ages() {
		return -core.Forever
	}
	return j.Submit + p.patience(j)
}
