package delegated_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// exchange is an RMS with launchers. All events from outside come from the test.
type exchange struct {
	*twins
	random *rand.Rand
	hosts  []int
	views  map[core.JobID]moldable.View
	answer func(x *exchange, id core.JobID, now core.Time) (moldable.Request, bool)
	starts int
}

// beyond is longer than any exchange in this file, so that no application ends during an exchange.
const beyond = 1_000_000

func newExchange(t *testing.T, seed uint64, o delegated.Options) *exchange {
	x := &exchange{random: rand.New(rand.NewPCG(11, seed)), views: map[core.JobID]moldable.View{}}
	for range 1 + x.random.IntN(3) {
		x.hosts = append(x.hosts, 4+x.random.IntN(12))
	}
	x.twins = newTwins(t, x.hosts, o)
	return x
}

// hear passes messages to the launchers, which answer.
func (x *exchange) hear(now core.Time, messages []delegated.Message) {
	var asked []core.JobID
	for _, m := range messages {
		switch m.Kind {
		case delegated.Start:
			x.starts++
		case delegated.View:
			if x.views[m.To] == nil {
				x.views[m.To] = make(moldable.View, len(x.hosts))
			}
			for _, c := range m.Changes {
				x.views[m.To][c.Cluster] = moldable.Cluster{Hosts: c.Hosts, Points: c.Points}
			}
			asked = append(asked, m.To)
		}
	}
	for _, id := range asked {
		if q, ok := x.answer(x, id, now); ok && x.linear.State(id) < delegated.Started {
			must(x, x.Request(now, id, q))
		}
	}
}

// settle makes passes until nothing changes, and returns the number of passes.
func (x *exchange) settle(most int) int {
	before := x.linear.Counts().Passes
	for at := x.linear.Next(); at < beyond; at = x.linear.Next() {
		messages, err := x.Wake(at)
		must(x, err)
		x.hear(at, messages)
		if x.linear.Counts().Passes-before > most {
			break
		}
	}
	return x.linear.Counts().Passes - before
}

// earliest returns the request of a launcher as in the paper: the one with which a moldable application
// completes earliest.
func earliest(x *exchange, id core.JobID, now core.Time) (moldable.Request, bool) {
	m := moldable.Moldable{Least: 1, Most: 3 + int(id)%9, Walltime: func(c, n int) core.Time {
		return beyond + 40*core.Time(id%7+1)/core.Time(n) + core.Time(c)
	}}
	found := m.Find(x.views[id], now)
	return found.Request, found.OK
}

// anything answers each view with another request, drawn at random. One answer in ten has no request.
func anything(x *exchange, _ core.JobID, _ core.Time) (moldable.Request, bool) {
	if x.random.IntN(10) == 0 {
		return moldable.Request{}, false
	}
	q := moldable.Request{Walltime: beyond + x.random.Int64N(50)}
	for c, n := range x.hosts {
		if x.random.IntN(2) == 0 {
			q.Parts = append(q.Parts, moldable.Part{Cluster: c, Hosts: 1 + x.random.IntN(n)})
		}
	}
	return q, len(q.Parts) > 0
}

