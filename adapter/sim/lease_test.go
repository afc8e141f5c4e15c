package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/sidecar"
	"accordion/core/sched"
)

// TestTwoSidecarsNeverActInTheSameLease runs two sidecars for one batch system, as if on two hosts, each with its own journal. Both are
// killed and started again at random. Their clocks differ and drift, and calls and writes to the journals hang. No action of a sidecar
// may reach the batch system at an instant at which the sidecar does not hold the lease. After the faults have ended, one of the sidecars
// must serve.
//
//	go test ./adapter/sim -run TwoSidecars -accordion.from=4711 -accordion.seeds=40    one scenario; for each forty seeds there is one scenario
func TestTwoSidecarsNeverActInTheSameLease(t *testing.T) {
	acts, handovers := 0, 0
	for seed := *fromFlag; seed < *fromFlag+uint64(*seedsFlag)/40; seed++ {
		d := rivals(t, seed, true)
		for _, wrong := range d.wrong {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		acts, handovers = acts+d.acts, handovers+d.handovers
	}
	t.Logf("%d acts, the lease changed hands %d times", acts, handovers)
	if *seedsFlag >= 400 && (acts < 1000 || handovers < 5) {
		t.Errorf("too little happened: %d acts, the lease changed hands %d times", acts, handovers)
	}
}

// TestWithoutALeaseTwoSidecarsAreCaught checks that the test above fails if the sidecars do not use a lease.
func TestWithoutALeaseTwoSidecarsAreCaught(t *testing.T) {
	if d := rivals(t, 1, false); len(d.wrong) == 0 {
		t.Errorf("two sidecars without a lease made %d acts, and nobody minded", d.acts)
	}
}

// duel is a scenario of two sidecars.
type duel struct {
	dice   dice
	system *embedded.System
	begin  time.Time
	leased bool // the two sidecars use a lease
	length time.Duration

	mu              sync.Mutex
	counts          map[string]int
	alive           map[string]bool
	barred          map[string]bool      // sidecars that must not start, because an administrator lets the other sidecar take over the lease
	last            string               // the sidecar that acted last
	granted         map[string]time.Time // when each sidecar requested the lease that it received last
	acts, handovers int
	wrong           []string
}

// trouble is the time until which faults occur.
const trouble = 12 * time.Minute

func rivals(t *testing.T, seed uint64, leased bool) (d *duel) {
	synctest.Test(t, func(t *testing.T) {
		d = &duel{dice: dice(seed), begin: time.Now(), leased: leased, counts: map[string]int{}, alive: map[string]bool{}, barred: map[string]bool{}, granted: map[string]time.Time{}}
		d.length = d.dice.span(20*time.Second, 90*time.Second, "length", 0)
		system, err := embedded.New(embedded.Options{Nodes: 8, Sweep: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		d.system = system
		ctx, stop := context.WithCancel(context.Background())
		var crew sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			crew.Go(func() { d.host(ctx, name) })
		}
		for i := range 24 {
			time.Sleep(d.dice.span(0, 40*time.Second, "submission", i))
			spec := embedded.JobSpec{User: "ada", UID: 1000, Nodes: 1 + i%2, Comment: "ep=1x20s,3x20s,2x15s", Managed: true, Silent: true, Limit: 600, Runs: 55}
			if i%2 == 1 {
				spec.Comment = "ep=2x30s,4x10s"
			}
			if _, err := system.Submit(spec); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Until(d.begin.Add(trouble + 2*time.Minute)))
		if _, err := system.Submit(embedded.JobSpec{User: "ada", UID: 1000, Nodes: 1, Comment: "ep=1x5s", Managed: true, Silent: true, Limit: 600, Runs: 4}); err != nil {
			t.Fatal(err)
		}
		patient, done := context.WithTimeout(ctx, 20*time.Minute)
		if err := system.Quiet(patient); err != nil && leased {
			d.violation("the trouble is over, and nobody serves: %v", err)
		}
		done()
		stop()
		crew.Wait()
		system.Close()
	})
	return d
}

func (d *duel) violation(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.wrong) < 5 {
		d.wrong = append(d.wrong, fmt.Sprintf("at %.3f s: ", time.Since(d.begin).Seconds())+fmt.Sprintf(format, args...))
	}
}

// nth returns how often it was called with the name, including this call.
func (d *duel) nth(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[name]++
	return d.counts[name]
}

// host runs the sidecar of one host, with its journal. Whenever the sidecar ends, host starts it again, as systemd does.
func (d *duel) host(ctx context.Context, name string) {
	book := newMemory()
	clock := &driftingClock{
		from: d.begin, offset: d.dice.span(-2*time.Second, 2*time.Second, "offset "+name, 0),
		rate: 1 + float64(d.dice.below(21, "rate "+name, 0)-10)/1000,
	}
	for nth := 1; ctx.Err() == nil; nth++ {
		other := map[string]string{"a": "b", "b": "a"}[name]
		for d.isBarred(name) {
			time.Sleep(time.Second)
		}
		d.mu.Lock()
		// Sometimes an administrator sees that the other sidecar is dead. The administrator prevents its restart, and lets this sidecar
		// take over the lease.
		over := !d.alive[other] && d.dice.chance(300, "over "+name, nth)
		d.alive[name], d.barred[other] = true, over
		d.mu.Unlock()
		d.serve(ctx, name, nth, clock, book, over)
		d.mu.Lock()
		d.alive[name], d.barred[other] = false, false
		d.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(d.dice.span(time.Second, 60*time.Second, "away "+name, nth)):
		}
	}
}

