package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// An Intent is an action that is about to be carried out.
type Intent struct {
	At        time.Time
	Cluster   string
	Job       int64
	Submitted int64          // Unix seconds; names the job together with its id
	Verb      string         // reserve, shape, attach, release, detach, expand, merge, shrink, end…
	Args      map[string]any // values that encoding/json can encode
}

// An Event is something that happened to a job, for its user and for operators.
type Event struct {
	At        time.Time
	Job       int64
	Submitted int64
	Kind      string // started, grew, shrank, late, promise broken, ended…
	Text      string // one line for people
	Fields    map[string]any
}

// The kinds of entries.
const (
	KindIntent = "intent"
	KindEvent  = "event"
)

// Outcomes of an intent. Failed and Lost are followed by a colon and the reason.
const (
	Done   = "done"
	Failed = "failed"
	Lost   = "lost" // the sidecar died before it knew the outcome; the next sidecar found out
)

// An Entry is an intent with its outcome, or an event.
type Entry struct {
	ID        int64 // ascending, never used twice
	Kind      string
	At        time.Time
	Cluster   string
	Job       int64
	Submitted int64
	Verb      string         // an intent's verb, or an event's kind
	Text      string         // an event's text
	Args      map[string]any // an intent's arguments, or an event's fields; numbers are json.Number
	Outcome   string         // an intent's outcome; "" while the outcome is not known
	Took      time.Duration  // from the intent to its outcome
}

// Unfinished reports whether the entry is an intent whose outcome is not known.
func (e Entry) Unfinished() bool { return e.Kind == KindIntent && e.Outcome == "" }

// Begin writes an intent and returns its id. The action may be carried out only after Begin
// returned, when the intent is on the disk.
func (j *Journal) Begin(in Intent) (int64, error) {
	args, err := encode(in.Args)
	if err != nil {
		return 0, fmt.Errorf("journal: arguments of %s for job %d: %w", in.Verb, in.Job, err)
	}
	res, err := j.exec(j.put.begin, micros(in.At), in.Cluster, in.Job, in.Submitted, in.Verb, args)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Finish writes an intent's outcome: done, or failed with the reason. The error is ErrFinished if
// the intent already has an outcome.
func (j *Journal) Finish(id int64, at time.Time, failure error) error {
	if failure != nil {
		return j.Resolve(id, at, Failed+": "+failure.Error())
	}
	return j.Resolve(id, at, Done)
}

// Resolve writes an intent's outcome as a text, such as "lost: found done" after a crash.
func (j *Journal) Resolve(id int64, at time.Time, outcome string) error {
	if outcome == "" {
		return fmt.Errorf("journal: an empty outcome for intent %d", id)
	}
	res, err := j.exec(j.put.finish, micros(at), outcome, id)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return &Error{Op: "writing", Path: j.path, Err: fmt.Errorf("intent %d: %w", id, ErrFinished)}
	}
	return nil
}

// Event writes an event.
func (j *Journal) Event(ev Event) error {
	args, err := ev.row()
	if err != nil {
		return err
	}
	_, err = j.exec(j.put.event, args...)
	return err
}

// row returns the arguments of the statement that inserts an event.
func (ev Event) row() ([]any, error) {
	fields, err := encode(ev.Fields)
	if err != nil {
		return nil, fmt.Errorf("journal: fields of %s for job %d: %w", ev.Kind, ev.Job, err)
	}
	return []any{micros(ev.At), ev.Job, ev.Submitted, ev.Kind, ev.Text, fields}, nil
}

// Unfinished returns the intents without an outcome, in order. After a crash the actions of these
// intents may be half done. Unfinished fails if the arguments of an intent cannot be read, because
// no action may be taken if an intent is known only in part.
func (j *Journal) Unfinished() ([]Entry, error) {
	all, err := j.page(`WHERE kind = 'intent' AND outcome IS NULL ORDER BY id`)
	for _, e := range all {
		if text, unreadable := e.Args[Unreadable].(string); unreadable {
			return nil, explain("reading", j.path, fmt.Errorf("entry %d: the arguments %.40q are no JSON", e.ID, text))
		}
	}
	return all, err
}

// Entries returns every intent and event with an id above `since`, in order. An error ends the
// sequence.
func (j *Journal) Entries(since int64) iter.Seq2[Entry, error] {
	return j.pages(`WHERE id > ? ORDER BY id LIMIT ?`, since)
}

