package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// SQLite appends to the write-ahead log, and moves the log into the database when the log has about
// 4 MB. A program that reads for a long time, or holds a lock, prevents that. Then the log grows.

// walLimit is the size in bytes above which the log is emptied. SQLite cuts the log to this size
// when it starts to reuse the log.
const walLimit = 16 << 20

// WALBytes returns the size of the write-ahead log.
func (j *Journal) WALBytes() int64 { return WALBytes(j.file) }

// WALBytes returns the size in bytes of the write-ahead log of the journal at a path, and 0 if
// there is none.
func WALBytes(path string) int64 {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// WatchWAL checks the size of the write-ahead log after each pause until ctx ends. It empties a log
// that is larger than the limit. It calls `report` with an error if emptying the log fails twice in
// a row, and with nil when it succeeds again.
func (j *Journal) WatchWAL(ctx context.Context, pause time.Duration, report func(error)) error {
	failed := 0
	for {
		switch err := j.shortenWAL(ctx, walLimit); {
		case err != nil && ctx.Err() == nil:
			if failed++; failed == 2 {
				report(err)
			}
		case err == nil:
			if failed >= 2 {
				report(nil)
			}
			failed = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// shortenWAL empties the log if it has more than limit bytes.
func (j *Journal) shortenWAL(ctx context.Context, limit int64) error {
	size := j.WALBytes()
	if size <= limit {
		return nil
	}
	// This is a separate connection, which waits for readers for only 0.1 s, because writers have
	// to wait for it.
	db := open(j.file, "mode=rw&_busy_timeout=100&_synchronous=FULL")
	db.SetMaxOpenConns(1)
	err := errors.Join(foldLogWithin(ctx, db), db.Close())
	if left := j.WALBytes(); left > limit {
		return &Error{Op: "emptying the log of", Path: j.path,
			Err:  errors.Join(fmt.Errorf("its write-ahead log has %d MiB", left>>20), err),
			Hint: "a program has been reading the journal for long: find it with fuser -v " + j.file + "-shm"}
	}
	return nil
}

// errBusyLog means that other processes read the log, or hold its locks.
var errBusyLog = errors.New("the log is in use by others")

func foldLog(db *sql.DB) error { return foldLogWithin(context.Background(), db) }

// foldLogWithin moves the whole log into the database and empties it.
func foldLogWithin(ctx context.Context, db *sql.DB) error {
	var busy, pages, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errBusyLog
	}
	return nil
}
