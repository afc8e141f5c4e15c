// Package cpuset has OAR's own job resource manager make and clean the cpusets and keys of evolving jobs on nodes that OAR does not
// count as theirs. Its callers say which job holds which node.
//
//	sets := cpuset.New(tables, conf.Manager, reach, log)
//	err := sets.Expect(ctx, job, hosts)
//
// OAR calls Prologue when a job starts on its node, and Epilogue when the job has ended. Both work without a sidecar.
package cpuset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// Sets has the cpuset and the key of a job made on nodes that OAR does not know to be its, those of companions, and has them cleaned,
// by OAR's own manager. Where they are stands in a table before they are made, so that whoever comes by cleans them: the sidecar, one
// that takes its place, or the server's epilogue. Two of them never have to do with the same job at once.
type Sets struct {
	db      tables.Tables
	manager manager
}

// New is the cpusets of the jobs in these tables, made by this manager on nodes that are reached so.
func New(db tables.Tables, c conf.Manager, nodes server.Remote, log hclog.Logger) Sets {
	return Sets{db: db, manager: manager{conf: c, nodes: nodes, log: log}}
}

// Used says whether OAR makes any.
func (c Sets) Used() bool { return c.manager.conf.Used() }

// Note writes down that a job is to have its cpuset on hosts, which a companion holds for it; 0: none yet.
func (c Sets) Note(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.Used() {
		return nil
	}
	return c.db.NoteCpusets(ctx, tx, base, companion, hosts)
}

// Expect notes hosts on which a job is to begin and for which it has no companions yet; not while those of an earlier try are cleaned.
func (c Sets) Expect(ctx context.Context, base int64, hosts []string) error {
	return c.db.WithLock(ctx, base, func() error {
		return c.db.Change(ctx, func(tx *sql.Tx) error { return c.Note(ctx, tx, base, 0, hosts) })
	})
}

// Pass writes down that another companion holds hosts from now on.
func (c Sets) Pass(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.Used() {
		return nil
	}
	return c.db.PassCpusets(ctx, tx, base, companion, c.db.CpusetsOn(hosts))
}

// make has the job's cpuset and key made where they are noted and not made, of some hosts; whole are all hosts of the job. It gives
// the nodes on which that failed.
func (c Sets) make(ctx context.Context, base int64, hosts, whole []string) (bad []BadNode, err error) {
	if !c.Used() {
		return nil, nil
	}
	err = c.db.WithLock(ctx, base, func() error {
		rows, err := c.db.Cpusets(ctx, base, c.db.CpusetsOn(hosts))
		rows = slices.DeleteFunc(rows, func(r tables.Cpuset) bool { return r.Made == tables.Made })
		if err != nil || len(rows) == 0 {
			return err
		}
		job, err := c.describe(ctx, base, hostsOf(rows), whole)
		if err == nil {
			err = c.db.CpusetsAre(ctx, base, rows, tables.Begun)
		}
		if err == nil {
			bad, err = c.manager.send(ctx, MakeReady, hostsOf(rows), job)
		}
		if err == nil {
			err = c.db.CpusetsAre(ctx, base, without(rows, bad), tables.Made)
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("making the cpuset of job %d on %s: %w", base, strings.Join(hosts, ", "), err)
	}
	return bad, err
}

// Clean has some of the job's cpusets and keys taken away, with all that runs in them, and gives the nodes on which that
// failed. A node that is switched off is left for later: what is noted stays noted.
func (c Sets) Clean(ctx context.Context, base int64, which tables.Which) (bad []BadNode, err error) {
	if !c.Used() {
		return nil, nil
	}
	err = c.db.WithLock(ctx, base, func() error {
		rows, err := c.db.Cpusets(ctx, base, which)
		if err != nil || len(rows) == 0 {
			return err
		}
		begun := slices.DeleteFunc(slices.Clone(rows), func(r tables.Cpuset) bool { return r.Made == tables.Noted })
		if len(begun) > 0 {
			bad, err = c.take(ctx, base, hostsOf(begun))
		}
		if err == nil {
			err = c.db.ForgetCpusets(ctx, base, without(rows, bad))
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
func (c Sets) take(ctx context.Context, base int64, hosts []string) (still []BadNode, err error) {
	job, err := c.describe(ctx, base, hosts, nil)
	if err != nil {
		return nil, err
	}
	bad, err := c.manager.send(ctx, MakeClean, hosts, job)
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
	if _, err := c.manager.send(ctx, MakeReady, answered, job); err != nil {
		return nil, err
	}
	more, err := c.manager.send(ctx, MakeClean, answered, job)
	return append(still, more...), err
}

func hostsOf(rows []tables.Cpuset) []string {
	hosts := make([]string, len(rows))
	for i, r := range rows {
		hosts[i] = r.Host
	}
	return hosts
}

// without leaves bad nodes out.
func without(rows []tables.Cpuset, bad []BadNode) (good []tables.Cpuset) {
	failed := map[string]bool{}
	for _, b := range bad {
		failed[b.host] = true
	}
	for _, r := range rows {
		if !failed[r.Host] {
			good = append(good, r)
		}
	}
	return good
}

// A BadNode says why a node could not be made ready, or clean.
type BadNode struct {
	host string
	Err  error
}

// answered says whether the node was reached, and what ran there failed.
func (b BadNode) answered() bool {
	var exit *exec.ExitError
	return errors.As(b.Err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() != sshFailed
}

// NamesOf returns the names of nodes that failed.
func NamesOf(bad []BadNode) []string {
	hosts := make([]string, len(bad))
	for i, b := range bad {
		hosts[i] = b.host
	}
	return hosts
}
