package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

// counted is a batch system that counts its readings. It can be made slow, or made not to answer.
type counted struct {
	adapter.BatchSystem
	mu    sync.Mutex
	begun []time.Time
	away  bool
	slow  time.Duration
	full  bool // reservations are refused
}

func (c *counted) Reserve(ctx context.Context, r adapter.Reservation) error {
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	if full {
		return errors.New("too many reservations")
	}
	return c.BatchSystem.Reserve(ctx, r)
}

// deny makes all calls for reservations fail if `full` is true, and lets them succeed otherwise.
func (c *counted) deny(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

func (c *counted) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	c.mu.Lock()
	c.begun = append(c.begun, time.Now())
	away, slow := c.away, c.slow
	c.mu.Unlock()
	if away {
		return nil, errors.New("slurmctld does not answer")
	}
	select {
	case <-time.After(slow):
		return c.BatchSystem.Observe(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// `is` sets whether the batch system is away, which means that it does not answer, and how long a
// reading takes (`slow`).
func (c *counted) is(away bool, slow time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away, c.slow = away, slow
}

// readings returns how many readings have begun.
func (c *counted) readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.begun)
}

// `most` returns the greatest number of readings that began within any span of d after the instant
// `since`.
func (c *counted) most(d time.Duration, since time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	most, first := 0, 0
	for i, t := range c.begun {
		if t.Before(since) {
			first = i + 1
			continue
		}
		for t.Sub(c.begun[first]) >= d {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// inRestingWorld runs a story as inWorld does. Its sidecar reads the batch system every 5 seconds
// while nothing is due, which is the default. c counts the readings.
func inRestingWorld(t *testing.T, o embedded.Options, story func(w *world, c *counted)) {
	t.Helper()
	inWorld(t, o, func(w *world) {
		w.halt()
		c := &counted{BatchSystem: w.killing.BatchSystem}
		w.killing.BatchSystem = c
		w.settings.Rest = 5 * time.Second
		w.serve()
		story(w, c)
	})
}

func TestACalmClusterIsReadTwelveTimesAMinute(t *testing.T) {
	stories := map[string]func(w *world){
		"no job":                 func(*world) {},
		"ordinary jobs that run": func(w *world) { w.submit(embedded.JobSpec{Nodes: 3, Limit: 7200, Runs: 7000, User: "bob"}) },
		"a managed job in the middle of a long step": func(w *world) { w.evolving("2x2h,4x10s") },
		"a managed job that waits for an hour": func(w *world) {
			w.submit(embedded.JobSpec{Nodes: 16, Limit: 7200, Runs: 7000, User: "bob"})
			w.at(1)
			w.evolving("16x1h")
		},
		"an application that is early and must wait": func(w *world) {
			w.eager()
			w.submit(embedded.JobSpec{Nodes: 14, Limit: 7200, Runs: 7000, User: "bob"})
			w.evolving("2x2h,4x10s", time.Minute, time.Second)
		},
		"an application that is late and delays no other": func(w *world) {
			w.settings.Overrun.Least = 7000
			w.halt()
			w.serve()
			w.evolving("2x20s,4x10s", 2*time.Hour)
		},
	}
	for name, begin := range stories {
		t.Run(name, func(t *testing.T) {
			inRestingWorld(t, slurmish, func(w *world, c *counted) {
				begin(w)
				w.at(150)
				calm := time.Now()
				w.at(1000)
				if most := c.most(time.Minute, calm); most > 13 || most < 10 {
					t.Errorf("it is read up to %d times in a minute, want 12\n%s", most, w.journalled())
				}
			})
		})
	}
}

func TestANewJobIsSeenAfterTheLongPauseAtTheLatest(t *testing.T) {
	for second := range 5 {
		t.Run(fmt.Sprintf("submitted %d s later", second), func(t *testing.T) {
			inRestingWorld(t, slurmish, func(w *world, _ *counted) {
				w.at(300 + second)
				job := w.evolving("2x10s")
				w.quiet(400)
				if began := w.record(job).Start.Sub(w.begin); began > time.Duration(300+second+5+4+3)*time.Second {
					t.Errorf("submitted at %d it began at %v: noticed within 5 s, decided for 4 s later, and Slurm takes 2", 300+second, began)
				}
			})
		})
	}
}

// Steps must not be later because readings are rare. The test compares them with the steps of a
// world with a reading each second.
func TestFewReadingsMakeNoStepLater(t *testing.T) {
	profiles := []string{"2x20s,5x20s,3x20s", "2x61s,9x20s", "4x33s,2x33s,8x33s", "1x40s,2x7s,3x7s,4x7s,1x7s"}
	for _, ep := range profiles {
		var usual, few string
		inWorld(t, slurmish, func(w *world) {
			job := w.evolving(ep)
			w.quiet(400)
			usual = w.sizes(job)
		})
		inRestingWorld(t, slurmish, func(w *world, _ *counted) {
			time.Sleep(4 * time.Second) // the next reading comes in a second, as in the other world
			w.begin = time.Now()
			job := w.evolving(ep)
			w.quiet(400)
			few = w.sizes(job)
		})
		if usual != few {
			t.Errorf("%s: it held %q with a reading each second, and %q with few", ep, usual, few)
		}
	}
}

func TestAGrowthThatWaitsForAnOverrunComesSoonAfterIt(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, c *counted) {
		w.submit(embedded.JobSpec{Nodes: 13, Limit: 60, Runs: 1000, User: "bob"}) // the batch system ends the job after its limit
		job := w.evolving("3x70s,16x20s")
		w.quiet(300)
		if w.steps(job) != "3 16" {
			t.Fatalf("it held %s\n%s", w.sizes(job), w.journalled())
		}
		if most := c.most(time.Minute, w.begin); most > 150 {
			t.Errorf("%d readings in a minute", most)
		}
	})
}

func TestABatchSystemThatDoesNotAnswerIsReadSeldom(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, c *counted) {
		w.evolving("2x20s,5x900s") // a change of this job is always due
		w.at(10)
		c.is(true, 0)
		w.at(30)
		since := time.Now()
		w.at(600)
		if most := c.most(time.Minute, since); most > 13 || most < 10 {
			t.Errorf("it is asked up to %d times in a minute, want each 5 s", most)
		}
		c.is(false, 0)
		asked := c.readings()
		time.Sleep(6 * time.Second)
		if c.readings() == asked {
			t.Error("it answers again, and is not asked")
		}
		w.quiet(3000)
		w.clean()
	})
}