func (d *duel) isBarred(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.barred[name]
}

// serve runs one process of a sidecar until it is killed, has to end, or finds that another sidecar has the lease.
func (d *duel) serve(ctx context.Context, name string, nth int, clock adapter.Clock, book readableJournal, over bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := newLife()
	lives := d.dice.span(5*time.Second, 5*time.Minute, "life "+name, nth)
	if time.Since(d.begin)+lives > trouble {
		lives = time.Hour
	}
	end := time.AfterFunc(lives, func() {
		if d.dice.chance(600, "kill "+name, nth) {
			l.die()
		}
		cancel()
	})
	defer end.Stop()
	way := contender{d.system, d, name, l}
	o := sidecar.Options{System: way, Journal: stallingJournal{book, way}, Clock: clock, Settings: managed.Settings{
		Cluster: "sim", Interval: time.Second, Policy: sched.Repeated{}, StartLead: 4, Protect: 16, Guard: 30, Round: 45,
		Overrun:  managed.Overrun{Share: 0.1, Least: 300, Grace: 10, Signal: "B:TERM"},
		Deadline: deadline, Silent: managed.Silent{Notice: 5, Signal: "B:URG"},
	}}
	if d.leased {
		o.Lease = sidecar.Lease{Leaser: way, Claim: adapter.Claim{Holder: adapter.Holder{ID: name, Host: name}, Length: d.length, Over: over}}
	}
	err := sidecar.New(o).Run(ctx)
	if other := (*adapter.LeaseHeldError)(nil); err != nil && !errors.As(err, &other) && !l.over() {
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errBroken) { // these errors occur if the sidecar fails to get the lease when it starts
			d.violation("sidecar %s stopped: %v", name, err)
		}
	}
}

// driftingClock is a clock that shows a wrong time and runs too fast or too slowly.
type driftingClock struct {
	from   time.Time
	offset time.Duration
	rate   float64
}

func (c *driftingClock) Now() time.Time {
	return c.from.Add(c.offset + time.Duration(float64(time.Since(c.from))*c.rate))
}

func (c *driftingClock) After(d time.Duration) <-chan time.Time {
	return time.After(time.Duration(float64(d)/c.rate) + time.Microsecond) // a microsecond more, so that rounding never makes it early
}

// stallingJournal is a journal on a disk that hangs at times. After its sidecar has died, it writes nothing.
type stallingJournal struct {
	actions.Journal
	way contender
}

func (s stallingJournal) Begin(in journal.Intent) (int64, error) {
	if nth := s.way.duel.nth("intent"); s.way.duel.dice.chance(15, "stall", nth) {
		s.way.wait(context.Background(), s.way.duel.dice.span(0, 100*time.Second, "stalls", nth))
	}
	if s.way.process.over() {
		return 0, errKilled
	}
	return s.Journal.Begin(in)
}

// contender is the connection of one process of a sidecar to the batch system.
type contender struct {
	*embedded.System
	duel    *duel
	name    string
	process *process
}

// wait waits for the duration `lasts`, or until the caller gives up or is killed.
func (r contender) wait(ctx context.Context, lasts time.Duration) {
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
	case <-r.process.dead:
	}
}

// call makes one call. The request or the answer may take a long time. If `acts` is true, the call is an action, for which the sidecar
// must hold the lease.
func (r contender) call(ctx context.Context, verb string, acts bool, do func() error) error {
	d, name := r.duel, r.name+" "+verb
	nth := d.nth(name)
	calm := time.Since(d.begin) > trouble || verb == "Observe" // readings need not be slow, because then the loop would only plan with the previous reading
	before, after := d.dice.span(time.Millisecond, 50*time.Millisecond, name, nth), time.Duration(0)
	if !calm && d.dice.chance(40, "slow "+name, nth) {
		before = d.dice.span(0, 2*d.length, "slow "+name, nth)
	}
	if !calm && d.dice.chance(20, "unanswered "+name, nth) {
		after = d.dice.span(0, 2*d.length, "unanswered "+name, nth)
	}
	r.wait(ctx, before)
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.process.over() {
		return errKilled
	}
	if acts {
		d.judge(r.name, verb)
	}
	err := do()
	r.wait(ctx, after)
	if r.process.over() {
		return errKilled
	}
	return errors.Join(err, ctx.Err())
}

