// Package cpuset runs OAR's own job resource manager to make and clean cpusets and job keys on the nodes of
// companions. OAR does not know that these nodes belong to the evolving job, so the callers name the job and its
// nodes.
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

// Sets makes and cleans the cpusets and keys of evolving jobs on their companions' nodes. It records each cpuset in a table before it makes
// the cpuset. So the sidecar, its successor or the server's epilogue will clean it, whatever happens. A lock ensures that only one of these
// three works for a job at a time.
type Sets struct {
	db      tables.Tables
	manager manager
}

// New returns the Sets that record cpusets in db and reach nodes through `nodes`.
func New(db tables.Tables, c conf.Manager, nodes server.Remote, log hclog.Logger) Sets {
	return Sets{db: db, manager: manager{conf: c, nodes: nodes, log: log}}
}

// Used reports whether OAR's configuration uses a job resource manager.
func (c Sets) Used() bool { return c.manager.conf.Used() }

// Note records in the caller's transaction that the job is to have its cpuset on the hosts. `companion` is the job that holds the hosts, or
// 0 while no companion does.
func (c Sets) Note(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.Used() {
		return nil
	}
	return c.db.NoteCpusets(ctx, tx, base, companion, hosts)
}

// Expect records hosts on which a job is to start and for which it has no companions yet. It waits while the cpusets of
// an earlier attempt are being cleaned.
func (c Sets) Expect(ctx context.Context, base int64, hosts []string) error {
	return c.db.WithLock(ctx, base, func() error {
		return c.db.Change(ctx, func(tx *sql.Tx) error { return c.Note(ctx, tx, base, 0, hosts) })
	})
}

// Pass records in the caller's transaction that the given companion, and no longer its predecessor, holds the hosts.
func (c Sets) Pass(ctx context.Context, tx *sql.Tx, base, companion int64, hosts []string) error {
	if !c.Used() {
		return nil
	}
	return c.db.PassCpusets(ctx, tx, base, companion, c.db.CpusetsOn(hosts))
}

// make creates the job's cpuset and key on the hosts where they are recorded but not made yet. The parameter `whole` lists all hosts of the
// job. make returns the nodes on which it failed.
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

// Clean removes the selected cpusets and keys of the job, and ends the processes in them. It returns the nodes on which that failed, and
// keeps their records. It also keeps the records of nodes that are switched off, for a later call.
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
			bad, err = c.cleanHosts(ctx, base, hostsOf(begun))
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

// cleanHosts runs the manager to clean the hosts. OAR 2.6's manager fails on a node where there is nothing to clean, for example because an
// earlier caller cleaned the node and was killed before it recorded that. So on nodes where the manager ran and failed, cleanHosts makes
// the cpuset and then cleans again.
func (c Sets) cleanHosts(ctx context.Context, base int64, hosts []string) (still []BadNode, err error) {
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

// without returns the rows of all nodes except the bad ones.
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

// A BadNode is a node that could not be prepared or cleaned, with the reason.
type BadNode struct {
	host string
	Err  error
}

// answered reports whether the node was reached and the manager failed there.
func (b BadNode) answered() bool {
	var exit *exec.ExitError
	return errors.As(b.Err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() != sshFailed
}

// NamesOf returns the names of the nodes.
func NamesOf(bad []BadNode) []string {
	hosts := make([]string, len(bad))
	for i, b := range bad {
		hosts[i] = b.host
	}
	return hosts
}
