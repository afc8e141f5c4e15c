package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// alter does something to one job in a transaction, which keeps others from changing its state meanwhile. ErrGone when OAR
// does not know the job.
func (s *System) alter(ctx context.Context, job adapter.Key, do func(tx *sql.Tx, r *record, now core.Time) error) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		lock := fmt.Sprintf("SELECT job_id FROM jobs WHERE job_id = %d FOR UPDATE", job.ID)
		if err := rows(ctx, tx, "the job", lock, nil, func(*sql.Rows) error { return nil }); err != nil {
			return err
		}
		r, err := s.lookup(ctx, tx, job)
		if err != nil {
			return err
		}
		now, err := s.db.second(ctx, tx)
		if err != nil {
			return err
		}
		return do(tx, r, now)
	})
}

// pending says what is wrong with a job that should wait and was not launched yet.
func pending(r *record) error {
	if r.state != stateWaiting && r.state != stateHold {
		return fmt.Errorf("job %d is %s, not waiting any more: %w", r.ID, r.state, adapter.ErrGone)
	}
	return nil
}

// Adopt makes a waiting job ours: it gets a row in Accordion's table, which only OAR's own account can write, and the
// scheduler plans it only when that says so. A hold of its user's (oarhold) stays his.
func (s *System) Adopt(ctx context.Context, job adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		switch {
		case pending(r) != nil:
			return pending(r)
		case r.Unfit != "":
			return errors.New(r.Unfit)
		case r.Mark != "":
			return nil
		case r.Comment == "":
			return errors.New("it has no type ep=…")
		}
		if _, err := adapter.ParseRequest(r.Comment); err != nil {
			return err
		}
		err := run(ctx, tx, "adopting", fmt.Sprintf("DELETE FROM accordion_jobs WHERE job_id = %d OR base = %d", job.ID, job.ID),
			"DELETE FROM accordion_places WHERE job_id IN (SELECT j.job_id FROM jobs j WHERE j.state IN ('Terminated', 'Error'))")
		if err != nil {
			return err
		}
		query := fmt.Sprintf("INSERT INTO accordion_jobs (job_id, submitted, mark, base, released, reservation) VALUES (%d, %d, %s, 0, 0, '')",
			job.ID, job.Submitted, s.db.arg(1))
		_, err = tx.ExecContext(ctx, query, adapter.MarkPrefix+r.Comment)
		return err
	})
	if err != nil {
		return fmt.Errorf("adopting job %d: %w", job.ID, err)
	}
	return nil
}

// Refuse ends a waiting job. The line for its user becomes the job's message, which oarstat prints: a job that never ran has
// no output.
func (s *System) Refuse(ctx context.Context, job adapter.Key, why string) error {
	refused := false
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		if refused = !r.over() && r.State != adapter.Ending; !refused {
			return nil
		}
		if err := pending(r); err != nil {
			return err
		}
		return s.db.frag(ctx, tx, now, int64(job.ID))
	})
	switch {
	case errors.Is(err, adapter.ErrGone) && s.unknown(ctx, job), err == nil && !refused:
		return nil
	case err == nil:
		if err = s.await(ctx, s.over(job)); err == nil { // OAR writes a message of its own when it ends it
			_, err = s.db.sql.ExecContext(ctx, fmt.Sprintf("UPDATE jobs SET message = %s WHERE job_id = %d", s.db.arg(1), job.ID), "Accordion refused this job: "+short(why))
		}
	}
	if err != nil {
		return fmt.Errorf("refusing job %d: %w", job.ID, err)
	}
	return nil
}

// over awaits the end of a job that OAR was asked to end.
func (s *System) over(job adapter.Key) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, []adapter.Key{job})
		if state := states[job.ID]; err != nil || state == "Terminated" || state == "Error" || state == "" {
			return nil, err
		}
		return []string{ends}, nil
	}
}

// unknown says whether OAR does not know the job.
func (s *System) unknown(ctx context.Context, job adapter.Key) bool {
	_, err := s.lookup(ctx, s.db.sql, job)
	return errors.Is(err, adapter.ErrGone)
}

