package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/singleflight"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// keeper has cpusets made and cleaned for the sidecar. OAR's manager may take minutes on a slow node: who does not wait any more asks
// again, and then waits for the same. A node that cannot be made ready, or clean, is suspected, as OAR does it: no other job gets it.
type keeper struct {
	cpusets
	server *poker
	log    hclog.Logger

	life    context.Context
	stop    context.CancelFunc
	under   sync.WaitGroup // who waits for what is under way
	flights singleflight.Group
	left    chan []int64 // jobs that have left cpusets behind
}

func newKeeper(c cpusets, server *poker, log hclog.Logger) *keeper {
	k := &keeper{cpusets: c, server: server, log: log, left: make(chan []int64, 1)}
	k.life, k.stop = context.WithCancel(context.Background())
	k.under.Go(k.clear)
	return k
}

func (k *keeper) close() {
	k.stop()
	k.under.Wait()
}

// ready has a job's cpuset and key made on those of some hosts where they are noted and not made; whole are all hosts of the job.
// ErrBusy: not on all of them, or not yet.
func (k *keeper) ready(ctx context.Context, base int64, hosts, whole []string) error {
	if !k.used() {
		return nil
	}
	bad, err := k.flight(ctx, fmt.Sprint(makeReady, base, hosts), base, func(ctx context.Context) ([]badNode, error) { return k.make(ctx, base, hosts, whole) })
	if err == nil && len(bad) > 0 {
		err = fmt.Errorf("the cpuset of job %d cannot be made on %s: %w: %w", base, hostlist.Compact(namesOf(bad)), bad[0].err, adapter.ErrBusy)
	}
	return err
}

// cleaned has a job's cpusets and keys taken away where a condition holds, and what runs in them ended. ErrBusy: not yet.
func (k *keeper) cleaned(ctx context.Context, base int64, where string, args ...any) error {
	if !k.used() {
		return nil
	}
	_, err := k.flight(ctx, fmt.Sprint(makeClean, base, where, args), base, func(ctx context.Context) ([]badNode, error) { return k.clean(ctx, base, where, args...) })
	return err
}

// flight waits for what is begun, or was begun by another who asked for the same, for as long as ctx lets it.
func (k *keeper) flight(ctx context.Context, what string, job int64, do func(context.Context) ([]badNode, error)) ([]badNode, error) {
	began := k.flights.DoChan(what, func() (any, error) {
		ctx, cancel := context.WithTimeout(k.life, k.manager.conf.Patience)
		defer cancel()
		bad, err := do(ctx)
		if len(bad) > 0 && k.life.Err() == nil {
			k.suspect(job, bad)
		}
		return bad, err
	})
	over := make(chan singleflight.Result, 1)
	k.under.Go(func() { over <- <-began })
	select {
	case r := <-over:
		bad, _ := r.Val.([]badNode)
		return bad, r.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("OAR's job resource manager takes longer: %w", adapter.ErrBusy)
	}
}

func namesOf(bad []badNode) []string {
	hosts := make([]string, len(bad))
	for i, b := range bad {
		hosts[i] = b.host
	}
	return hosts
}

// suspectedWithin is how long OAR's server is waited for to suspect a node.
const suspectedWithin = 5 * time.Second

// suspect has OAR suspect nodes. Whoever gives one back must not do so before.
func (k *keeper) suspect(job int64, bad []badNode) {
	for _, b := range bad {
		k.log.Warn("OAR's job resource manager fails on a node, which is suspected", "job", job, "node", b.host, "error", b.err)
	}
	ctx, cancel := context.WithTimeout(k.life, suspectedWithin)
	defer cancel()
	hosts := namesOf(bad)
	if err := k.db.suspect(ctx, job, hosts, bad[0].err); err != nil {
		k.log.Warn("nodes cannot be suspected", "nodes", hostlist.Compact(hosts), "error", err)
		return
	}
	k.server.poke(checks)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		where, args := k.on(hosts)
		alive := 0
		query := "SELECT COUNT(*) FROM resources WHERE state = 'Alive' AND " + strings.Replace(where, "host", "network_address", 1)
		err := rows(ctx, k.db.sql, "the nodes' states", query, args, func(r *sql.Rows) error { return r.Scan(&alive) })
		if err != nil || alive == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// mostExplained is how many characters OAR has room for.
const mostExplained = 254

// suspect writes down for OAR's server that it is to suspect hosts: by the event of a node that fails when a job is over, which changes no
// job, and after which OAR's own check of nodes (finaud) may find it well again.
func (d *database) suspect(ctx context.Context, job int64, hosts []string, why error) error {
	text := []rune(fmt.Sprintf("[Accordion] OAR suspects %s: job %d: %s", strings.Join(hosts, " "), job, line(why)))
	return d.change(ctx, func(tx *sql.Tx) error {
		now, err := d.second(ctx, tx)
		if err != nil {
			return err
		}
		event, err := d.insert(ctx, tx, "event_logs", "event_id", "type, job_id, date, description",
			"PING_CHECKER_NODE_SUSPECTED_END_JOB", job, now, string(text[:min(len(text), mostExplained)]))
		if err != nil {
			return err
		}
		for _, host := range slices.Compact(slices.Sorted(slices.Values(hosts))) {
			query := fmt.Sprintf("INSERT INTO event_log_hostnames (event_id, hostname) VALUES (%d, %s)", event, d.arg(1))
			if _, err := tx.ExecContext(ctx, query, host); err != nil {
				return err
			}
		}
		return nil
	})
}

// leftBehind is the condition that a cpuset's companion is over or, where it has none yet, that its job does not begin.
const leftBehind = `(c.companion <> 0 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = c.companion AND j.state NOT IN ('Terminated', 'Error'))
	OR c.companion = 0 AND NOT EXISTS (SELECT 1 FROM jobs j JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time
		WHERE j.job_id = c.base AND j.state IN ('Waiting', 'Hold') AND a.reservation <> ''))`

// look reads which jobs have left cpusets behind on nodes that are there, as when a companion was deleted and nobody else has cleaned
// up after it, and has them cleaned.
func (k *keeper) look(ctx context.Context, from querier) error {
	if !k.used() {
		return nil
	}
	var jobs []int64
	query := "SELECT DISTINCT c.base FROM accordion_cpusets c JOIN resources r ON r.network_address = c.host WHERE r.state = 'Alive' AND " + leftBehind
	err := rows(ctx, from, "the cpusets that are left", query, nil, func(r *sql.Rows) error {
		var job int64
		err := r.Scan(&job)
		jobs = append(jobs, job)
		return err
	})
	if len(jobs) > 0 {
		select {
		case k.left <- jobs:
		default: // it is at the last ones still, and the next look will tell
		}
	}
	return err
}

// clear cleans what look finds.
func (k *keeper) clear() {
	for {
		select {
		case <-k.life.Done():
			return
		case jobs := <-k.left:
			for _, job := range jobs {
				k.log.Info("a job's cpusets are left on nodes that it has not any more: they are cleaned", "job", job)
				if err := k.cleaned(k.life, job, leftBehind); err != nil && k.life.Err() == nil {
					k.log.Warn("cpusets are left", "job", job, "error", err)
				}
			}
		}
	}
}
