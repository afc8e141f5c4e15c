package oar

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
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
	left    chan []leftover
}

// A leftover is a job that has left cpusets behind.
type leftover struct {
	job   int64
	alive bool // on a node that OAR takes for well; else on suspected ones only
}

func newKeeper(c cpusets, server *poker, log hclog.Logger) *keeper {
	k := &keeper{cpusets: c, server: server, log: log, left: make(chan []leftover, 1)}
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

// suspect has OAR suspect nodes, and waits until it does: whoever gives one back must not do so before.
func (k *keeper) suspect(job int64, bad []badNode) {
	ctx, cancel := context.WithTimeout(k.life, suspectedWithin)
	defer cancel()
	alive, err := k.db.suspect(ctx, job, bad)
	if err != nil {
		k.log.Warn("nodes cannot be suspected", "nodes", hostlist.Compact(namesOf(bad)), "error", err)
	}
	for _, b := range bad {
		if slices.Contains(alive, b.host) { // else OAR knows
			k.log.Warn("OAR's job resource manager fails on a node, which is suspected", "job", job, "node", b.host, "error", b.err)
		}
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for len(alive) > 0 {
		k.server.poke(checks)
		if alive, err = k.db.alive(ctx, k.db.sql, alive); err != nil {
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

// suspect writes down for OAR's server that it is to suspect those of some nodes that are alive, and says which: by the event of a node
// that fails when a job is over, which changes no job, and after which OAR's own check of nodes (finaud) may find it well again.
func (d *database) suspect(ctx context.Context, job int64, bad []badNode) (alive []string, err error) {
	err = d.change(ctx, func(tx *sql.Tx) (err error) {
		if alive, err = d.alive(ctx, tx, namesOf(bad)); err != nil || len(alive) == 0 {
			return err
		}
		now, err := d.second(ctx, tx)
		if err != nil {
			return err
		}
		text := []rune(fmt.Sprintf("[Accordion] OAR suspects %s: job %d: %s", strings.Join(alive, " "), job, line(bad[0].err)))
		event, err := d.insert(ctx, tx, "event_logs", "event_id", "type, job_id, date, description",
			"PING_CHECKER_NODE_SUSPECTED_END_JOB", job, now, string(text[:min(len(text), mostExplained)]))
		if err != nil {
			return err
		}
		for _, host := range alive {
			query := fmt.Sprintf("INSERT INTO event_log_hostnames (event_id, hostname) VALUES (%d, %s)", event, d.arg(1))
			if _, err := tx.ExecContext(ctx, query, host); err != nil {
				return err
			}
		}
		return nil
	})
	return alive, err
}

// alive are those of some hosts that OAR takes for well, or any resource of theirs.
func (d *database) alive(ctx context.Context, from querier, hosts []string) (well []string, err error) {
	places, args := make([]string, len(hosts)), make([]any, len(hosts))
	for i, host := range hosts {
		places[i], args[i] = d.arg(i+1), host
	}
	query := "SELECT DISTINCT network_address FROM resources WHERE state = 'Alive' AND network_address IN (" + strings.Join(places, ", ") + ") ORDER BY network_address"
	err = rows(ctx, from, "the nodes' states", query, args, func(r *sql.Rows) error {
		var host string
		err := r.Scan(&host)
		well = append(well, host)
		return err
	})
	return well, err
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
	var found []leftover
	query := `SELECT c.base, MAX(CASE WHEN r.state = 'Alive' THEN 1 ELSE 0 END) FROM accordion_cpusets c JOIN resources r ON r.network_address = c.host
		WHERE r.state IN ('Alive', 'Suspected') AND (` + leftBehind + ") GROUP BY c.base"
	err := rows(ctx, from, "the cpusets that are left", query, nil, func(r *sql.Rows) error {
		var one leftover
		err := r.Scan(&one.job, &one.alive)
		found = append(found, one)
		return err
	})
	if len(found) > 0 {
		select {
		case k.left <- found:
		default: // it is at the last ones still, and the next look will tell
		}
	}
	return err
}

// suspectsAgain is how often it is tried to clean nodes that OAR suspects: they may be dead, and nobody gets them meanwhile.
const suspectsAgain = 30 * time.Second

// clear cleans what look finds.
func (k *keeper) clear() {
	tried := map[int64]time.Time{}
	for {
		select {
		case <-k.life.Done():
			return
		case found := <-k.left:
			maps.DeleteFunc(tried, func(_ int64, at time.Time) bool { return time.Since(at) > suspectsAgain })
			for _, one := range found {
				if _, lately := tried[one.job]; lately && !one.alive {
					continue
				}
				tried[one.job] = time.Now()
				k.log.Info("a job's cpusets are left on nodes that it has not any more: they are cleaned", "job", one.job)
				if err := k.cleaned(k.life, one.job, leftBehind); err != nil && k.life.Err() == nil {
					k.log.Warn("cpusets are left", "job", one.job, "error", err)
				}
			}
		}
	}
}
