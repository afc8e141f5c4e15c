package scheduler

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/planner"
)

// outcome is what a pass decided, in OAR's terms.
type outcome struct {
	released []start // jobs that the sidecar has released, and that start now
	shown    []shown // reservations
	starts   []start // in the order of their starts
	messages []jobMessage
}

// jobMessage is a new message of a job.
type jobMessage struct {
	job  int64
	text string
}

// start is a row of OAR's plan, with its resources.
type start struct {
	moldable  int64
	at        core.Time
	resources []int64
}

// Said begins the text that Accordion appends to a job's message. The rest of the message is OAR's.
const (
	Said = " (Accordion: "

	messagesAtOnce = 200
)

// latest is the last second that fits into OAR's tables, in 2038. With a later one the database would refuse the whole plan.
const latest core.Time = math.MaxInt32

const afterLatest = "it would start after January 2038, and OAR counts no further"

// decided converts a plan into OAR's terms.
func decided(s *state, p *problem, plan []planner.Placed) outcome {
	var o outcome
	whys := map[int64]string{}
	for id, why := range p.refuse {
		whys[id] = why
	}
	o.released = p.starts(p.fixed.jobs, p.fixed.plan, whys)
	o.shown = p.fixed.shown
	o.starts = p.starts(p.jobs, plan, whys)
	for _, w := range s.waiting {
		if text := message(w.message, whys[w.id]); text != w.message {
			o.messages = append(o.messages, jobMessage{w.id, text})
		}
	}
	slices.SortFunc(o.starts, func(a, b start) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.moldable, b.moldable)) })
	return o
}

// starts returns the rows of a plan. For the jobs without a place, it adds the reasons to `whys`.
func (p *problem) starts(jobs []planner.Job, plan []planner.Placed, whys map[int64]string) []start {
	choices := map[int64][]planner.Choice{}
	for _, j := range jobs {
		choices[j.ID] = j.Choices
	}
	rows := make([]start, 0, len(plan))
	for _, one := range plan {
		if one.Why != "" {
			whys[one.Job] = one.Why
			continue
		}
		if one.Start > latest {
			whys[one.Job] = afterLatest
			continue
		}
		rows = append(rows, start{moldable: choices[one.Job][one.Choice].ID, at: one.Start, resources: p.names(one.Resources)})
	}
	return rows
}

// names returns OAR's IDs of the resources in a set.
func (p *problem) names(of planner.Set) []int64 {
	ids := make([]int64, 0, of.Len())
	for r := range of.All() {
		ids = append(ids, p.ids[r])
	}
	return ids
}

// message returns a job's message with the reason why the job is not planned, or without a reason if `why` is "".
func message(now, why string) string {
	text, _, _ := strings.Cut(now, Said)
	if why == "" {
		return text
	}
	whole := []rune(text + Said + why + ")")
	if len(whole) > database.MessageSize {
		whole = append(whole[:database.MessageSize-1], ')')
	}
	return string(whole)
}

// write writes a plan in one transaction. It first writes everything that the sidecar has decided, and then the other
// jobs in the order of their starts. After the time `stop` it leaves out the remaining jobs, because a part of a plan
// is still a valid plan. It returns how many of the other jobs it has written.
func (d store) write(ctx context.Context, now core.Time, o outcome, stop time.Time) (int, error) {
	tx, err := d.Sql.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("writing the plan: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := checkCurrent(ctx, tx, now); err != nil {
		return 0, err
	}
	first := slices.Clone(o.released)
	for _, one := range o.shown {
		first = append(first, one.start)
		if one.walltime == one.was {
			continue
		}
		query := fmt.Sprintf("UPDATE moldable_job_descriptions SET moldable_walltime = %d WHERE moldable_id = %d", one.walltime, one.moldable)
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return 0, fmt.Errorf("writing the end of a reservation: %w", err)
		}
	}
	for len(first) > 0 {
		n, err := insert(ctx, tx, first)
		if err != nil {
			return 0, fmt.Errorf("writing the sidecar's decisions: %w", err)
		}
		first = first[n:]
	}
	written := 0
	for written < len(o.starts) && (written == 0 || time.Now().Before(stop)) {
		n, err := insert(ctx, tx, o.starts[written:])
		if err != nil {
			return 0, fmt.Errorf("writing the plan: %w", err)
		}
		written += n
	}
	for some := range slices.Chunk(o.messages, messagesAtOnce) {
		if time.Now().After(stop) {
			break
		}
		if err := d.tell(ctx, tx, some); err != nil {
			return 0, fmt.Errorf("writing the reasons of unplanned jobs: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("writing the plan: %w", err)
	}
	return written, nil
}

// checkCurrent returns an error unless OAR still waits for the pass of this second. OAR records for which second it plans. Normally the
// next pass begins only after this one has written. But if OAR's server was killed and restarted, the next pass may already have used
// resources that this pass found free.
func checkCurrent(ctx context.Context, tx *sql.Tx, now core.Time) error {
	at := core.Time(-1)
	err := database.Rows(ctx, tx, "which pass this is", "SELECT start_time FROM gantt_jobs_predictions WHERE moldable_job_id = 0 FOR UPDATE", nil, func(r *sql.Rows) error {
		return r.Scan(&at)
	})
	if err == nil && at != now {
		err = fmt.Errorf("%w: this pass is for second %d, and OAR's plan is of second %d", ErrOverrun, now, at)
	}
	return err
}

// tell changes the messages of jobs.
func (d store) tell(ctx context.Context, tx *sql.Tx, some []jobMessage) error {
	var cases, jobs strings.Builder
	texts := make([]any, 0, len(some))
	for i, m := range some {
		texts = append(texts, m.text)
		fmt.Fprintf(&cases, " WHEN %d THEN %s", m.job, d.Arg(i+1))
		fmt.Fprintf(&jobs, ", %d", m.job)
	}
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET message = CASE job_id"+cases.String()+" END WHERE job_id IN ("+jobs.String()[2:]+")", texts...)
	return err
}

// insert writes the first starts, up to RowsAtOnce resources in total, but at least one start. It returns the number
// of starts that it has written.
func insert(ctx context.Context, tx *sql.Tx, starts []start) (int, error) {
	predictions := database.PairInsert{Into: "gantt_jobs_predictions (moldable_job_id, start_time)"}
	resources := database.PairInsert{Into: "gantt_jobs_resources (moldable_job_id, resource_id)"}
	n := 0
	for _, s := range starts {
		if n > 0 && resources.Rows+len(s.resources) > database.RowsAtOnce {
			break
		}
		n++
		predictions.Add(s.moldable, s.at)
		for _, r := range s.resources {
			resources.Add(s.moldable, r)
		}
	}
	for _, p := range []*database.PairInsert{&predictions, &resources} {
		if p.Rows == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, string(p.Text)); err != nil {
			return 0, err
		}
	}
	return n, nil
}
