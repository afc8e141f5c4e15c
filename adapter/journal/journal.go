// Package journal keeps the sidecar's durable state in one SQLite file. The file has every intent,
// which is written before the action is carried out, and the outcome of the action. It also has the
// events and the record of each managed job, and the documents that `accordion status` shows.
//
// The journal is neither the log, which hclog writes, nor a source of truth about the cluster.
// After a crash the batch system is right, and the journal only shows which actions may be half
// done.
//
//	j, err := journal.Open("/var/lib/accordion/journal.db")
//	…
//	id, err := j.Begin(journal.Intent{At: now, Job: 7, Submitted: 1700000000, Verb: "shrink"}) // on disk from here
//	err = j.Finish(id, clock.Now(), system.Shrink(ctx, key, keep))
//
// One process writes: a lock file next to the journal keeps a second sidecar out. Any number of
// processes may read at the same time, with OpenReadOnly. A Journal may be used by several
// goroutines.
package journal

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"accordion/adapter/lockfile"
)

// applicationID marks a file as ours in SQLite's header ("Acco").
const applicationID = 0x4163636f

// A Journal is an open journal.
type Journal struct {
	path  string  // as given to Open
	file  string  // the file itself, after symbolic links
	write *sql.DB // one connection; nil if read only
	read  *sql.DB
	lock  *lockfile.Lock // nil if read only
	put   statements
}

// statements has the writer's prepared statements.
type statements struct {
	begin, finish, event, record, forget, view, queue, prune *sql.Stmt
}

// Open opens the journal for the sidecar, and creates it and its folder if they are absent. From
// then on only the journal's owner may open its files, because Open replaces files that others
// could open by copies. If the path is a symbolic link, the journal is the file to which it leads.
// Open fails if another sidecar has the journal open (ErrInUse), if the file is on a network file
// system, or if the file is damaged or was written by a newer Accordion. The error says what to do.
func Open(path string) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	file, err := resolve(path)
	if err != nil {
		return nil, &Error{Op: "opening", Path: path, Err: err, Hint: "name the file itself in [journal] path"}
	}
	if err := prepare(file); err != nil {
		return nil, err
	}
	held, err := acquire(file)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, file: file, lock: held}
	if err := renew(file); err != nil {
		j.Close()
		return nil, explain("opening", path, err)
	}
	if err := j.openWriter(); err != nil {
		j.Close()
		return nil, explain("opening", path, err)
	}
	j.read = open(file, readerOptions)
	return j, nil
}

// OpenReadOnly opens the journal for reading, whether or not a sidecar is writing it. The file must
// exist.
func OpenReadOnly(path string) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	// SQLite reports an absent or unreadable file as "unable to open database file", so ask the
	// kernel first. Do not open the file for this check, because closing it would drop the locks
	// that this process has on the file.
	if err := accessible(path, unix.R_OK); err != nil {
		return nil, missing(path, err)
	}
	file, err := filepath.EvalSymlinks(path) // as SQLite does
	if err != nil {
		return nil, missing(path, err)
	}
	j := &Journal{path: path, file: file, read: open(file, readerOptions)}
	version, err := schema(context.Background(), j.read)
	switch {
	case err != nil:
		err = explain("opening", path, err)
	case version == 0:
		err = &Error{Op: "opening", Path: path, Err: errors.New("it has no tables yet"),
			Hint: "start the sidecar on it once: accordion serve --config FILE"}
	case version < newest:
		err = &Error{Op: "opening", Path: path, Err: errors.New("an older Accordion wrote it"),
			Hint: "start the sidecar of this version on it once, or use the older program to read it"}
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Close closes the file and releases its lock.
func (j *Journal) Close() error {
	var errs []error
	// The writer is closed last, because the last connection to close empties the write-ahead log,
	// which a reader cannot do.
	for _, db := range []*sql.DB{j.read, j.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if j.lock != nil {
		errs = append(errs, j.lock.Release())
	}
	if err := errors.Join(errs...); err != nil {
		return explain("closing", j.path, err)
	}
	return nil
}

// Path returns the path of the journal's file, as it was opened.
func (j *Journal) Path() string { return j.path }

// Connections wait five seconds for a lock before they give up. The writer takes the write lock at
// the begin of a transaction, so that no transaction fails half way. Every commit is on the disk
// before it returns.
const (
	writerOptions = "_journal_mode=WAL&_txlock=immediate&_foreign_keys=on&_synchronous=FULL&_busy_timeout=5000"
	readerOptions = "mode=ro&_query_only=on&_busy_timeout=5000"
)

func open(path, options string) *sql.DB {
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options}).String()
	db, err := sql.Open("sqlite3", name)
	if err != nil {
		// Only an unknown driver name leads here.
		panic("journal: " + err.Error())
	}
	return db
}

