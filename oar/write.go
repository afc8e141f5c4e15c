package oar

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/oar/gantt"
)

// outcome is what a pass decided, in OAR's words.
type outcome struct {
	starts   []start
	messages map[int64]string // of jobs whose message changes
}

// start is a row of OAR's plan, with the resources.
type start struct {
	moldable  int64
	at        core.Time
	resources []int64
}

// The marks of what we add to a job's message, which is OAR's otherwise.
const (
	said       = " (Accordion: "
	mostSaid   = 255 // characters of jobs.message
	rowsAtOnce = 500
)

// decided puts a plan into OAR's words.
func decided(s *state, p *problem, plan []gantt.Placed) outcome {
	o := outcome{messages: map[int64]string{}}
	whys := map[int64]string{}
	for id, why := range p.refuse {
		whys[id] = why
	}
	moldable := map[int64][]gantt.Choice{}
	for _, j := range p.jobs {
		moldable[j.ID] = j.Choices
	}
	for _, one := range plan {
		if one.Why != "" {
			whys[one.Job] = one.Why
			continue
		}
		row := start{moldable: moldable[one.Job][one.Choice].ID, at: one.Start}
		for r := range one.Resources.All() {
			row.resources = append(row.resources, p.ids[r])
		}
		o.starts = append(o.starts, row)
	}
	for _, w := range s.waiting {
		if text := message(w.message, whys[w.id]); text != w.message {
			o.messages[w.id] = text
		}
	}
	slices.SortFunc(o.starts, func(a, b start) int { return cmp.Compare(a.moldable, b.moldable) })
	return o
}

// message is a job's message with why it is not planned; without, when it is.
func message(now, why string) string {
	text, _, _ := strings.Cut(now, said)
	if why == "" {
		return text
	}
	whole := []rune(text + said + why + ")")
	if len(whole) > mostSaid {
		whole = append(whole[:mostSaid-1], ')')
	}
	return string(whole)
}

// write puts everything into the database, or nothing.
func (d *database) write(ctx context.Context, o outcome) error {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	predictions, resources := inserter{table: "gantt_jobs_predictions (moldable_job_id, start_time)"}, inserter{table: "gantt_jobs_resources (moldable_job_id, resource_id)"}
	for _, s := range o.starts {
		predictions.add(s.moldable, s.at)
		for _, r := range s.resources {
			resources.add(s.moldable, r)
		}
	}
	for _, i := range []inserter{predictions, resources} {
		if err := i.run(ctx, tx); err != nil {
			return fmt.Errorf("writing the plan: %w", err)
		}
	}
	for id, text := range o.messages {
		query := fmt.Sprintf("UPDATE jobs SET message = %s WHERE job_id = %d", d.arg(1), id)
		if _, err := tx.ExecContext(ctx, query, text); err != nil {
			return fmt.Errorf("writing why job %d is not planned: %w", id, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// inserter writes pairs of numbers into a table, many in one statement.
type inserter struct {
	table string
	pairs [][2]int64
}

func (i *inserter) add(a, b int64) { i.pairs = append(i.pairs, [2]int64{a, b}) }

func (i *inserter) run(ctx context.Context, tx *sql.Tx) error {
	for some := range slices.Chunk(i.pairs, rowsAtOnce) {
		var b strings.Builder
		fmt.Fprintf(&b, "INSERT INTO %s VALUES ", i.table)
		for k, p := range some {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,%d)", p[0], p[1])
		}
		if _, err := tx.ExecContext(ctx, b.String()); err != nil {
			return err
		}
	}
	return nil
}
