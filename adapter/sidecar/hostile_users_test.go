package sidecar_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/slurm/client"
)

// rateLimited is a batch system like Slurm: its calls take time, and it limits how many client
// programs begin in a minute.
type rateLimited struct {
	adapter.BatchSystem
	pace    *client.Allowance
	adopted sync.Map // job ID to instant
}

func (r *rateLimited) Admit(ctx context.Context, verb string) (context.Context, func(), error) {
	return r.pace.Admit(ctx, client.Costs[verb], 0)
}

func (r *rateLimited) TryAdmit(ctx context.Context, verbs ...string) (context.Context, func(), time.Duration, string) {
	cost := 0
	for _, verb := range verbs {
		cost += client.Costs[verb]
	}
	ctx, done, later := r.pace.Try(ctx, cost, 0)
	return ctx, done, later, "its turn"
}

// use starts the client programs of a call.
func (r *rateLimited) use(ctx context.Context, verb string) error {
	for range client.Costs[verb] {
		one, err := r.pace.Turn(ctx)
		if err != nil {
			return err
		}
		r.pace.Begin(one)
	}
	return nil
}

func (r *rateLimited) Adopt(ctx context.Context, k adapter.Key) error {
	if err := r.use(ctx, "adopt"); err != nil {
		return err
	}
	err := r.BatchSystem.Adopt(ctx, k)
	if err == nil {
		r.adopted.LoadOrStore(k.ID, time.Now())
	}
	return err
}

func (r *rateLimited) Expand(ctx context.Context, j *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	if err := r.use(ctx, "expand"); err != nil {
		return adapter.Key{}, err
	}
	return r.BatchSystem.Expand(ctx, j, nodes, reservation)
}

func (r *rateLimited) Merge(ctx context.Context, j, e adapter.Key) error {
	if err := r.use(ctx, "merge"); err != nil {
		return err
	}
	return r.BatchSystem.Merge(ctx, j, e)
}

func (r *rateLimited) Shrink(ctx context.Context, k adapter.Key, keep []string) error {
	if err := r.use(ctx, "shrink"); err != nil {
		return err
	}
	return r.BatchSystem.Shrink(ctx, k, keep)
}

// slowJournal is a journal in memory whose writes take as long as on a disk.
type slowJournal struct {
	actions.Journal
	mu   sync.Mutex
	last int64
	seen func(e journal.Event)
}

func (s *slowJournal) write() int64 {
	time.Sleep(2 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

func (s *slowJournal) Begin(journal.Intent) (int64, error)    { return s.write(), nil }
func (s *slowJournal) Finish(int64, time.Time, error) error   { s.write(); return nil }
func (s *slowJournal) Resolve(int64, time.Time, string) error { s.write(); return nil }
func (s *slowJournal) Event(e journal.Event) error            { s.seen(e); s.write(); return nil }
func (s *slowJournal) Delete(job, submitted int64) error      { s.write(); return nil }
func (s *slowJournal) PutView(data []byte) error              { s.write(); return nil }
func (s *slowJournal) PutQueue(data []byte) error             { s.write(); return nil }
func (s *slowJournal) Put(_ journal.Record, all ...journal.Event) error {
	for _, e := range all {
		s.seen(e)
	}
	s.write()
	return nil
}

// lateness has the delays of another user's jobs, in seconds.
type lateness struct{ accepted, growths, shrinks []float64 }

func (l lateness) String() string {
	worst := func(all []float64) string {
		if len(all) == 0 {
			return "none"
		}
		slices.Sort(all)
		return fmt.Sprintf("%d, median %.1f s, worst %.1f s", len(all), all[len(all)/2], all[len(all)-1])
	}
	return fmt.Sprintf("accepted: %s; growths: %s; shrinks: %s", worst(l.accepted), worst(l.growths), worst(l.shrinks))
}

// hostileUsers has the number of hostile users, of jobs of each user, and of steps of each job. A
// step lasts ten seconds.
type hostileUsers struct{ users, jobs, steps int }

// nextTo returns how late another user's jobs are while jobs of hostile users run. The other user
// submits an evolving job after some minutes, and ordinary jobs in the last two minutes.
func nextTo(t *testing.T, c hostileUsers, after time.Duration) (l lateness) {
	delays := func(c embedded.Call) embedded.Fault {
		if c.Verb == "Expand" || c.Verb == "Shrink" {
			return embedded.Fault{Delay: 200 * time.Millisecond}
		}
		return embedded.Fault{Delay: 20 * time.Millisecond}
	}
	inWorld(t, embedded.Options{Nodes: 2*c.users*c.jobs + 24, Sweep: 30 * time.Second, Faults: delays}, func(w *world) {
		w.halt()
		r := &rateLimited{BatchSystem: w.System, pace: client.New(client.Config{Timeout: time.Second, AtOnce: 6, Clients: 60}).Pace}
		w.outer = r
		var ours sync.Map
		w.wrapJournal = func(j actions.Journal) actions.Journal {
			return &slowJournal{Journal: j, seen: func(e journal.Event) {
				late, is := e.Fields["lateness"].(float64)
				if _, mine := ours.Load(e.Job); !mine || !is {
					return
				}
				if e.Kind == "grew" {
					l.growths = append(l.growths, late)
				} else {
					l.shrinks = append(l.shrinks, late)
				}
			}}
		}
		w.settings.Overrun.Least = 3600
		w.serve()
		profile := strings.TrimSuffix(strings.Repeat("1x10s,2x10s,", c.steps/2), ",")
		work := slices.Repeat([]time.Duration{9 * time.Second}, c.steps)
		for user := range c.users {
			for range c.jobs {
				w.submit(embedded.JobSpec{
					User: fmt.Sprintf("eve%d", user), UID: uint32(2000 + user), Nodes: 1, Comment: "ep=" + profile, Managed: true, Script: embedded.Phases(work...),
				})
			}
		}
		time.Sleep(after)
		submitted := map[adapter.Key]time.Time{}
		for _, spec := range []embedded.JobSpec{
			{Nodes: 1, Comment: "ep=1x20s,3x20s,1x15s", Hold: true, Script: embedded.Phases(19*time.Second, 19*time.Second, 14*time.Second)},
			{Nodes: 1, Comment: "ep=1x30s", Hold: true, Script: embedded.Phases(29 * time.Second)},
		} {
			key := w.submit(spec)
			ours.Store(int64(key.ID), true)
			submitted[key] = time.Now()
			time.Sleep(time.Minute)
		}
		for key, at := range submitted {
			until := time.Now()
			if adopted, is := r.adopted.Load(key.ID); is {
				until = adopted.(time.Time)
			}
			l.accepted = append(l.accepted, until.Sub(at).Seconds())
		}
		for _, j := range w.Jobs() {
			if err := w.Cancel(j.Key); err != nil && j.State != adapter.Done {
				t.Log(err)
			}
		}
		time.Sleep(time.Minute)
	})
	return l
}

// Fifty users have jobs that need many times more client programs than may begin in a minute. They
// delay another user by only a few seconds. The first growths of the fifty users take more than
// eight minutes: 50 users × 4 programs, at 24 programs a minute.
func TestHostileUsersDoNotDelayOthers(t *testing.T) {
	l := nextTo(t, hostileUsers{users: 50, jobs: 1, steps: 6}, 9*time.Minute)
	t.Log(l)
	if len(l.accepted) != 2 || len(l.growths) != 1 || len(l.shrinks) != 1 || max(slices.Max(l.accepted), l.growths[0], l.shrinks[0]) > 15 {
		t.Errorf("next to 50 hostile users another user's jobs were late: %v", l)
	}
}
