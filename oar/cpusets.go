package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// cpusets has the cpuset and the key of a job made on nodes that OAR does not know to be its, those of companions, and has them cleaned,
// by OAR's own manager. Where they are stands in a table before they are made, so that whoever comes by cleans them: the sidecar, one
// that takes its place, or the server's epilogue. Two of them never have to do with the same job at once.
type cpusets struct {
	db      *database
	manager manager
}

// used says whether OAR makes any.
func (c cpusets) used() bool { return c.manager.conf.Used() }

// note writes down that a job is to have its cpuset on hosts, which a companion holds for it; 0: none yet.
func (c cpusets) note(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.used() {
		return nil
	}
	for _, host := range hosts {
		for _, query := range []string{
			fmt.Sprintf("DELETE FROM accordion_cpusets WHERE base = %d AND host = %s", base, c.db.arg(1)),
			fmt.Sprintf("INSERT INTO accordion_cpusets (base, host, companion, made) VALUES (%d, %s, %d, 0)", base, c.db.arg(1), companion),
		} {
			if _, err := tx.ExecContext(ctx, query, host); err != nil {
				return fmt.Errorf("noting the cpuset on %s: %w", host, err)
			}
		}
	}
	return nil
}

// expect notes hosts on which a job is to begin and for which it has no companions yet; not while those of an earlier try are cleaned.
func (c cpusets) expect(ctx context.Context, base int64, hosts []string) error {
	return c.db.alone(ctx, cpusetsOf(base), func() error {
		return c.db.change(ctx, func(tx *sql.Tx) error { return c.note(ctx, tx, base, 0, hosts) })
	})
}

// pass writes down that another companion holds hosts from now on.
func (c cpusets) pass(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.used() {
		return nil
	}
	where, args := c.on(hosts)
	query := fmt.Sprintf("UPDATE accordion_cpusets SET companion = %d WHERE base = %d AND %s", companion, base, where)
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("passing cpusets on: %w", err)
	}
	return nil
}

// on is the condition that a row is of one of some hosts.
func (c cpusets) on(hosts []string) (where string, args []any) {
	places := make([]string, len(hosts))
	for i, host := range hosts {
		places[i], args = c.db.arg(i+1), append(args, host)
	}
	if len(hosts) == 0 {
		return "1 = 0", nil
	}
	return "host IN (" + strings.Join(places, ", ") + ")", args
}

// of is the condition that a row is of one of some companions.
func of(companions ...int64) string { return "companion IN (" + list(companions) + ")" }

// make has the job's cpuset and key made where they are noted and not made, of some hosts; whole are all hosts of the job. It gives
// the nodes on which that failed.
func (c cpusets) make(ctx context.Context, base int64, hosts, whole []string) (bad []badNode, err error) {
	if !c.used() {
		return nil, nil
	}
	err = c.db.alone(ctx, cpusetsOf(base), func() error {
		where, args := c.on(hosts)
		rows, err := c.rows(ctx, base, "made < 2 AND "+where, args)
		if err != nil || len(rows) == 0 {
			return err
		}
		job, err := c.describe(ctx, base, hostsOf(rows), whole)
		if err == nil {
			err = c.write(ctx, base, rows, "UPDATE accordion_cpusets SET made = 1")
		}
		if err == nil {
			bad, err = c.manager.send(ctx, makeReady, hostsOf(rows), job)
		}
		if err == nil {
			err = c.write(ctx, base, without(rows, bad), "UPDATE accordion_cpusets SET made = 2")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("making the cpuset of job %d on %s: %w", base, strings.Join(hosts, ", "), err)
	}
	return bad, err
}

// clean has the job's cpusets and keys taken away where a condition holds, with all that runs in them, and gives the nodes on which that
// failed. A node that is switched off is left for later: what is noted stays noted.
func (c cpusets) clean(ctx context.Context, base int64, where string, args ...any) (bad []badNode, err error) {
	if !c.used() {
		return nil, nil
	}
	err = c.db.alone(ctx, cpusetsOf(base), func() error {
		rows, err := c.rows(ctx, base, "("+where+")", args)
		if err != nil || len(rows) == 0 {
			return err
		}
		begun := slices.DeleteFunc(slices.Clone(rows), func(r cpuset) bool { return r.made == 0 })
		if len(begun) > 0 {
			bad, err = c.take(ctx, base, hostsOf(begun))
		}
		if err == nil {
			err = c.write(ctx, base, without(rows, bad), "DELETE FROM accordion_cpusets")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("cleaning the cpusets of job %d: %w", base, err)
	}
	return bad, err
}

// take has the manager clean hosts. Where it fails it has to make there first what it is to clean: OAR 2.6's fails where there is nothing,
// as when it had cleaned the node already and who asked for it was killed before he could write that down.
func (c cpusets) take(ctx context.Context, base int64, hosts []string) (still []badNode, err error) {
	job, err := c.describe(ctx, base, hosts, nil)
	if err != nil {
		return nil, err
	}
	bad, err := c.manager.send(ctx, makeClean, hosts, job)
	if err != nil {
		return nil, err
	}
	var answered []string
	for _, b := range bad {
		if b.answered() {
			answered = append(answered, b.host)
		} else {
			still = append(still, b)
		}
	}
	if len(answered) == 0 {
		return still, nil
	}
	if _, err := c.manager.send(ctx, makeReady, answered, job); err != nil {
		return nil, err
	}
	more, err := c.manager.send(ctx, makeClean, answered, job)
	return append(still, more...), err
}

// A cpuset is one that is noted.
type cpuset struct {
	host      string
	companion int64
	made      int
}

func hostsOf(rows []cpuset) []string {
	hosts := make([]string, len(rows))
	for i, r := range rows {
		hosts[i] = r.host
	}
	return hosts
}

// without leaves bad nodes out.
func without(rows []cpuset, bad []badNode) (good []cpuset) {
	failed := map[string]bool{}
	for _, b := range bad {
		failed[b.host] = true
	}
	for _, r := range rows {
		if !failed[r.host] {
			good = append(good, r)
		}
	}
	return good
}

// rows reads which of a job's are noted, for which a condition holds, on nodes that OAR has and does not take for switched off.
func (c cpusets) rows(ctx context.Context, base int64, where string, args []any) (found []cpuset, err error) {
	query := fmt.Sprintf(`SELECT c.host, c.companion, c.made FROM accordion_cpusets c WHERE c.base = %d AND %s
		AND EXISTS (SELECT 1 FROM resources r WHERE r.network_address = c.host AND r.state IN ('Alive', 'Suspected')) ORDER BY c.host`, base, where)
	err = rows(ctx, c.db.sql, "the cpusets", query, args, func(row *sql.Rows) error {
		var one cpuset
		err := row.Scan(&one.host, &one.companion, &one.made)
		found = append(found, one)
		return err
	})
	return found, err
}

// write changes rows that are as they were read: another companion may have been given the host since. It is done though a node has taken
// all the time that there was.
func (c cpusets) write(ctx context.Context, base int64, rows []cpuset, change string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, r := range rows {
		query := fmt.Sprintf("%s WHERE base = %d AND host = %s AND companion = %d", change, base, c.db.arg(1), r.companion)
		if _, err := c.db.sql.ExecContext(ctx, query, r.host); err != nil {
			return err
		}
	}
	return nil
}

// cpusetsOf is the lock of those who have to do with a job's cpusets.
func cpusetsOf(base int64) int64 { return 0x6370757365740000 ^ base }