// A reservation that fails is not tried again while readings fail.
func TestNoCallIsMadeWhileReadingsFail(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, c *counted) {
		acts := func() int {
			w.killing.mu.Lock()
			defer w.killing.mu.Unlock()
			return w.killing.count
		}
		c.deny(true)
		w.submit(embedded.JobSpec{Nodes: 16, Limit: 300, Runs: 290, User: "bob"})
		w.at(3)
		w.evolving("2x20s,5x20s") // the job waits, and needs reservations
		w.at(60)
		before := acts()
		w.at(90)
		if acts() == before {
			t.Fatal("reservations that fail are not tried again")
		}
		c.is(true, 0)
		w.at(100) // no call is under way any more
		before = acts()
		w.at(200)
		if later := acts(); later != before {
			t.Errorf("%d acts while the batch system could not be read\n%s", later-before, w.journalled())
		}
		c.is(false, 0)
		c.deny(false)
		w.quiet(900)
		w.clean()
	})
}

func TestASlowBatchSystemIsReadForAFifthOfItsTime(t *testing.T) {
	for slow, most := range map[time.Duration]int{2 * time.Second: 7, 3 * time.Second: 7, 8 * time.Second: 7} {
		t.Run(slow.String(), func(t *testing.T) {
			inRestingWorld(t, slurmish, func(w *world, c *counted) {
				c.is(false, slow)
				for i := range 7 { // something is due in each second
					w.evolving(fmt.Sprintf("1x%ds,2x20s,1x20s", 30+20*i))
				}
				w.at(40)
				since := time.Now()
				w.at(200)
				if got := c.most(time.Minute, since); got > most {
					t.Errorf("readings of %v: %d in a minute, want at most %d", slow, got, most)
				}
				c.is(false, 0)
				w.quiet(3000)
			})
		})
	}
}

