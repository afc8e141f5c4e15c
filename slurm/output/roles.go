package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// A Role is what a job is to another one.
type Role int

// Role is what the job is made for, and ordinary when it merely calls itself so: what is ours was allocated inside one of our
// reservations, where only its owner's jobs can be, or bears a mark that only root can write. In Park everybody's jobs can be.
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

// Parent is the job that this one's name says it is made for; 0 for every other name.
func (r *Record) Parent() core.JobID {
	parent, _ := AllocatedFor(r.Name)
	return parent
}

// expands is the parent's id when the job is one of ours beside another; 0 for every other job.
func expands(r *Record) core.JobID {
	if r.Role() == Ordinary {
		return 0
	}
	return r.Parent()
}

// AllocatedFor reads the name of an allocation that was made beside a job for its growth: which job, 0 for every other name, and
// whether it stays beside it to its end, as companions do, or is to be merged into it. Any user may call his job so.
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

// Names of the allocations that are made beside a job; its id follows. The name is what survives everywhere: Slurm
// forgets the dependency once it is satisfied.
const (
	GrowPrefix = adapter.Prefix + "grow-" // an expander on new nodes
	OverPrefix = adapter.Prefix + "over-" // an expander on nodes that another one keeps
	WithPrefix = adapter.Prefix + "with-" // a companion
)

// companionMark begins that comment; the job follows as ID@SUBMITTED.
const companionMark = adapter.Prefix + "with="

// MarkCompanion is the mark of a companion of that job.
func MarkCompanion(of adapter.Key) string {
	return fmt.Sprintf("%s%d@%d", companionMark, of.ID, of.Submitted)
}

// CompanionOf reads a companion's mark; the zero key of every other job.
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

// Joins says whether the job is a companion of that one, and holds its nodes for it.
func (r *Record) Joins(job adapter.Key) bool {
	return r.Role() == Companion && r.State == adapter.Running && CompanionOf(r.Mark) == job
}

// Park is the name of the reservation in the far future to which managed jobs are tied while they wait. It lies on one node, where no job can come near it, and stays when no job waits.
const Park = adapter.Prefix + "park"

// Lease is the name of the reservation without nodes in which stands which sidecar may act.
const Lease = adapter.Prefix + "lease"

// Left is the name of the reservation without nodes that a sidecar leaves when it ends in good
// order. Until its end the sidecar's reservations on nodes stay.
const Left = adapter.Prefix + "left"

// Gate is the name of the reservation in the far future to which rigid jobs are tied while they wait for the sidecar, in a partition that is
// wholly its own; Open is that of one without nodes that is there while jobs pass.
const (
	Gate = adapter.Prefix + "gate"
	Open = adapter.Prefix + "open"
)

// Parked says whether the job waits for a reservation in the far future.
func (r *Record) Parked() bool { return r.Reservation == Park || r.Gated() }

// Gated says whether it is a rigid one.
func (r *Record) Gated() bool { return r.Reservation == Gate }

// LetInBySidecar says whether a job that asks nothing of the sidecar is its own to let in, as it waits before the gate, or passed it, in a partition
// that is wholly Accordion's. An array is not, nor is a heterogeneous job, or one in several partitions or in a reservation, or root's.
func (r *Record) LetInBySidecar(pool []string, all bool) bool {
	if r.State != adapter.Pending || r.Array != 0 || r.Unfit != "" || adapter.RequestOf(&r.Job) != "" || r.Role() != Ordinary || r.UID == 0 {
		return false
	}
	return r.Gated() || all && !r.Held && r.Reservation == "" && slices.Contains(pool, r.Partition)
}

// IsWaitingReservation says whether a reservation is one in which jobs wait: nobody ever runs there.
func IsWaitingReservation(reservation string) bool { return reservation == Park || reservation == Gate }

// Stopped says whether the job is held in Slurm's sense, by its owner or by root: parked or not, it does not start.
func (r *Record) Stopped() bool { return r.Priority == 0 || r.HeldByUser || r.Why == "JobHeldAdmin" }

// heldBy returns who holds a pending job that is ours; "" where none but us does, or Slurm itself. A
// job that waits for us, or that we released, is not held in Slurm's sense. Before that the plug-in
// holds it, and a requeued job is held by whoever requeued it.
func (r *Record) heldBy() string {
	switch why := strings.ReplaceAll(r.Why, "_", " "); {
	case r.Mark == "", adapter.Delegated(&r.Job): // the sidecar submits parts of applications itself, and a start puts their holds aside
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

// The roles.
const (
	Ordinary  Role = iota
	Expander       // to be merged into its parent
	Companion      // beside its parent, never merged
)
