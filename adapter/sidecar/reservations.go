package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/fair"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// reservations has the last calls for the sidecar's reservations, and the reservations that the
// plan needs.
type reservations struct {
	eventLog *eventLog
	readings *readings
	jobs     *jobs
	workers  *workers
	parts    Parts
	turns    *turns

	leftOut int                            // number of reservations that the plan needs but that are not made, because there are too many
	wants   map[string]adapter.Reservation // the reservations that the plan needs, by name
	tending map[string]tended              // the last call for each reservation, by name
}

// tended has the result of the last call for a reservation. It overrides each reading that began
// before the call ended.
type tended struct {
	reservation adapter.Reservation
	gone        bool // the reservation was deleted
	busy        bool // a call is under way
	at          managed.Epoch
	retry       time.Time // no call for the reservation before this instant, because the last call failed
	unsure      time.Time // until this instant the batch system may still carry out a canceled call
}

// calls is how many calls for reservations may be under way at the same time.
const calls = 2

// tend writes the reservations that the plan needs and that the batch system lacks, and deletes
// those that are not needed.
func (s *reservations) tend(ctx context.Context, v *plan.World) {
	s.tidy()
	wants, keep := v.Wanted()
	if s.leftOut == 0 && v.LeftOut > 0 {
		s.jobs.meter.Limited(actions.LimitReservations)
	}
	s.leftOut = v.LeftOut
	wants = s.parts.Wanted(v.Now, s.ours(), wants, keep)
	clear(s.wants)
	for _, w := range wants {
		s.wants[w.Name] = w
	}
	users := make(map[core.JobID]uint32, len(s.jobs.records))
	for key, r := range s.jobs.records {
		users[key.ID] = r.UID
	}
	var todo []task
	add := func(name string, do func(context.Context)) {
		if !keep[name] && s.mayTend(name) {
			todo = append(todo, task{users[jobOf(name)], do})
		}
	}
	for _, w := range wants {
		have, there := s.reserved(w.Name)
		switch {
		case there && premature(have, w, v.Now):
			add(w.Name, func(ctx context.Context) { s.delete(ctx, w.Name) })
		case !there || outdated(have, w, v.Now):
			add(w.Name, func(ctx context.Context) { s.write(ctx, w) })
		}
	}
	for _, name := range s.ours() {
		if _, needed := s.wants[name]; needed || s.leaves(name) || s.awaited(name) {
			continue
		}
		if _, there := s.reserved(name); there {
			add(name, func(ctx context.Context) { s.delete(ctx, name) })
		}
	}
	s.begin(ctx, todo)
}

// `awaited` reports whether a waiting job is attached to the reservation. This happens if a job was
// requeued while it started, until the sidecar detaches the job. If the reservation were deleted,
// Slurm would hold the job (RESV_DEL_HOLD), and Slurm 20.11 keeps that state even when the job is
// released.
func (s *reservations) awaited(name string) bool {
	return slices.ContainsFunc(s.readings.snapshot.Jobs, func(j adapter.Job) bool {
		return j.State == adapter.Pending && j.Reservation == name
	})
}

// A task is a call for a reservation of a user's job.
type task struct {
	user uint32
	do   func(context.Context)
}

// begin starts as many of the calls as may be under way. Users with the fewest recent calls come
// first.
func (s *reservations) begin(ctx context.Context, todo []task) {
	ledger := &s.turns.reservations
	under := 0
	for _, t := range s.tending {
		if t.busy {
			under++
		}
	}
	for ; under < calls && len(todo) > 0; under++ {
		first := 0
		for i := range todo {
			if ledger.Less(todo[i].user, todo[first].user) {
				first = i
			}
		}
		t := todo[first]
		todo = append(todo[:first], todo[first+1:]...)
		ledger.Charge(t.user, 1, s.eventLog.clock.Now())
		t.do(fair.For(ctx, t.user))
	}
}

// jobOf returns the number of the job for which a reservation was made, and 0 if the reservation's
// name has no job number.
func jobOf(name string) (id core.JobID) {
	var step int
	if _, err := fmt.Sscanf(name, adapter.Prefix+"%d-%d", &id, &step); err != nil {
		return 0
	}
	return id
}

// tidy removes results of calls that a newer reading shows.
func (s *reservations) tidy() {
	for name, t := range s.tending {
		if !t.busy && s.readings.shows(t.at) && !s.eventLog.clock.Now().Before(t.retry) {
			delete(s.tending, name)
		}
	}
}

// slack is the number of seconds before its wanted start at which a reservation may begin.
const slack core.Time = 10

