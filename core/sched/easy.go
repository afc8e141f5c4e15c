package sched

import (
	"math"

	"accordion/core"
	"accordion/core/sizing"
)

// Patient starts the jobs that fit now. A job that does not fit and is due gets a reservation at the first second at which it fits next
// to what runs and the reservations before it. A job is due after it has waited Factor times its request, or Most if that is less,
// counted from its submission (core.Job.Submit). Jobs that are due go first, in the order in which they became due. The others
// follow in the order of the Submit calls. A job that never fits the machine is passed over.
//
// Of several profiles a job has the one that completes first among those that begin now; its reservation is for the one that
// completes first at all. Of equals it is the one with the fewest nodes (at its peak), then the one named first. Guards and margins
// (core.Job) are kept as Repeated keeps them.
//
// With one reservation nobody starves: its place never moves back while the machine keeps its nodes, so that a job that fits the
// machine waits until it is due, and then for those due before it, one place after the other.
//
// A job that somebody else starts (core.Job.Foreign) has a place in any case, and is none of those few: whoever came after it is
// fitted beside that place, also the one who has the reservation.
//
// With a Sizing a moldable job has the sizes from its floor to its target only, as under Repeated; when it is due goes by all that it lists.
//
// The zero value has no patience and one reservation: everybody is due at once, and the first of the queue has it, as in EASY.
type Patient struct {
	Factor       int64         // a job is due once it has waited so many times its request; 0: at once
	Most         core.Time     // and at most so long, in seconds; 0: at once
	Reservations int           // at a time; 0 is 1
	Sizing       sizing.Sizing // the sizes of moldable jobs; nil: all that they list
}

// AllReserved is more reservations than there ever are jobs. Without patience that is core/sched's Repeated, but for moldable jobs: one
// of those that begins now does not wait for a size that ends sooner.
const AllReserved = math.MaxInt

// EASY is the EASY back-filling that is published for rigid jobs. It is Patient without a wait, in which a job is its peak for its total
// duration, in its first choice. It ignores guards, margins and who starts a job. A job that starts later is not in the queue before.
//
// Start by start these are the published schedules (KTH-SP2).
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

// New is the state of a machine without jobs. A node count below 0 is 0.
//
// What is told by Running is taken as it is; an allocation that lay in the future then is somebody else's: Starts does not report
// it. Where what runs exceeds the machine (nodes were lost), nothing is free. Plan has what starts now and the reservations; the
// EPs in it share memory with the jobs' choices: read only.
func (p Patient) New(m core.Machine) State { return newState(rules{Patient: p}, m) }

// New returns the state of a machine without jobs. A node count below 0 is 0.
func (p EASY) New(m core.Machine) State {
	return newState(rules{rigid: true, order: p.Order, strict: p.Strict}, m)
}

// rules are what a state goes by: a Patient, or an EASY.
type rules struct {
	Patient
	rigid  bool
	order  Order // of EASY, as strict is
	strict bool
}

// Due is when a job becomes due. Without patience it is its submission.
func (p Patient) Due(j core.Job) core.Time { return j.Submit + p.patience(&j) }

// As is a job that is due when another is, which is the same job in other words: with other choices, say.
func (p Patient) As(j, other core.Job) core.Job {
	j.Submit += p.Due(other) - p.Due(j)
	return j
}

// Ages reports whether jobs wait before they are due.
func (p Patient) Ages() bool { return p.Factor > 0 && p.Most > 0 }

// patience is for how long a job waits before it is due.
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

// rank returns when a job of a requested length is due under Rigid: before all instants, in the order of the queue.
func (r *rules) rank(length core.Time) core.Time { return r.order.Key(length) - 2*core.Forever }

// due is by what a job ranks among those that are due: where everybody is at once they go in the order of the queue, whatever their
// submissions.
func (p Patient) due(j *core.Job) core.Time {
	if !p.Ages() {
		return -core.Forever
	}
	return j.Submit + p.patience(j)
}
