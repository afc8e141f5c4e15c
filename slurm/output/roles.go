package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// A Role is what a job does for another job.
type Role int

// Role returns the role for which the job was made. It returns Ordinary if only the job's name indicates another
// role, because any user can choose such a name. There are two proofs that the sidecar made a job. The first is
// that the job was allocated in one of the sidecar's reservations, which only the owner's jobs can use. The second
// is a mark, which only root can write. Any user's job can be in the reservation Park, so Park proves nothing.
func (r *Record) Role() Role {
	lent := strings.HasPrefix(r.Reservation, adapter.Prefix) && !r.Parked()
	if r.Parent() == 0 || !lent && CompanionOf(r.Mark).ID == 0 {
		return Ordinary
	}
	if _, stays := AllocatedFor(r.Name); stays {
		return Companion
	}
	return Expander
}

// Parent returns the job for which this job was made according to its name. It returns 0 if the name has another
// form.
func (r *Record) Parent() core.JobID {
	parent, _ := AllocatedFor(r.Name)
	return parent
}

// expands returns the parent's id if the job is one of the sidecar's allocations for another job. Otherwise it
// returns 0.
func expands(r *Record) core.JobID {
	if r.Role() == Ordinary {
		return 0
	}
	return r.Parent()
}

// AllocatedFor parses the name of an allocation that was made for the growth of a job. `parent` is that job, or 0
// if the name has another form. `stays` is true if the allocation is a companion, which stays for the job's whole
// life, and false if it will be merged into the job. Any user may choose such a name.
func AllocatedFor(name string) (parent core.JobID, stays bool) {
	for _, prefix := range []string{GrowPrefix, OverPrefix, WithPrefix} {
		if id, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.ParseUint(id, 10, 31); err == nil && n > 0 {
				return core.JobID(n), prefix == WithPrefix
			}
		}
	}
	return 0, false
}

// These are the prefixes of the names of allocations made for a job. The job's id follows the prefix. It is in the
// name because Slurm drops the dependency between the two jobs once it is satisfied.
const (
	GrowPrefix = adapter.Prefix + "grow-" // an expander on free nodes
	OverPrefix = adapter.Prefix + "over-" // an expander that includes nodes of another job
	WithPrefix = adapter.Prefix + "with-" // a companion
)

// companionMark begins the AdminComment of a companion. The parent's key follows as ID@SUBMITTED.
const companionMark = adapter.Prefix + "with="

// MarkCompanion returns the mark of a companion of the job.
func MarkCompanion(of adapter.Key) string {
	return fmt.Sprintf("%s%d@%d", companionMark, of.ID, of.Submitted)
}

// CompanionOf returns the job named in a companion's mark, or the zero Key for every other mark.
func CompanionOf(mark string) adapter.Key {
	text, ok := strings.CutPrefix(mark, companionMark)
	id, submitted, both := strings.Cut(text, "@")
	n, err1 := strconv.ParseInt(id, 10, 64)
	at, err2 := strconv.ParseInt(submitted, 10, 64)
	if !ok || !both || err1 != nil || err2 != nil {
		return adapter.Key{}
	}
	return adapter.Key{ID: core.JobID(n), Submitted: at}
}

// Joins reports whether the job is a companion of the given job and holds nodes for it.
func (r *Record) Joins(job adapter.Key) bool {
	return r.Role() == Companion && r.State == adapter.Running && CompanionOf(r.Mark) == job
}

// Park is the reservation in the far future in which managed jobs wait. The reservation has one node, on which no
// waiting job can start before the reservation begins. The reservation stays when no job waits.
const Park = adapter.Prefix + "park"

// Lease is the reservation without nodes that records which sidecar may manage the cluster.
const Lease = adapter.Prefix + "lease"

// Left is the reservation without nodes that a sidecar creates when it stops cleanly. The sidecar's reservations on
// nodes stay until Left ends.
const Left = adapter.Prefix + "left"

// Gate is the reservation in the far future in which rigid jobs wait for the sidecar, in a partition with manage =
// "all". Open is a reservation without nodes that exists while jobs pass the gate.
const (
	Gate = adapter.Prefix + "gate"
	Open = adapter.Prefix + "open"
)

// Parked reports whether the job waits in a reservation in the far future.
func (r *Record) Parked() bool { return r.Reservation == Park || r.Gated() }

// Gated reports whether the job is a rigid job that waits at the gate.
func (r *Record) Gated() bool { return r.Reservation == Gate }

// LetInBySidecar reports whether the sidecar decides when this job without a request may start. Such a job waits at
// the gate, or has passed the gate in a partition with manage = "all". Slurm alone decides about array tasks,
// heterogeneous jobs, jobs with several partitions, jobs in another reservation, and root's jobs.
func (r *Record) LetInBySidecar(pool []string, all bool) bool {
	if r.State != adapter.Pending || r.Array != 0 || r.Unfit != "" || adapter.RequestOf(&r.Job) != "" || r.Role() != Ordinary || r.UID == 0 {
		return false
	}
	return r.Gated() || all && !r.Held && r.Reservation == "" && slices.Contains(pool, r.Partition)
}

// IsWaitingReservation reports whether jobs only wait in the reservation and never run in it.
func IsWaitingReservation(reservation string) bool { return reservation == Park || reservation == Gate }

// Stopped reports whether the job does not start because its owner or root holds it. The job may be parked or not.
func (r *Record) Stopped() bool { return r.Priority == 0 || r.HeldByUser || r.Why == "JobHeldAdmin" }

// heldBy returns who holds a pending managed job. It returns "" if only the sidecar or Slurm itself holds it. A job
// that is parked, or that the sidecar has released, is not held in Slurm's sense. Before a job is parked, the
// plug-in holds it. A requeued job is held by the user who requeued it.
func (r *Record) heldBy() string {
	switch why := strings.ReplaceAll(r.Why, "_", " "); {
	case r.Mark == "", adapter.Delegated(&r.Job): // the launcher submits parts of applications held, and the sidecar clears these holds when the parts start
	case why == "job requeued in held state":
		return heldByEither
	case !strings.HasPrefix(r.Reservation, adapter.Prefix):
	case why == "JobHeldAdmin":
		return heldByOperator
	case why == "JobHeldUser":
		return heldByEither
	}
	return ""
}

const (
	heldByOperator = "an operator"
	heldByEither   = "its owner or an operator"
)

// The roles of a job.
const (
	Ordinary  Role = iota
	Expander       // will be merged into its parent
	Companion      // stays for its parent's life, and is never merged
)