func TestAPlanIsMadeOncePerReading(t *testing.T) {
	for name, c := range map[string]struct {
		slow time.Duration // how long a reading takes
		most int           // number of plans in 100 seconds
	}{
		"all are prompt":              {0, 25},
		"one takes as long as it may": {9 * time.Second, 35}, // a plan is made each second in the meantime, because something may be due
	} {
		t.Run(name, func(t *testing.T) {
			inRestingWorld(t, slurmish, func(w *world, b *counted) {
				w.halt()
				plans := newCounter()
				w.meter = plans
				w.serve()
				w.evolving("2x1h,4x10s", 10*time.Second)
				w.at(200)
				plans.with(func() { plans.cycles = 0 })
				b.is(false, c.slow)
				w.at(206)
				b.is(false, 0)
				w.at(300)
				plans.with(func() {
					if plans.cycles > c.most || plans.cycles < 18 {
						t.Errorf("%d plans in 100 s, want at most %d", plans.cycles, c.most)
					}
				})
			})
		})
	}
}

// paced is a batch system that limits calls: each call waits until it is admitted.
type paced struct {
	adapter.BatchSystem
	mu   sync.Mutex
	kept int
	seen map[string]int
	wait time.Duration
}

func (p *paced) Admit(ctx context.Context, verb string) (context.Context, func(), error) {
	select {
	case <-time.After(p.wait):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept++
	p.seen[verb]++
	return ctx, func() { p.mu.Lock(); p.kept--; p.mu.Unlock() }, nil
}

// TryAdmit admits each resize immediately. The calls of the resize wait in Admit.
func (p *paced) TryAdmit(ctx context.Context, _ ...string) (context.Context, func(), time.Duration, string) {
	return ctx, func() {}, 0, ""
}

func TestTheDeadlineOfACallBeginsWhenItIsAdmitted(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		p := &paced{BatchSystem: w.System, seen: map[string]int{}, wait: 2 * w.settings.Deadline}
		w.outer, w.settings.Overrun.Least = p, 1000
		w.serve()
		w.evolving("2x200s,5x20s")
		w.quiet(3000)
		if p.seen["merge"] != 1 || p.seen["observe"] == 0 {
			t.Errorf("admitted were %v\n%s", p.seen, w.journalled())
		}
		w.evolving("2x20s,5x20s")
		time.Sleep(70 * time.Second)
		begin := time.Now()
		w.halt() // the sidecar is stopped during a start; calls that were not admitted are not made
		if took := time.Since(begin); took > w.settings.Deadline || p.kept != 0 {
			t.Errorf("the sidecar took %v to end, and left %d turns", took, p.kept)
		}
		p.wait = 0
		w.serve()
		w.quiet(6000)
		w.clean()
	})
}

// The sidecar runs for months, and must forget jobs that have ended.
func TestNothingIsRememberedOfJobsThatHaveEnded(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, _ *counted) {
		for i := range 60 {
			switch i % 4 {
			case 0:
				w.evolving("2x20s,5x20s,3x20s")
			case 1:
				w.evolving("1x20s,4x20s,2x20s", 10*time.Second, 90*time.Second) // the job is late, and is ended
			case 2:
				w.submit(embedded.JobSpec{Nodes: 2, Comment: "ep=nonsense", Managed: true, Limit: 60, Runs: 10})
			default:
				w.submit(embedded.JobSpec{Nodes: 3, Limit: 60, Runs: 50, User: "bob"})
			}
			w.at(15 * i)
		}
		for _, r := range w.Jobs() {
			if r.State == adapter.Pending && r.Comment == "ep=nonsense" {
				if err := w.Cancel(r.Key); err != nil {
					t.Error(err)
				}
			}
		}
		w.quiet(4000)
		time.Sleep(time.Minute)
		w.halt()
		for what, n := range w.sidecar.Remembered() {
			if n > 0 {
				t.Errorf("%d %s are remembered", n, what)
			}
		}
		w.serve()
	})
}