// premature reports whether a reservation has begun although it is wanted later. The begin of an
// active reservation cannot be changed, and the reservation excludes jobs that are planned before
// its wanted begin. So the reservation is deleted and made again.
func premature(have, want adapter.Reservation, now core.Time) bool {
	return have.Start <= now && want.Start > now+slack
}

// outdated reports whether a reservation has to be changed. The begin of an active reservation
// cannot be changed, and is not compared.
func outdated(have, want adapter.Reservation, now core.Time) bool {
	active := have.Start <= now
	return !managed.SameNodes(have.Nodes, want.Nodes) ||
		have.End < want.End-plan.Expiry/2 ||
		!active && (have.Start > want.Start || have.Start < want.Start-slack)
}

// reserved returns the sidecar's reservation of that name, as the batch system has it now.
func (s *reservations) reserved(name string) (adapter.Reservation, bool) {
	if t, ok := s.tending[name]; ok && !s.readings.shows(t.at) {
		return t.reservation, !t.gone
	}
	for _, r := range s.readings.snapshot.Reservations {
		if r.Name == name {
			return r, true
		}
	}
	return adapter.Reservation{}, false
}

// `ours` returns the names of all reservations of the sidecar, sorted.
func (s *reservations) ours() []string {
	var all []string
	for _, r := range s.readings.snapshot.Reservations {
		if r.Ours() {
			all = append(all, r.Name)
		}
	}
	for name, t := range s.tending {
		if !t.gone && !t.busy && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// busy reports whether a call for the reservation is under way, or may still be carried out.
func (s *reservations) busy(name string) bool {
	t := s.tending[name]
	return t.busy || s.eventLog.clock.Now().Before(t.unsure)
}

// mayTend reports whether a call for the reservation may begin now.
func (s *reservations) mayTend(name string) bool {
	t := s.tending[name]
	return !t.busy && !s.eventLog.clock.Now().Before(t.retry)
}

// leaves reports whether the reservation's job is being detached from the reservation. Until the
// job is detached, the batch system does not delete the reservation.
func (s *reservations) leaves(name string) bool {
	r := s.jobs.records[s.owner(name)]
	return r != nil && r.Underway == "hold"
}

// clockSet adapts to a clock that was set: failed calls may be repeated without a pause.
func (s *reservations) clockSet() {
	for name, t := range s.tending {
		t.retry, t.unsure = time.Time{}, time.Time{}
		s.tending[name] = t
	}
}

// take records that an operation of a job writes the reservation.
func (s *reservations) take(r adapter.Reservation) {
	s.tending[r.Name] = tended{reservation: r, at: s.readings.begun}
}

func (s *reservations) write(ctx context.Context, r adapter.Reservation) {
	job := s.owner(r.Name)
	s.call(ctx, r, "reserve", func(ctx context.Context) error { return s.workers.caller.Reserve(ctx, job, r) })
}

func (s *reservations) delete(ctx context.Context, name string) {
	job := s.owner(name)
	s.call(ctx, adapter.Reservation{Name: name}, "unreserve", func(ctx context.Context) error { return s.workers.caller.Unreserve(ctx, job, name) })
}

// call makes a call for a reservation, in another goroutine.
func (s *reservations) call(ctx context.Context, r adapter.Reservation, verb string, action func(context.Context) error) {
	before := s.tending[r.Name]
	before.busy = true
	s.tending[r.Name] = before
	s.workers.background(func() error { return action(ctx) }, func(err error) { s.settle(r, verb, err) })
}

// settle records the result of a call for a reservation. After a failure only the next reading
// shows whether the reservation exists.
func (s *reservations) settle(r adapter.Reservation, verb string, err error) {
	t := tended{reservation: r, gone: verb == "unreserve", at: s.readings.begun}
	if err == nil {
		s.tending[r.Name] = t
		return
	}
	pause := 5 * time.Second
	if errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrReserved) {
		pause = time.Second
	} else {
		s.eventLog.notice(s.owner(r.Name), fmt.Sprintf("%s %s failed, will be tried again: %v", verb, r.Name, err))
	}
	t = tended{retry: s.jobs.later(pause)}
	if errors.Is(err, context.DeadlineExceeded) {
		t.unsure = s.jobs.later(managed.LateCall)
	}
	s.tending[r.Name] = t
	s.readings.refresh()
}

// owner returns the key of the job for which a reservation was made. The key is zero if the
// reservation's name has no job number, and has only the number if the job has ended.
func (s *reservations) owner(name string) adapter.Key {
	id := jobOf(name)
	if id == 0 {
		return adapter.Key{}
	}
	for key := range s.jobs.records {
		if key.ID == id {
			return key
		}
	}
	return adapter.Key{ID: id}
}