// short makes a text fit for jobs.message: on one line, of bounded length.
func short(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > mostSaid/2 {
		runes = append(runes[:mostSaid/2], '…')
	}
	return string(runes)
}

// Shape gives a waiting job its walltime, and the nodes of its base: the least that any step of a profile with that first
// step has.
func (s *System) Shape(ctx context.Context, job adapter.Key, shape adapter.Shape) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if shape.Nodes < 1 || shape.Limit < 1 || shape.Limit > core.MaxTotal {
			return fmt.Errorf("%d nodes for %d s: both must be positive and not endless", shape.Nodes, shape.Limit)
		}
		base, err := baseOf(r, shape.Nodes)
		if err != nil {
			return err
		}
		return s.db.reshape(ctx, tx, int64(job.ID), base, shape.Limit)
	})
	if err != nil {
		return fmt.Errorf("shaping job %d: %w", job.ID, err)
	}
	return nil
}

// profiles are those that a job was adopted with.
func profiles(r *record) ([]core.EP, error) { return adapter.ParseRequest(adapter.RequestOf(&r.Job)) }

// baseOf is how many nodes the base of a job has that begins on so many.
func baseOf(r *record, first int) (int, error) {
	eps, err := profiles(r)
	if err != nil {
		return 0, err
	}
	base := 0
	for _, ep := range eps {
		if ep[0].Nodes != first {
			continue
		}
		for _, step := range ep {
			if base == 0 || step.Nodes < base {
				base = step.Nodes
			}
		}
	}
	if base == 0 {
		return 0, fmt.Errorf("no profile of its begins on %d nodes", first)
	}
	return base, nil
}

// Attach ties a waiting job to a reservation, on whose nodes Release starts it.
func (s *System) Attach(ctx context.Context, job adapter.Key, reservation string) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if !r.known {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.reservations(ctx, tx, reservation)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return fmt.Errorf("there is no reservation %s", reservation)
		}
		query := fmt.Sprintf("UPDATE accordion_jobs SET reservation = %s WHERE job_id = %d", s.db.arg(1), job.ID)
		_, err = tx.ExecContext(ctx, query, reservation)
		return err
	})
	if err != nil {
		return fmt.Errorf("attaching job %d: %w", job.ID, err)
	}
	return nil
}

// Release lets an adopted job start on the nodes of the reservation that it is attached to: the base on as many of them as
// its least step has, companions on the others.
func (s *System) Release(ctx context.Context, job adapter.Key) error {
	s.foretell(ctx, job)
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		switch {
		case r.State == adapter.Running, r.released && r.State == adapter.Pending:
			return nil
		case r.state == stateHold:
			return fmt.Errorf("its user holds it (oarhold): %w", adapter.ErrBusy)
		case pending(r) != nil:
			return pending(r)
		case !r.known:
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.reservations(ctx, tx, r.Reservation)
		if err != nil {
			return err
		}
		if r.Reservation == "" || len(all) == 0 {
			return fmt.Errorf("it is not attached to a reservation (%q)", r.Reservation)
		}
		return s.release(ctx, tx, r, all[0].Nodes, now)
	})
	if err != nil {
		return fmt.Errorf("releasing job %d: %w", job.ID, err)
	}
	s.server.poke(starts)
	return nil
}

func (s *System) release(ctx context.Context, tx *sql.Tx, r *record, hosts []string, now core.Time) error {
	base, err := baseOf(r, len(hosts))
	if err != nil {
		return err
	}
	places, err := s.resources(ctx, tx, hosts[:base])
	if err != nil {
		return err
	}
	if err := s.db.place(ctx, tx, int64(r.ID), places); err != nil {
		return err
	}
	lasts := r.Limit + outlives
	for _, layer := range s.layers(r, base, hosts[base:]) {
		if _, err := s.companion(ctx, tx, r, layer, lasts, atStart, r.Reservation, now); err != nil {
			return err
		}
	}
	return run(ctx, tx, "releasing", fmt.Sprintf("UPDATE accordion_jobs SET released = 1 WHERE job_id = %d", r.ID))
}