// judge checks that the sidecar with the name may act now.
func (d *duel) judge(name, verb string) {
	holder := d.system.LeaseOf()
	d.mu.Lock()
	d.acts++
	if d.last != "" && d.last != name {
		d.handovers++
	}
	d.last = name
	age := time.Since(d.granted[name])
	d.mu.Unlock()
	if holder != name {
		d.violation("sidecar %s does %s, and the lease is %q's", name, verb, holder)
	}
	// A sidecar must not act in the last quarter of its lease, because its clock may run too slowly. The
	// clocks in this test run up to one percent too slowly.
	if d.leased && age > d.length*3/4*102/100 {
		d.violation("sidecar %s does %s %v after it asked for its lease of %v: that is in its last quarter", name, verb, age, d.length)
	}
}

func (r contender) TakeLease(ctx context.Context, c adapter.Claim) error {
	defer func() {
		r.duel.mu.Lock()
		defer r.duel.mu.Unlock()
		clear(r.duel.barred)
	}()
	return r.call(ctx, "TakeLease", false, r.asks(func() error { return r.System.TakeLease(ctx, c) }))
}
func (r contender) RenewLease(ctx context.Context, c adapter.Claim) error {
	return r.call(ctx, "RenewLease", false, r.asks(func() error { return r.System.RenewLease(ctx, c) }))
}

// asks returns a function that makes a call for the lease. If the call succeeds, the function records that the lease was requested when
// asks was called.
func (r contender) asks(call func() error) func() error {
	begun := time.Now()
	return func() error {
		err := call()
		if err == nil {
			r.duel.mu.Lock()
			defer r.duel.mu.Unlock()
			r.duel.granted[r.name] = begun
		}
		return err
	}
}

func (r contender) LeaveLease(ctx context.Context, h adapter.Holder, keep time.Duration) error {
	return r.call(ctx, "LeaveLease", false, func() error { return r.System.LeaveLease(ctx, h, keep) })
}
func (r contender) Observe(ctx context.Context) (s *adapter.Snapshot, err error) {
	err = r.call(ctx, "Observe", false, func() (err error) { s, err = r.System.Observe(ctx); return err })
	return s, err
}
func (r contender) Adopt(ctx context.Context, k adapter.Key) error {
	return r.call(ctx, "Adopt", true, func() error { return r.System.Adopt(ctx, k) })
}
func (r contender) Refuse(ctx context.Context, k adapter.Key, why string) error {
	return r.call(ctx, "Refuse", true, func() error { return r.System.Refuse(ctx, k, why) })
}
func (r contender) Reserve(ctx context.Context, v adapter.Reservation) error {
	return r.call(ctx, "Reserve", true, func() error { return r.System.Reserve(ctx, v) })
}
func (r contender) Unreserve(ctx context.Context, name string) error {
	return r.call(ctx, "Unreserve", true, func() error { return r.System.Unreserve(ctx, name) })
}
func (r contender) Shape(ctx context.Context, k adapter.Key, s adapter.Shape) error {
	return r.call(ctx, "Shape", true, func() error { return r.System.Shape(ctx, k, s) })
}
func (r contender) Attach(ctx context.Context, k adapter.Key, name string) error {
	return r.call(ctx, "Attach", true, func() error { return r.System.Attach(ctx, k, name) })
}
func (r contender) Release(ctx context.Context, k adapter.Key) error {
	return r.call(ctx, "Release", true, func() error { return r.System.Release(ctx, k) })
}
func (r contender) Hold(ctx context.Context, k adapter.Key) error {
	return r.call(ctx, "Hold", true, func() error { return r.System.Hold(ctx, k) })
}
func (r contender) Detach(ctx context.Context, k adapter.Key) error {
	return r.call(ctx, "Detach", true, func() error { return r.System.Detach(ctx, k) })
}
func (r contender) End(ctx context.Context, k adapter.Key, why string) error {
	return r.call(ctx, "End", true, func() error { return r.System.End(ctx, k, why) })
}
func (r contender) Expand(ctx context.Context, j *adapter.Job, nodes []string, in string) (k adapter.Key, err error) {
	err = r.call(ctx, "Expand", true, func() (err error) { k, err = r.System.Expand(ctx, j, slices.Clone(nodes), in); return err })
	return k, err
}
func (r contender) Merge(ctx context.Context, j, e adapter.Key) error {
	return r.call(ctx, "Merge", true, func() error { return r.System.Merge(ctx, j, e) })
}
func (r contender) Shrink(ctx context.Context, k adapter.Key, keep []string) error {
	return r.call(ctx, "Shrink", true, func() error { return r.System.Shrink(ctx, k, keep) })
}
func (r contender) Signal(ctx context.Context, k adapter.Key, signal string) error {
	return r.call(ctx, "Signal", true, func() error { return r.System.Signal(ctx, k, signal) })
}
func (r contender) Tell(ctx context.Context, k adapter.Key, text string) error {
	return r.call(ctx, "Tell", true, func() error { return r.System.Tell(ctx, k, text) })
}
func (r contender) Publish(ctx context.Context, j *adapter.Job, text string) (elsewhere string, err error) {
	err = r.call(ctx, "Publish", true, func() (err error) {
		elsewhere, err = r.System.Publish(ctx, j, text)
		return err
	})
	return elsewhere, err
}
