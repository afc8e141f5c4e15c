package tables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"accordion/oar/database"
)

// A Cpuset records that a job's cpuset and key exist, or will exist, on a host.
type Cpuset struct {
	Host      string
	Companion int64 // the job that holds the host; 0 if there is none yet
	Made      int   // Noted, Begun or Made
}

// States of a cpuset.
const (
	Noted = iota // nothing has been made yet
	Begun        // the cpuset may exist
	Made         // the cpuset exists
)

// Which selects cpusets of a job.
type Which struct {
	where string // condition on a row
	args  []any
}

// AllCpusets selects all of a job's cpusets.
var AllCpusets = Which{where: "1 = 1"}

// LeftCpusets selects the cpusets whose companion has ended. It also selects cpusets without a companion whose job is not about to start.
var LeftCpusets = Which{where: `(c.companion <> 0 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = c.companion AND j.state NOT IN ('Terminated', 'Error'))
	OR c.companion = 0 AND NOT EXISTS (SELECT 1 FROM jobs j JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time
		WHERE j.job_id = c.base AND j.state IN ('Waiting', 'Hold') AND a.reservation <> ''))`}

// CpusetsOf selects the cpusets that the companions hold.
func CpusetsOf(companions ...int64) Which {
	return Which{where: "companion IN (" + database.List(companions) + ")"}
}

// CpusetsOn selects the cpusets on the hosts.
func (d Tables) CpusetsOn(hosts []string) (w Which) {
	w.where, w.args = d.In("host", hosts)
	return w
}

// NoteCpusets records that a job is to have its cpuset on the hosts. `companion` is the job that holds the hosts, or 0 while no companion
// does. If a cpuset of an earlier, failed start or growth may still exist, the new record gets the state Begun, so that the cpuset is
// cleaned.
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

// PassCpusets records that another companion holds the selected cpusets of a job from now on.
func (d Tables) PassCpusets(ctx context.Context, tx *sql.Tx, base, companion int64, which Which) error {
	query := fmt.Sprintf("UPDATE accordion_cpusets SET companion = %d WHERE base = %d AND %s", companion, base, which.where)
	if _, err := tx.ExecContext(ctx, query, which.args...); err != nil {
		return fmt.Errorf("passing on cpusets: %w", err)
	}
	return nil
}

// Cpusets reads the selected cpusets of a job, on nodes that OAR has and that are not switched off.
func (d Tables) Cpusets(ctx context.Context, base int64, which Which) ([]Cpuset, error) {
	query := fmt.Sprintf(`SELECT c.host, c.companion, c.made FROM accordion_cpusets c WHERE c.base = %d AND (%s)
		AND EXISTS (SELECT 1 FROM resources r WHERE r.network_address = c.host AND r.state IN ('Alive', 'Suspected')) ORDER BY c.host`, base, which.where)
	return database.All(ctx, d.Sql, "the cpusets", query, which.args, func(c *Cpuset) []any { return []any{&c.Host, &c.Companion, &c.Made} })
}

// CpusetsAre records the state of cpusets.
func (d Tables) CpusetsAre(ctx context.Context, base int64, rows []Cpuset, made int) error {
	return d.changeCpusets(ctx, base, rows, fmt.Sprintf("UPDATE accordion_cpusets SET made = %d", made))
}

// ForgetCpusets removes the records of cpusets.
func (d Tables) ForgetCpusets(ctx context.Context, base int64, rows []Cpuset) error {
	return d.changeCpusets(ctx, base, rows, "DELETE FROM accordion_cpusets")
}

// changeCpusets changes only rows that still have the companion that was read, because the host may have passed to another companion since.
// It runs even if ctx has ended, because a slow node may have used up the time.
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

// Leftover is a job that has LeftCpusets on nodes that are up.
type Leftover struct {
	Job   int64
	Alive bool // at least one of the nodes is Alive; the others are Suspected
}

// Leftovers reads which jobs have LeftCpusets. A job has some, for example, if a companion was deleted while no sidecar ran.
func (d Tables) Leftovers(ctx context.Context, from database.Querier) ([]Leftover, error) {
	query := `SELECT c.base, MAX(CASE WHEN r.state = 'Alive' THEN 1 ELSE 0 END) FROM accordion_cpusets c JOIN resources r ON r.network_address = c.host
		WHERE r.state IN ('Alive', 'Suspected') AND (` + LeftCpusets.where + ") GROUP BY c.base"
	return database.All(ctx, from, "the cpusets that are left", query, nil, func(l *Leftover) []any { return []any{&l.Job, &l.Alive} })
}