// Hold takes a released job back that has not started, without its companions and its reservation.
func (s *System) Hold(ctx context.Context, job adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		var waits []int64
		for _, c := range r.joined {
			if c.mark == atStart && c.State == adapter.Pending {
				waits = append(waits, int64(c.ID))
			}
		}
		if err := s.db.frag(ctx, tx, now, waits...); err != nil {
			return err
		}
		if pending(r) != nil {
			return nil // it starts: on its base, if its companions could not
		}
		if !r.known {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		withdrawn := append(slices.Clone(waits), int64(job.ID))
		choices, err := numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", withdrawn)
		if err != nil {
			return err
		}
		return run(ctx, tx, "holding",
			fmt.Sprintf("UPDATE accordion_jobs SET released = 0, reservation = '' WHERE job_id = %d", job.ID),
			fmt.Sprintf("UPDATE accordion_jobs SET released = 0 WHERE job_id IN (%s)", list(waits)),
			fmt.Sprintf("DELETE FROM accordion_places WHERE job_id IN (%s)", list(withdrawn)),
			fmt.Sprintf("DELETE FROM gantt_jobs_resources WHERE moldable_job_id IN (%s)", list(choices)),
			fmt.Sprintf("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id IN (%s)", list(choices)))
	})
	s.server.poke(ends)
	if err == nil {
		var r *record
		if r, err = s.lookup(ctx, s.db.sql, job); err == nil {
			err = pending(r)
		}
	}
	if err != nil {
		return fmt.Errorf("holding job %d: %w", job.ID, err)
	}
	return nil
}

// Detach unties a running job from the reservation that it began in, which would not end it anyway. Where nobody has put all nodes of
// the first step into the job's node file before it began (see Prologue), they are there from now on.
func (s *System) Detach(ctx context.Context, job adapter.Key) error {
	r, err := s.lookup(ctx, s.db.sql, job)
	if err == nil {
		err = running(r)
	}
	if err == nil && r.Reservation != "" {
		if len(r.Nodes) > len(r.holds) {
			if err := s.publishNodes(ctx, r.holds[0], &r.Job); err != nil {
				s.log.Warn("a job's node file has the nodes of its base only", "job", job.ID, "error", err)
			}
		}
		_, err = s.db.sql.ExecContext(ctx, fmt.Sprintf("UPDATE accordion_jobs SET reservation = '' WHERE job_id = %d", job.ID))
	}
	if err != nil {
		return fmt.Errorf("detaching job %d: %w", job.ID, err)
	}
	return nil
}

// End ends a job with its companions, or companions that were made together. A running job's standard error first gets
// the reason.
func (s *System) End(ctx context.Context, job adapter.Key, why string) error {
	var told *record
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		if r.over() && len(r.joined) == 0 {
			return nil
		}
		if r.State == adapter.Running && r.base == 0 {
			told = r
		}
		all := []int64{int64(job.ID)}
		condition := companionOf(int64(job.ID))
		if r.base != 0 && r.mark == "" {
			condition = fmt.Sprintf("%s AND j.job_id IN (SELECT c.job_id FROM accordion_jobs c WHERE c.mark = '' AND c.reservation = %s)", companionOf(r.base), s.db.arg(1))
		}
		args := []any{r.group}
		if !strings.Contains(condition, s.db.arg(1)) {
			args = nil
		}
		err := rows(ctx, tx, "its companions", "SELECT j.job_id FROM jobs j WHERE "+condition, args, func(row *sql.Rows) error {
			var id int64
			err := row.Scan(&id)
			all = append(all, id)
			return err
		})
		if err != nil {
			return err
		}
		slices.Sort(all)
		return s.db.frag(ctx, tx, now, slices.Compact(all)...)
	})
	if errors.Is(err, adapter.ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ending job %d: %w", job.ID, err)
	}
	if told != nil && why != "" {
		// As far as possible: the job must end all the same.
		if err := s.say(ctx, told, "accordion ends this job: "+why); err != nil {
			s.log.Debug("a job cannot be told why it ends", "job", job.ID, "error", err)
		}
	}
	s.server.poke(ends)
	return nil
}

// Nudge asks OAR to plan: it has no nodes that it forgets, but it may not have heard of what is to start.
func (s *System) Nudge(context.Context, []string) error {
	s.server.poke(starts)
	return nil
}
