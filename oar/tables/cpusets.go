package tables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"accordion/oar/database"
)

// A Cpuset is one that is noted for a job: a host on which the job's cpuset and key are, or are to be.
type Cpuset struct {
	Host      string
	Companion int64 // the job that holds the host for it; 0: none yet
	Made      int   // Noted, Begun or Made
}

// How far a cpuset is.
const (
	Noted = iota // nothing was done yet
	Begun        // it may be there
	Made         // it is there
)

// Which cpusets of a job are meant.
type Which struct {
	where string // true of a row
	args  []any
}

// AllCpusets are all of a job.
var AllCpusets = Which{where: "1 = 1"}

// LeftCpusets are those whose companion is over or, where they have none yet, whose job does not begin.
var LeftCpusets = Which{where: `(c.companion <> 0 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = c.companion AND j.state NOT IN ('Terminated', 'Error'))
	OR c.companion = 0 AND NOT EXISTS (SELECT 1 FROM jobs j JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time
		WHERE j.job_id = c.base AND j.state IN ('Waiting', 'Hold') AND a.reservation <> ''))`}

// CpusetsOf are those that some companions hold.
func CpusetsOf(companions ...int64) Which {
	return Which{where: "companion IN (" + database.List(companions) + ")"}
}

// CpusetsOn are those on some hosts.
func (d Tables) CpusetsOn(hosts []string) (w Which) {
	w.where, w.args = d.In("host", hosts)
	return w
}

// NoteCpusets writes down that a job is to have its cpuset on hosts, which a companion holds for it; 0: none yet. One that was begun there
// before, for a start or a growth that came to nothing, may still be there: it is begun from now on too, so that whoever cleans looks.
func (d Tables) NoteCpusets(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	for _, host := range hosts {
		if err := d.noteCpuset(ctx, tx, base, companion, host); err != nil {
			return fmt.Errorf("noting the cpuset on %s: %w", host, err)
		}
	}
	return nil
}

func (d Tables) noteCpuset(ctx context.Context, tx *sql.Tx, base, companion int64, host string) error {
	there := fmt.Sprintf("base = %d AND host = %s", base, d.Arg(1))
	before, err := database.Column[int](ctx, tx, "the cpuset", "SELECT made FROM accordion_cpusets WHERE "+there, host)
	if err != nil {
		return err
	}
	made := Noted
	if slices.ContainsFunc(before, func(made int) bool { return made != Noted }) {
		made = Begun
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM accordion_cpusets WHERE "+there, host); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO accordion_cpusets (base, host, companion, made) VALUES (%d, %s, %d, %d)", base, d.Arg(1), companion, made), host)
	return err
}

// PassCpusets writes down that another companion holds some of a job's from now on.
func (d Tables) PassCpusets(ctx context.Context, tx *sql.Tx, base, companion int64, which Which) error {
	query := fmt.Sprintf("UPDATE accordion_cpusets SET companion = %d WHERE base = %d AND %s", companion, base, which.where)
	if _, err := tx.ExecContext(ctx, query, which.args...); err != nil {
		return fmt.Errorf("passing cpusets on: %w", err)
	}
	return nil
}

// Cpusets reads which of a job's are noted, on nodes that OAR has and does not take for switched off.
func (d Tables) Cpusets(ctx context.Context, base int64, which Which) ([]Cpuset, error) {
	query := fmt.Sprintf(`SELECT c.host, c.companion, c.made FROM accordion_cpusets c WHERE c.base = %d AND (%s)
		AND EXISTS (SELECT 1 FROM resources r WHERE r.network_address = c.host AND r.state IN ('Alive', 'Suspected')) ORDER BY c.host`, base, which.where)
	return database.All(ctx, d.Sql, "the cpusets", query, which.args, func(c *Cpuset) []any { return []any{&c.Host, &c.Companion, &c.Made} })
}

// CpusetsAre writes down how far some are.
func (d Tables) CpusetsAre(ctx context.Context, base int64, rows []Cpuset, made int) error {
	return d.changeCpusets(ctx, base, rows, fmt.Sprintf("UPDATE accordion_cpusets SET made = %d", made))
}

// ForgetCpusets takes the notes of some away.
func (d Tables) ForgetCpusets(ctx context.Context, base int64, rows []Cpuset) error {
	return d.changeCpusets(ctx, base, rows, "DELETE FROM accordion_cpusets")
}

// changeCpusets changes rows that are as they were read: another companion may have been given the host since. It is done though a node
// has taken all the time that there was.
func (d Tables) changeCpusets(ctx context.Context, base int64, rows []Cpuset, change string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, r := range rows {
		query := fmt.Sprintf("%s WHERE base = %d AND host = %s AND companion = %d", change, base, d.Arg(1), r.Companion)
		if _, err := d.Sql.ExecContext(ctx, query, r.Host); err != nil {
			return err
		}
	}
	return nil
}

// LeftBehind is a job that has LeftCpusets on nodes that are there.
type LeftBehind struct {
	Job   int64
	Alive bool // one of the nodes is: OAR suspects the others
}

// LeftBehind reads which jobs have left cpusets behind, as when a companion was deleted and nobody else has cleaned up after it.
func (d Tables) LeftBehind(ctx context.Context, from database.Querier) ([]LeftBehind, error) {
	query := `SELECT c.base, MAX(CASE WHEN r.state = 'Alive' THEN 1 ELSE 0 END) FROM accordion_cpusets c JOIN resources r ON r.network_address = c.host
		WHERE r.state IN ('Alive', 'Suspected') AND (` + LeftCpusets.where + ") GROUP BY c.base"
	return database.All(ctx, from, "the cpusets that are left", query, nil, func(l *LeftBehind) []any { return []any{&l.Job, &l.Alive} })
}