// JobEntries returns the entries of one job id, as Entries does.
func (j *Journal) JobEntries(job, since int64) iter.Seq2[Entry, error] {
	return j.pages(`WHERE id > ? AND job = ? ORDER BY id LIMIT ?`, since, job)
}

// EventsSince returns the last events since a time, in order. It returns at most `most` events.
func (j *Journal) EventsSince(at time.Time, most int) ([]Entry, error) {
	all, err := j.page(`WHERE at >= ? AND kind = 'event' ORDER BY id DESC LIMIT ?`, micros(at), most)
	slices.Reverse(all)
	return all, err
}

// pageSize is the number of entries in one read transaction. A long transaction would keep the
// writer from emptying its write-ahead log.
const pageSize = 512

func (j *Journal) pages(where string, since int64, others ...any) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			page, err := j.page(where, append(append([]any{since}, others...), pageSize)...)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				since = e.ID
			}
			if len(page) < pageSize {
				return
			}
		}
	}
}

func (j *Journal) page(where string, args ...any) ([]Entry, error) {
	rows, err := j.read.Query(`SELECT id, kind, at, cluster, job, submitted, verb, text, args, finished, outcome
		FROM entry `+where, args...)
	if err != nil {
		return nil, explain("reading", j.path, err)
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, explain("reading", j.path, err)
		}
		out = append(out, e)
	}
	return out, explain("reading", j.path, rows.Err())
}

func scan(rows *sql.Rows) (Entry, error) {
	var (
		e        Entry
		at       int64
		args     string
		finished sql.NullInt64
		outcome  sql.NullString
	)
	err := rows.Scan(&e.ID, &e.Kind, &at, &e.Cluster, &e.Job, &e.Submitted, &e.Verb, &e.Text, &args, &finished, &outcome)
	if err != nil {
		return e, err
	}
	e.At, e.Outcome = time.UnixMicro(at).UTC(), outcome.String
	if finished.Valid {
		e.Took = time.Duration(finished.Int64-at) * time.Microsecond
	}
	if args != "" {
		d := json.NewDecoder(strings.NewReader(args))
		d.UseNumber() // so that 1700000000 does not become 1.7e+09
		if err := d.Decode(&e.Args); err != nil {
			e.Args = map[string]any{Unreadable: args}
		}
	}
	return e, nil
}

// Unreadable is the only key in Entry.Args if the arguments cannot be parsed. Its value is the
// unparsed text.
const Unreadable = "unreadable"

// pruneBatch bounds one transaction of Prune, so that an intent does not wait long for it.
const pruneBatch = 1000

// Prune deletes entries older than the given time, except intents without an outcome. It returns
// the number of deleted entries. Prune deletes in small batches, and stops between two batches when
// ctx ends.
func (j *Journal) Prune(ctx context.Context, before time.Time) (int64, error) {
	var total int64
	for ctx.Err() == nil {
		res, err := j.exec(j.put.prune, micros(before), pruneBatch)
		if err != nil {
			return total, err
		}
		n, err := res.RowsAffected()
		total += n
		if err != nil || n < pruneBatch {
			return total, err
		}
	}
	return total, ctx.Err()
}

// KeepFor deletes entries older than `age`, immediately and then after each pause. It returns nil
// when ctx ends, and an error if the journal cannot be written.
func (j *Journal) KeepFor(ctx context.Context, age, pause time.Duration) error {
	for {
		if _, err := j.Prune(ctx, time.Now().Add(-age)); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func encode(m map[string]any) (string, error) {
	if len(m) == 0 {
		return "", nil
	}
	text, err := json.Marshal(m)
	return string(text), err
}

// exec runs one of the writer's statements.
func (j *Journal) exec(s *sql.Stmt, args ...any) (sql.Result, error) {
	if j.write == nil {
		return nil, &Error{Op: "writing", Path: j.path, Err: ErrReadOnly}
	}
	res, err := s.Exec(args...)
	return res, explain("writing", j.path, err)
}

// Acceptance returns the event with which a job was accepted. If `submitted` is negative, it
// returns the newest such event for the job's number. `found` is false if there is none.
func (j *Journal) Acceptance(job, submitted int64) (e Entry, found bool, err error) {
	order := "ASC" // the event is among the first entries of a job
	if submitted < 0 {
		order = "DESC"
	}
	entries, err := j.page(`WHERE job = ?1 AND kind = 'event' AND verb = 'accepted' AND (?2 < 0 OR submitted = ?2) ORDER BY id `+order+` LIMIT 1`, job, submitted)
	if err != nil || len(entries) == 0 {
		return Entry{}, false, err
	}
	return entries[0], true, nil
}
