package sidecar_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

// picky is a batch system that holds one job again instead of starting it, as Slurm does if no node
// has what the job requires.
type picky struct {
	adapter.BatchSystem
	job   adapter.Key
	shape error // if not nil, shaping the job fails with this error instead

	mu    sync.Mutex
	tries []time.Time
	calls int
	tasks int // the number of tasks that readings show
}

func (p *picky) try(k adapter.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k == p.job {
		p.tries = append(p.tries, time.Now())
	}
	return k == p.job
}

func (p *picky) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
}

func (p *picky) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := p.BatchSystem.Observe(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 0; err == nil && i < len(s.Jobs); i++ {
		if j := &s.Jobs[i]; j.Key == p.job {
			j.Tasks = p.tasks
			if j.Held && j.Reservation != "" {
				j.Why = "BadConstraints"
			}
		}
	}
	return s, err
}

func (p *picky) Release(ctx context.Context, k adapter.Key) error {
	if p.count(); p.try(k) {
		return nil
	}
	return p.BatchSystem.Release(ctx, k)
}

func (p *picky) Shape(ctx context.Context, k adapter.Key, s adapter.Shape) error {
	if p.count(); p.shape != nil && p.try(k) {
		return p.shape
	}
	return p.BatchSystem.Shape(ctx, k, s)
}

func (p *picky) Reserve(ctx context.Context, r adapter.Reservation) error {
	p.count()
	return p.BatchSystem.Reserve(ctx, r)
}

func (p *picky) Hold(ctx context.Context, k adapter.Key) error {
	p.count()
	return p.BatchSystem.Hold(ctx, k)
}

// seen returns how often the job was released, and the number of calls.
func (p *picky) seen() (tries, calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tries), p.calls
}

// pauses returns the seconds between tries.
func (p *picky) pauses() (all []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 1; i < len(p.tries); i++ {
		all = append(all, int(p.tries[i].Sub(p.tries[i-1]).Round(time.Second)/time.Second))
	}
	return all
}

func inPickyWorld(t *testing.T, refusal error, story func(w *world, p *picky)) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		p := &picky{BatchSystem: w.System, shape: refusal}
		w.killing.BatchSystem = p
		p.job = w.evolving("1x20s,2x20s")
		w.serve()
		story(w, p)
		w.halt()
		if err := w.End(context.Background(), p.job, ""); err != nil {
			t.Error(err)
		}
		w.serve()
		w.clean()
	})
}

func TestAJobThatIsSentBackHoldsNoNodesAndCostsFewCalls(t *testing.T) {
	for name, refusal := range map[string]error{"it is held again": nil, "it is refused": errors.New("Requested partition configuration not available now")} {
		t.Run(name, func(t *testing.T) {
			inPickyWorld(t, refusal, func(w *world, p *picky) {
				w.at(15)
				other := w.submit(embedded.JobSpec{Nodes: 16, Runs: 20, Limit: 60, User: "bob"})
				w.at(300)
				pauses := p.pauses()
				if refusal != nil { // the first failure of a call does not set the job aside
					pauses = pauses[1:]
				}
				if len(pauses) < 4 || len(pauses) > 6 || !slices.IsSorted(pauses) || pauses[0] < 9 || pauses[3] < 75 {
					t.Errorf("it was tried again after %v s, want about 10, 20, 40, 80\n%s", pauses, w.journalled())
				}
				if _, calls := p.seen(); calls > 60 {
					t.Errorf("it cost %d calls in 300 s", calls)
				}
				if waited := w.record(other).Start.Sub(w.begin) - 15*time.Second; waited < 0 || waited > 5*time.Second {
					t.Errorf("the job of all nodes waited for %v", waited)
				}
				if at := w.reserved(p.job); at >= 0 {
					t.Errorf("nodes are reserved for it from second %d on", at)
				}
				said := "BadConstraints"
				if refusal != nil {
					said = "Requested partition configuration"
				}
				w.says(p.job, "the batch system sent it back", said, "tried again at")
				if got := w.events(p.job); !strings.Contains(got, "starting sent back") && refusal == nil {
					t.Errorf("events are %q", got)
				}
			})
		})
	}
}

func TestAJobThatIsSentBackStaysSetAsideOverARestartAndNotOverAChange(t *testing.T) {
	inPickyWorld(t, nil, func(w *world, p *picky) {
		w.at(120) // the start was tried at about 0, 10, 30 and 70, and is next tried at 150
		tries, _ := p.seen()
		w.restart()
		w.at(135)
		if now, _ := p.seen(); now != tries {
			t.Errorf("after a restart it was tried at once: %v\n%s", p.pauses(), w.journalled())
		}
		p.mu.Lock()
		p.tasks = 2 // an operator has changed the job
		p.mu.Unlock()
		w.at(143)
		if now, _ := p.seen(); now != tries+1 {
			t.Errorf("after it was changed it was not tried: %v\n%s", p.pauses(), w.journalled())
		}
		w.at(165)
		if now, _ := p.seen(); now < tries+2 {
			t.Errorf("its next pause is not the first again: %v\n%s", p.pauses(), w.journalled())
		}
	})
}
