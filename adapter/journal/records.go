package journal

import (
	"database/sql"
	"errors"
)

// ErrReadOnly is the error of a write to a journal that was opened by OpenReadOnly.
var ErrReadOnly = errors.New("it is open for reading only")

// A Record has the data about one managed job that the sidecar keeps across a restart.
type Record struct {
	Job       int64
	Submitted int64  // Unix seconds; names the job together with its id
	Data      []byte // JSON of managed.Record
	Damaged   error  // set by Records if Data is not what was written (ErrChanged)
}

// Put replaces a job's record and writes events, in one transaction.
func (j *Journal) Put(r Record, happened ...Event) error {
	if len(happened) == 0 {
		_, err := j.exec(j.put.record, r.Job, r.Submitted, summed(r.Data))
		return err
	}
	rows := make([][]any, len(happened))
	for i, ev := range happened {
		var err error
		if rows[i], err = ev.row(); err != nil {
			return err
		}
	}
	return j.whole(func(tx *sql.Tx) error {
		if _, err := tx.Stmt(j.put.record).Exec(r.Job, r.Submitted, summed(r.Data)); err != nil {
			return err
		}
		put := tx.Stmt(j.put.event)
		for _, args := range rows {
			if _, err := put.Exec(args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole calls the function `written` in one transaction.
func (j *Journal) whole(written func(*sql.Tx) error) error {
	if j.write == nil {
		return &Error{Op: "writing", Path: j.path, Err: ErrReadOnly}
	}
	tx, err := j.write.Begin()
	if err != nil {
		return explain("writing", j.path, err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := written(tx); err != nil {
		return explain("writing", j.path, err)
	}
	return explain("writing", j.path, tx.Commit())
}

// PutAll writes many records in one transaction, which costs about as much as one record.
func (j *Journal) PutAll(records []Record) error {
	if len(records) == 0 {
		return nil
	}
	return j.whole(func(tx *sql.Tx) error {
		put := tx.Stmt(j.put.record)
		for _, r := range records {
			if _, err := put.Exec(r.Job, r.Submitted, summed(r.Data)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutWhole replaces records, deletes the records of the jobs in `gone`, and writes events, in one
// transaction.
func (j *Journal) PutWhole(records, gone []Record, happened []Event) error {
	rows := make([][]any, len(happened))
	for i, ev := range happened {
		var err error
		if rows[i], err = ev.row(); err != nil {
			return err
		}
	}
	return j.whole(func(tx *sql.Tx) error {
		put, forget, tell := tx.Stmt(j.put.record), tx.Stmt(j.put.forget), tx.Stmt(j.put.event)
		for _, r := range records {
			if _, err := put.Exec(r.Job, r.Submitted, summed(r.Data)); err != nil {
				return err
			}
		}
		for _, r := range gone {
			if _, err := forget.Exec(r.Job, r.Submitted); err != nil {
				return err
			}
		}
		for _, args := range rows {
			if _, err := tell.Exec(args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delete deletes a job's record. It is no error if there is none.
func (j *Journal) Delete(job, submitted int64) error {
	_, err := j.exec(j.put.forget, job, submitted)
	return err
}

// Records returns every record, by job and submission. A record whose data changed since it was
// written has its field Damaged set.
func (j *Journal) Records() ([]Record, error) {
	rows, err := j.read.Query(`SELECT job, submitted, data FROM record ORDER BY job, submitted`)
	if err != nil {
		return nil, explain("reading", j.path, err)
	}
	defer rows.Close()
	var out []Record
	for rows.Next() {
		var r Record
		if err := rows.Scan(&r.Job, &r.Submitted, &r.Data); err != nil {
			return nil, explain("reading", j.path, err)
		}
		r.Data, r.Damaged = unsummed(r.Data)
		out = append(out, r)
	}
	return out, explain("reading", j.path, rows.Err())
}

// PutView replaces what `accordion status` shows.
func (j *Journal) PutView(data []byte) error {
	_, err := j.exec(j.put.view, notNil(data))
	return err
}

// View returns what PutView wrote last, and nil if it never did.
func (j *Journal) View() (data []byte, err error) { return j.only(`SELECT data FROM view`) }

// PutQueue replaces what `accordion queue` and `accordion explain` show.
func (j *Journal) PutQueue(data []byte) error {
	_, err := j.exec(j.put.queue, notNil(data))
	return err
}

// Queue returns what PutQueue wrote last, and nil if it never did.
func (j *Journal) Queue() (data []byte, err error) { return j.only(`SELECT data FROM queue`) }

// only returns the one row of a table, and nil if there is none.
func (j *Journal) only(query string) (data []byte, err error) {
	err = j.read.QueryRow(query).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, explain("reading", j.path, err)
}

// notNil replaces nil, which would be SQL's NULL, by an empty value. The tables refuse NULL.
func notNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