// After any event the exchange of messages ends, whatever launchers answer. A launcher receives a message only if its view or
// estimate has changed. Views depend only on earlier applications and on started ones, and each application starts once.
func TestAnExchangeEnds(t *testing.T) {
	worst := 0.0
	for seed := range uint64(700) {
		x := newExchange(t, seed, delegated.Options{FairStart: 5, Timer: 1, TellEstimates: seed%3 == 0})
		x.answer = earliest
		if seed%2 == 1 {
			x.answer = anything
		}
		applications := 1 + x.random.IntN(12)
		now := core.Time(0)
		event := func(what string) {
			x.starts = 0
			bound := 2 * (applications + 1) * (applications + 1)
			passes := x.settle(bound)
			if limit := (x.starts + 1) * (applications + 1); passes > limit {
				t.Fatalf("seed %d: after %s %d passes, with %d starts among %d applications at most %d", seed, what, passes, x.starts, applications, limit)
			}
			worst = max(worst, float64(passes)/float64(applications+1))
			now += 200
		}
		var stretches []delegated.Stretch
		for c, n := range x.hosts { // an occupation that ends while the applications wait
			stretches = append(stretches, delegated.Stretch{Cluster: c, To: beyond + x.random.Int64N(100), Hosts: 1 + x.random.IntN(n)})
		}
		must(t, x.Occupy(now, stretches))
		for id := range core.JobID(applications) { // all in the same second, so that each pass has many requests
			messages, err := x.Subscribe(now, id)
			must(t, err)
			x.hear(now, messages)
		}
		event("the arrivals")
		must(t, x.Occupy(now, stretches[:len(stretches)/2]))
		event("an occupation that goes")
		for id := range core.JobID(applications) {
			if x.linear.State(id) == delegated.Started {
				must(t, x.Done(now, id))
				event("an end")
				break
			}
		}
	}
	t.Logf("at most %.2f passes a (application + 1)", worst)
}

// forgetful is a board that reports a changed view in each pass, because it does not know what viewers have seen.
type forgetful struct{ delegated.Board }

func (b forgetful) Look(viewer int, now core.Time, into []delegated.Change) []delegated.Change {
	b.Forget(viewer)
	return b.Board.Look(viewer, now, into)
}

// Because only changed views are sent, an exchange ends even if launchers answer each message with another request. This test's
// board sends a view in each pass: such an exchange ends only when an application ends.
func TestExchangeNeverEndsIfUnchangedViewsAreSent(t *testing.T) {
	const many = 20 * 9 * 9
	exchanged := func(rule bool) int {
		x := newExchange(t, 3, standard)
		x.hosts = []int{4} // there are eight applications, so most of them wait
		x.twins = newTwins(t, x.hosts, standard)
		x.answer = func(x *exchange, id core.JobID, now core.Time) (q moldable.Request, ok bool) {
			for !ok {
				q, ok = anything(x, id, now)
			}
			return q, ok
		}
		if !rule {
			x.linear = delegated.New(x.hosts, standard, forgetful{&delegated.Linear{}})
			x.indexed = delegated.New(x.hosts, standard, forgetful{&delegated.Indexed{}})
		}
		for id := range core.JobID(8) {
			messages, err := x.Subscribe(0, id)
			must(t, err)
			x.hear(0, messages)
		}
		return x.settle(many)
	}
	if passes := exchanged(true); passes > 9*9 {
		t.Errorf("with the rule there are %d passes", passes)
	}
	if passes := exchanged(false); passes <= many {
		t.Errorf("without the rule it ended after %d passes", passes)
	}
}

// A request that answers a view belongs to the exchange that an earlier event began. A request that answers no view begins a
// new exchange.
func TestAtMostOneRequestCountsAsTheAnswerToAView(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 50), on(0, 8, 50))
	w.wake(0) // both applications have answered their first views; the second receives a view in which all hosts are occupied
	chain := func(want int) {
		t.Helper()
		if got := w.linear.Counts().Chain; got != want {
			t.Errorf("%d passes since the last event from outside, want %d", got, want)
		}
	}
	chain(1)
	must(t, w.Request(1, 2, on(0, 7, 50)))
	w.wake(1)
	chain(2)
	must(t, w.Request(2, 2, on(0, 6, 50)))
	w.wake(2)
	chain(1)
}

// A launcher that never answers keeps its last request, and applications after it get what is left.
func TestSilentLauncherDelaysNoOther(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 50), moldable.Request{}, on(0, 8, 30), on(0, 2, 10), on(0, 5, 10))
	w.wake(0)
	must(t, w.Done(20, 1)) // the third application does not answer its changed view
	w.wake(20)
	if got := started(w.wake(25)); !slices.Equal(got, []core.JobID{3, 4}) {
		t.Errorf("started are %v", got)
	}
	if at := w.linear.Estimate(5); at != 55 {
		t.Errorf("the last one is estimated at %d", at)
	}
}
