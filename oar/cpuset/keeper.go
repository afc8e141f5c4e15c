package cpuset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/singleflight"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// Keeper makes and cleans cpusets for the sidecar. OAR's manager may take minutes on a slow node. A caller whose
// context ends first may call again, and then waits for the same run of the manager. If a node cannot be prepared or
// cleaned, Keeper makes it Suspected, as OAR itself does, so that no other job gets the node.
type Keeper struct {
	Sets
	server *server.Notifier
	log    hclog.Logger

	life    context.Context
	stop    context.CancelFunc
	under   sync.WaitGroup // goroutines that wait for runs under way
	flights singleflight.Group
	left    chan []tables.Leftover
}

// NewKeeper returns a Keeper that works in the background until Close.
func NewKeeper(c Sets, server *server.Notifier, log hclog.Logger) *Keeper {
	k := &Keeper{Sets: c, server: server, log: log, left: make(chan []tables.Leftover, 1)}
	k.life, k.stop = context.WithCancel(context.Background())
	k.under.Go(k.clear)
	return k
}

// Close stops the work that is under way, and waits until it has stopped.
func (k *Keeper) Close() {
	k.stop()
	k.under.Wait()
}

// Ready creates the job's cpuset and key on the hosts where they are recorded but not made. `whole` lists all hosts of the job. The error
// is ErrBusy if that failed on a host or is not done yet.
func (k *Keeper) Ready(ctx context.Context, base int64, hosts, whole []string) error {
	if !k.Used() {
		return nil
	}
	bad, err := k.flight(ctx, fmt.Sprint(MakeReady, base, hosts), base, func(ctx context.Context) ([]BadNode, error) { return k.make(ctx, base, hosts, whole) })
	if err == nil && len(bad) > 0 {
		err = fmt.Errorf("the cpuset of job %d cannot be made on %s: %w: %w", base, hostlist.Compact(NamesOf(bad)), bad[0].Err, adapter.ErrBusy)
	}
	return err
}

// Cleaned removes the selected cpusets and keys of a job and ends what runs in them. The error is ErrBusy while that is
// not done.
func (k *Keeper) Cleaned(ctx context.Context, base int64, which tables.Which) error {
	if !k.Used() {
		return nil
	}
	_, err := k.flight(ctx, fmt.Sprint(MakeClean, base, which), base, func(ctx context.Context) ([]BadNode, error) { return k.Clean(ctx, base, which) })
	return err
}

// flight runs `do`, or joins a run under way with the same key, and waits for the result until ctx ends.
func (k *Keeper) flight(ctx context.Context, what string, job int64, do func(context.Context) ([]BadNode, error)) ([]BadNode, error) {
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
		bad, _ := r.Val.([]BadNode)
		return bad, r.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("OAR's job resource manager: not finished yet: %w", adapter.ErrBusy)
	}
}

// suspectedWithin bounds the wait for OAR's server to suspect a node.
const suspectedWithin = 5 * time.Second

// suspect has OAR make nodes Suspected, and waits until OAR has done so. The caller must not release a node earlier.
func (k *Keeper) suspect(job int64, bad []BadNode) {
	ctx, cancel := context.WithTimeout(k.life, suspectedWithin)
	defer cancel()
	alive, err := k.db.Suspect(ctx, job, NamesOf(bad), bad[0].Err)
	if err != nil {
		k.log.Warn("OAR could not be told to suspect nodes", "nodes", hostlist.Compact(NamesOf(bad)), "error", err)
	}
	for _, b := range bad {
		if slices.Contains(alive, b.host) { // a node that is not Alive needs no change of its state
			k.log.Warn("OAR's job resource manager fails on a node, which is suspected", "job", job, "node", b.host, "error", b.Err)
		}
	}
	look := time.NewTicker(server.LookEvery)
	defer look.Stop()
	for len(alive) > 0 {
		k.server.Notify(server.Checks)
		if alive, err = k.db.Alive(ctx, k.db.Sql, alive); err != nil {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// Look finds cpusets that jobs have left on nodes which they no longer hold. It has these cpusets cleaned in the
// background, on nodes that are up. Cpusets are left, for example, when a companion is deleted while no sidecar runs.
func (k *Keeper) Look(ctx context.Context, from database.Querier) error {
	if !k.Used() {
		return nil
	}
	found, err := k.db.Leftovers(ctx, from)
	if len(found) > 0 {
		select {
		case k.left <- found:
		default: // the previous cpusets are still being cleaned, and the next Look finds these cpusets again
		}
	}
	return err
}

// retryAfter is the interval at which cleaning is retried on Suspected nodes. Such nodes may be dead, and no job gets them meanwhile.
const retryAfter = 30 * time.Second

// clear cleans the cpusets that Look finds, until the Keeper is closed.
func (k *Keeper) clear() {
	tried := map[int64]time.Time{}
	for {
		select {
		case <-k.life.Done():
			return
		case found := <-k.left:
			maps.DeleteFunc(tried, func(_ int64, at time.Time) bool { return time.Since(at) > retryAfter })
			for _, one := range found {
				if _, lately := tried[one.Job]; lately && !one.Alive {
					continue
				}
				tried[one.Job] = time.Now()
				k.log.Info("cpusets of a job are left on nodes that it no longer has: cleaning them", "job", one.Job)
				if err := k.Cleaned(k.life, one.Job, tables.LeftCpusets); err != nil && k.life.Err() == nil {
					k.log.Warn("cpusets are left", "job", one.Job, "error", err)
				}
			}
		}
	}
}