func (j *Journal) openWriter() error {
	j.write = open(j.file, writerOptions)
	j.write.SetMaxOpenConns(1)
	if err := j.keepLog(); err != nil {
		return err
	}
	if err := migrate(j.write); err != nil {
		return err
	}
	if err := check(j.write); err != nil {
		return err
	}
	return j.prepareStatements()
}

// keepLog leaves the (empty) write-ahead log next to the journal when the writer closes. A user
// without write permission to the folder cannot open a WAL database that has no log. A log that
// grew is cut when SQLite starts it again.
func (j *Journal) keepLog() error {
	conn, err := j.write.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA journal_size_limit = %d", walLimit)); err != nil {
		return err
	}
	return conn.Raw(func(driver any) error {
		return driver.(*sqlite3.SQLiteConn).SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, 1)
	})
}

func (j *Journal) prepareStatements() error {
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{
		{&j.put.begin, `INSERT INTO entry (kind, at, cluster, job, submitted, verb, text, args)
			VALUES ('intent', ?, ?, ?, ?, ?, '', ?)`},
		{&j.put.finish, `UPDATE entry SET finished = ?, outcome = ? WHERE id = ? AND kind = 'intent' AND outcome IS NULL`},
		{&j.put.event, `INSERT INTO entry (kind, at, cluster, job, submitted, verb, text, args)
			VALUES ('event', ?, '', ?, ?, ?, ?, ?)`},
		{&j.put.record, `INSERT INTO record (job, submitted, data) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET data = excluded.data`},
		{&j.put.forget, `DELETE FROM record WHERE job = ? AND submitted = ?`},
		{&j.put.view, `INSERT INTO view (one, data) VALUES (1, ?)
			ON CONFLICT DO UPDATE SET data = excluded.data`},
		{&j.put.queue, `INSERT INTO queue (one, data) VALUES (1, ?)
			ON CONFLICT DO UPDATE SET data = excluded.data`},
		{&j.put.prune, `DELETE FROM entry WHERE id IN (SELECT id FROM entry
			WHERE at < ? AND (kind = 'event' OR outcome IS NOT NULL) ORDER BY at LIMIT ?)`},
	} {
		s, err := j.write.Prepare(p.text)
		if err != nil {
			return err
		}
		*p.into = s
	}
	return nil
}

//go:embed migrations/*.sql
var migrations embed.FS

// newest is the schema this program writes: the highest number under migrations/.
const newest = 2

// migrate brings the file to the newest schema. Each migration is one transaction.
func migrate(db *sql.DB) error {
	ctx := context.Background()
	at, err := schema(ctx, db)
	if err != nil {
		return err
	}
	for ; at < newest; at++ {
		text, err := migrations.ReadFile("migrations/" + strconv.Itoa(at+1) + ".sql")
		if err != nil {
			return err
		}
		script := []string{string(text), fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("PRAGMA user_version = %d", at+1)}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(strings.Join(script, ";\n")); err != nil {
			tx.Rollback()
			return fmt.Errorf("migration %d: %w", at+1, err)
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("migration %d: %w", at+1, err)
		}
	}
	return nil
}

var (
	errNewer   = errors.New("it was written by a newer Accordion")
	errForeign = errors.New("it is another program's SQLite file")
)

// schema returns the file's schema version, 0 for a new file.
func schema(ctx context.Context, db *sql.DB) (int, error) {
	var version, app, tables int
	err := db.QueryRowContext(ctx, `SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version v, pragma_application_id a`).Scan(&version, &app, &tables)
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (app != 0 || version != 0 || tables != 0):
		return 0, errForeign
	case version > newest:
		return 0, fmt.Errorf("%w (schema %d, this one knows up to %d)", errNewer, version, newest)
	}
	return version, nil
}

// check finds most damage at the start. It takes time proportional to the size of the file, which
// pruning bounds.
func check(db *sql.DB) error {
	var found string
	if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", sqlite3.Error{Code: sqlite3.ErrCorrupt}, found)
	}
	return nil
}

// micros returns a time as the journal stores it, in microseconds.
func micros(t time.Time) int64 { return t.UnixMicro() }
