package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/hostfile"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
	"accordion/slurm/sacct"
)

var _ adapter.Auditor = (*System)(nil)

// CurrentState implements adapter.Auditor. It reports only hosts files on this host.
func (s *System) CurrentState(ctx context.Context) (*adapter.CurrentState, error) {
	in, err := s.Inventory(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading nodes and reservations: %w", err)
	}
	records, err := s.Jobs.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading jobs: %w", err)
	}
	c, err := s.Recent(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	pool, err := output.PoolNodes(in, s.Pool)
	if err != nil {
		return nil, err
	}
	all := &adapter.CurrentState{At: time.Now(), Reservations: in.Reservations}
	for i := range records {
		r := records[i] // a copy, because the list may be cached
		if r.State == adapter.Done {
			continue
		}
		if r.Suspended {
			r.Nodes = nil // other jobs may run there
		}
		if r.Role() == output.Companion {
			all.Companions = append(all.Companions, r.ID)
		}
		all.Jobs = append(all.Jobs, r.Job)
	}
	for _, n := range in.Nodes {
		if pool[n.Name] {
			n.Idle = !strings.Contains(n.Why, "ALLOC") && !strings.Contains(n.Why, "MIX")
			all.Nodes = append(all.Nodes, n.Node)
		}
	}
	for _, p := range in.Partitions {
		if p.Exclusive {
			all.Exclusive = append(all.Exclusive, p.Name)
		}
	}
	all.Kept = hostfile.Kept("/tmp", c["ClusterName"], all.At)
	return all, nil
}

// accountingDelay limits one query of sacct. A day of a large site in a slow database takes minutes.
const accountingDelay = 5 * time.Minute

// Accounting implements adapter.Auditor, by sacct.
func (s *System) Accounting(ctx context.Context, since core.Time) (*adapter.Accounting, error) {
	in, err := s.Inventory(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading partitions: %w", err)
	}
	separator := "|" + rand.Text() + "|" // random, so that no job's name contains it
	run := client.New(client.Config{Bin: s.config.Bin, Conf: s.config.Conf, Timeout: accountingDelay, AtOnce: 1})
	defer run.Close()
	ask := func(options ...string) (string, error) {
		out, err := run.Run(ctx, client.Call{Program: "sacct", Args: append(options, "--allusers", "--duplicates", "--noheader", "--parsable2",
			"--delimiter="+separator, "--starttime="+asked(since), "--format="+sacct.BookedColumns)})
		if err != nil {
			return "", fmt.Errorf("asking sacct: %w", err)
		}
		return out.Stdout, nil
	}
	text, err := ask("--allocations")
	if err != nil {
		return nil, err
	}
	books, err := sacct.ReadBooked(strings.NewReader(text), separator, time.Now().Unix())
	if err != nil {
		return nil, err
	}
	var steps strings.Builder // the steps of jobs that changed their size, because Slurm may write these rows twice
	for ids := range slices.Chunk(resized(books), 500) {
		text, err := ask("--jobs=" + strings.Join(ids, ","))
		if err != nil {
			return nil, err
		}
		steps.WriteString(text)
	}
	if err := sacct.ReadSteps(strings.NewReader(steps.String()), separator, books); err != nil {
		return nil, err
	}
	for i := range books.Jobs {
		b := &books.Jobs[i]
		b.Alone = slices.ContainsFunc(in.Partitions, func(p output.Partition) bool { return p.Exclusive && p.Name == b.Partition })
	}
	if err := addHours(ctx, run, books, since, time.Now().Unix()); err != nil {
		if books.Unread++; books.Why == "" {
			books.Why = err.Error()
		}
	}
	return books, ctx.Err()
}

// resized returns the numbers of the jobs that have several rows.
func resized(books *adapter.Accounting) (ids []string) {
	for _, b := range books.Jobs {
		if b.Rows > 1 && b.Expands == 0 {
			ids = append(ids, strconv.FormatInt(int64(b.ID), 10))
		}
	}
	return ids
}

// slurmdbd adds up the usage of each full hour within `rollup` seconds after the hour's end.
const (
	fullHour core.Time = 3600
	rollup   core.Time = 600
)

// addHours asks sreport for the node-seconds of the full hours since a second. It does not compare CPUs, because
// sreport charges the idle CPUs of a reservation to the reservation's users.
func addHours(ctx context.Context, run *client.Runner, books *adapter.Accounting, since, now core.Time) error {
	from, to := (since+fullHour-1)/fullHour*fullHour, (now-rollup)/fullHour*fullHour
	if from >= to {
		return nil
	}
	out, err := run.Run(ctx, client.Call{Program: "sreport", Args: []string{"--noheader", "--parsable2", "-t", "seconds", "-T", "node", "cluster", "UserUtilizationByAccount",
		"format=login,used", "start=" + asked(from), "end=" + asked(to)}})
	if err != nil {
		return fmt.Errorf("asking sreport: %w", err)
	}
	hours, err := sacct.ReadHours(strings.NewReader(out.Stdout))
	if err != nil {
		return err
	}
	books.Hours, books.HoursFrom, books.HoursTo = hours, from, to
	return nil
}

// asked formats a second for the options of sacct and sreport.
func asked(at core.Time) string { return adapter.Instant(at).UTC().Format("2006-01-02T15:04:05") }
