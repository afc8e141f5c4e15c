package delegated_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
	"accordion/core/profile"
)

var standard = delegated.Options{FairStart: 5, Timer: 1}

// subscribed returns RMSs on clusters of ten hosts, with applications that have requests.
func subscribed(t *testing.T, o delegated.Options, clusters int, requests ...moldable.Request) *twins {
	t.Helper()
	w := newTwins(t, slices.Repeat([]int{10}, clusters), o)
	for i, q := range requests {
		id := core.JobID(i + 1)
		_, err := w.Subscribe(0, id)
		must(t, err)
		if q.Parts != nil {
			must(t, w.Request(0, id, q))
		}
	}
	return w
}

func (w *twins) wake(now core.Time) []delegated.Message {
	w.Helper()
	messages, err := w.Wake(now)
	must(w, err)
	return messages
}

func TestTheLifeOfAnApplication(t *testing.T) {
	w := subscribed(t, standard, 1)
	messages, err := w.Subscribe(3, 7)
	must(t, err)
	if d := cmp.Diff([]delegated.Message{{To: 7, Kind: delegated.View, Estimate: core.Forever, Changes: []delegated.Change{{Hosts: 10, Points: []profile.Point{{At: 3}}}}}}, messages); d != "" {
		t.Error(d)
	}
	state := func(want delegated.State) {
		t.Helper()
		if got := w.linear.State(7); got != want {
			t.Errorf("the application is %v, want %v", got, want)
		}
	}
	state(delegated.Submitted)
	must(t, w.Request(4, 7, on(0, 6, 100)))
	state(delegated.RequestSent)
	if at := w.linear.Next(); at != 4 {
		t.Errorf("the first pass is at %d, want at once", at)
	}
	if messages = w.wake(4); len(messages) != 1 || messages[0].Kind != delegated.Start || messages[0].Request.Parts[0].Hosts != 6 {
		t.Errorf("%+v", messages)
	}
	state(delegated.Started)
	must(t, w.Done(50, 7))
	w.wake(50)
	state(delegated.Ghost)
	if at := w.linear.Next(); at != 55 {
		t.Errorf("the ghost ends at %d, want fair-start after the pass that made it", at)
	}
	w.wake(55)
	state(delegated.Finished)
	if c := w.linear.Counts(); c.Waste != 30 || c.Passes != 3 {
		t.Errorf("%+v: want 6 hosts wasted for 5 s, in 3 passes", c)
	}
	if at := w.linear.Next(); at != core.Forever {
		t.Errorf("it waits until %d for nothing", at)
	}
}

func TestPassesAreATimerApart(t *testing.T) {
	w := subscribed(t, delegated.Options{FairStart: 5, Timer: 30}, 1, on(0, 8, 100))
	w.wake(0)
	for id := core.JobID(2); id < 5; id++ {
		_, err := w.Subscribe(core.Time(id), id)
		must(t, err)
		must(t, w.Request(core.Time(id), id, on(0, 8, 100)))
	}
	if at := w.linear.Next(); at != 30 {
		t.Fatalf("the next pass is at %d, want a timer after the last", at)
	}
	if w.wake(29); w.linear.Counts().Passes != 1 {
		t.Error("a pass came early")
	}
	if w.wake(30); w.linear.Counts().Passes != 2 {
		t.Error("no pass came")
	}
}

// The application that subscribed first is considered first, however late its request comes.
func TestApplicationsAreOrderedByTheirSubscriptions(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 50), moldable.Request{}, on(0, 10, 50))
	w.wake(0)
	must(t, w.Request(10, 2, on(0, 10, 50)))
	w.wake(10)
	for id, want := range map[core.JobID]core.Time{2: 50, 3: 100} {
		if at := w.linear.Estimate(id); at != want {
			t.Errorf("application %d is estimated at %d, want %d", id, at, want)
		}
	}
}

// A small application starts before a large application that subscribed earlier. The view of the large application changes, because the
// views of all applications show the hosts of running applications.
func TestAStartByBackfillingChangesTheViewOfAHigherPriority(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 8, 100), on(0, 10, 100), on(0, 2, 20))
	w.wake(0)
	if state := w.linear.State(3); state != delegated.Started {
		t.Fatalf("the last application is %v, want started", state)
	}
	if _, err := w.Subscribe(5, 4); err != nil {
		t.Fatal(err)
	}
	must(t, w.Request(5, 4, on(0, 10, 10)))
	if got := changedViews(w.wake(5)); !slices.Equal(got, []core.JobID{2}) {
		t.Errorf("views changed of %v, want of the one in front of what started, and of nobody else", got)
	}
}

func TestGhostsKeepTheirHostsOccupied(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 100), on(0, 10, 100))
	w.wake(0)
	must(t, w.Done(20, 1))
	w.wake(20)
	if at := w.linear.Estimate(2); at != 25 {
		t.Errorf("the next one is estimated at %d, want behind the ghost", at)
	}
	if got := started(w.wake(25)); !slices.Equal(got, []core.JobID{2}) {
		t.Errorf("started are %v", got)
	}
}

func TestEarlyGhostsEndWhenNoLauncherAnswersAnyMore(t *testing.T) {
	w := subscribed(t, delegated.Options{FairStart: 30, Timer: 1, EarlyGhosts: true}, 1, on(0, 10, 100), on(0, 10, 100))
	w.wake(0)
	must(t, w.Done(20, 1))
	if got := changedViews(w.wake(20)); !slices.Equal(got, []core.JobID{2}) { // application 2 sees that hosts are free at second 50
		t.Fatalf("views of %v", got)
	}
	must(t, w.Request(20, 2, on(0, 9, 90)))
	w.wake(21) // a view was sent, so that its launcher may still answer it
	if got := started(w.wake(22)); !slices.Equal(got, []core.JobID{2}) || w.linear.Counts().Waste != 20 {
		t.Errorf("started are %v, %+v: want it after a pass without requests", got, w.linear.Counts())
	}
}

func TestSeveralClustersStartTogether(t *testing.T) {
	both := moldable.Request{Parts: []moldable.Part{{Cluster: 0, Hosts: 5}, {Cluster: 2, Hosts: 10}}, Walltime: 10}
	w := subscribed(t, standard, 3, on(0, 10, 30), on(2, 10, 50), both, on(0, 5, 20))
	w.wake(0)
	if at := w.linear.Estimate(3); at != 50 {
		t.Errorf("both clusters are estimated at %d, want 50", at)
	}
	if at := w.linear.Estimate(4); at != 30 {
		t.Errorf("the one behind is estimated at %d, want in the hole before", at)
	}
}

func TestOnlyFunctionsThatDifferAreChanges(t *testing.T) {
	w := subscribed(t, standard, 2, on(0, 10, 100), on(0, 10, 100))
	w.wake(0)
	_, err := w.Subscribe(1, 3)
	must(t, err)
	must(t, w.Request(1, 3, on(1, 10, 100)))
	for _, m := range w.wake(1) {
		for _, c := range m.Changes {
			if m.To == 2 && c.Cluster == 0 {
				t.Errorf("the first cluster is told of again: %+v", c)
			}
		}
	}
}

func TestApplicationsBeyondTheLimitGetNoView(t *testing.T) {
	w := subscribed(t, delegated.Options{Timer: 1, Limit: 2}, 1, on(0, 10, 50), on(0, 10, 50), on(0, 10, 50))
	w.wake(0) // the first application starts, the second waits, the third is beyond the limit
	messages, err := w.Subscribe(1, 4)
	must(t, err)
	if len(messages) != 0 {
		t.Errorf("one behind two that wait is shown %+v", messages)
	}
	if got := changedViews(w.wake(1)); len(got) != 0 {
		t.Errorf("views of %v", got)
	}
	must(t, w.Done(30, 1))
	w.wake(30)
	if w.linear.State(2) != delegated.Started {
		t.Fatal("the second does not start")
	}
	must(t, w.Done(40, 2))
	if got := changedViews(w.wake(40)); !slices.Contains(got, 4) {
		t.Errorf("views of %v: the last one is within the limit now", got)
	}
}

// A request fits only if it starts in the second in which it is made, but the next pass comes later. The view of its application
// has not changed, so only the estimate shows the delay.
func TestLateEstimateIsSent(t *testing.T) {
	for _, tell := range []bool{false, true} {
		w := subscribed(t, delegated.Options{FairStart: 5, Timer: 10, TellEstimates: tell}, 1)
		must(t, w.Occupy(0, []delegated.Stretch{{From: 20, To: 100, Hosts: 10}}))
		w.wake(0)
		_, err := w.Subscribe(2, 1)
		must(t, err)
		must(t, w.Request(2, 1, on(0, 10, 18)))
		messages := w.wake(10)
		if got := len(messages) == 1 && messages[0].Estimate == 100 && len(messages[0].Changes) == 0; got != tell {
			t.Errorf("estimates told: %v; %+v", tell, messages)
		}
		must(t, w.Request(11, 1, on(0, 9, 18)))
		if messages = w.wake(20); len(messages) != 0 && !tell {
			t.Errorf("%+v", messages)
		}
	}
}

func TestLateApplicationIsEndedAndKeepsItsHostsUntilDone(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 20), on(0, 4, 10))
	w.wake(0)
	messages := w.wake(20)
	if i := slices.IndexFunc(messages, func(m delegated.Message) bool { return m.Kind == delegated.End && m.To == 1 }); i < 0 {
		t.Fatalf("%+v: want an end", messages)
	}
	if at := w.linear.Estimate(2); at != core.Forever || w.linear.State(1) != delegated.FinishSent {
		t.Errorf("the next one is estimated at %d, though nobody knows when the first ends", at)
	}
	must(t, w.Done(23, 1))
	w.wake(23)
	if at := w.linear.Estimate(2); at != 28 {
		t.Errorf("the next one is estimated at %d", at)
	}
}

func TestWithdrawals(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 20), on(0, 10, 20), on(0, 10, 20))
	w.wake(0)
	if messages, err := w.Withdraw(5, 2); err != nil || len(messages) != 0 || w.linear.State(2) != delegated.Finished {
		t.Errorf("%v, %v", messages, err)
	}
	w.wake(5)
	if at := w.linear.Estimate(3); at != 20 {
		t.Errorf("the last one is estimated at %d", at)
	}
	if messages, err := w.Withdraw(6, 1); err != nil || len(messages) != 1 || messages[0].Kind != delegated.End {
		t.Errorf("%v, %v", messages, err)
	}
	_, err := w.Withdraw(7, 1)
	refused(t, "the second withdrawal", err, delegated.ErrOver)
	refused(t, "a request of one that is being ended", w.Request(7, 1, on(0, 1, 1)), delegated.ErrOver)
}

func TestAClusterThatShrinksOrGoes(t *testing.T) {
	w := subscribed(t, standard, 2, on(0, 10, 20), on(0, 8, 20), on(1, 10, 20))
	w.wake(0)
	must(t, w.Resize(4, []int{6, 0}))
	messages := w.wake(4)
	if at := w.linear.Estimate(2); at != core.Forever {
		t.Errorf("what no longer fits is estimated at %d", at)
	}
	if i := slices.IndexFunc(messages, func(m delegated.Message) bool { return m.To == 2 && m.Changes[0].Hosts == 6 }); i < 0 {
		t.Errorf("%+v: the launcher is not told of the size", messages)
	}
	must(t, w.Resize(5, []int{10, 10, 3}))
	w.wake(5)
	if at := w.linear.Estimate(2); at != 20 {
		t.Errorf("when the hosts are back it is estimated at %d: the request stood", at)
	}
	refused(t, "fewer clusters", w.Resize(6, []int{10}), delegated.ErrNoCluster)
	refused(t, "fewer than no hosts", w.Resize(6, []int{10, -1, 3}), delegated.ErrNoHosts)
}

func TestWrongEventsAreRefusedAndChangeNothing(t *testing.T) {
	w := subscribed(t, standard, 2, on(0, 10, 50), on(0, 5, 50), moldable.Request{})
	w.wake(0)
	part := func(c, n int) moldable.Part { return moldable.Part{Cluster: c, Hosts: n} }
	for name, c := range map[string]struct {
		request moldable.Request
		want    error
	}{
		"too many":     {on(0, 11, 5), delegated.ErrTooMany},
		"none":         {on(0, 0, 5), delegated.ErrNoHosts},
		"fewer":        {on(0, -1, 5), delegated.ErrNoHosts},
		"no part":      {moldable.Request{Walltime: 5}, delegated.ErrNoHosts},
		"twice":        {moldable.Request{Parts: []moldable.Part{part(1, 1), part(1, 1)}, Walltime: 5}, delegated.ErrTwice},
		"falling":      {moldable.Request{Parts: []moldable.Part{part(1, 1), part(0, 1)}, Walltime: 5}, delegated.ErrTwice},
		"cluster":      {on(2, 1, 5), delegated.ErrNoCluster},
		"below":        {on(-1, 1, 5), delegated.ErrNoCluster},
		"no time":      {on(0, 1, 0), delegated.ErrWalltime},
		"for ever":     {on(0, 1, core.MaxTotal+1), delegated.ErrWalltime},
		"for ever two": {on(0, 1, core.Forever), delegated.ErrWalltime},
	} {
		refused(t, name, w.Request(1, 2, c.request), c.want)
		if at := w.linear.Estimate(2); at != 50 || w.linear.State(2) != delegated.Waiting || w.linear.Next() != 50 {
			t.Errorf("%s: the former request is %v, estimated at %d, the next thing at %d", name, w.linear.State(2), at, w.linear.Next())
		}
	}
	refused(t, "unknown", w.Request(1, 9, on(0, 1, 1)), delegated.ErrUnknown)
	refused(t, "unknown", w.Done(1, 9), delegated.ErrUnknown)
	refused(t, "started", w.Request(1, 1, on(0, 1, 1)), delegated.ErrStarted)
	refused(t, "before its start", w.Done(1, 2), delegated.ErrNotStarted)
	refused(t, "without a request", w.Done(1, 3), delegated.ErrNotStarted)
	_, err := w.Subscribe(1, 2)
	refused(t, "twice", err, delegated.ErrSubscribed)
	w.wake(1)
	refused(t, "the past", w.Request(0, 2, on(0, 1, 1)), delegated.ErrPast)
	_, err = w.Wake(0)
	refused(t, "the past", err, delegated.ErrPast)
	refused(t, "an occupation of nothing", w.Occupy(1, []delegated.Stretch{{From: 3, To: 3, Hosts: 1}}), delegated.ErrStretch)
	refused(t, "an occupation of nowhere", w.Occupy(1, []delegated.Stretch{{Cluster: 2, To: 3, Hosts: 1}}), delegated.ErrNoCluster)
	must(t, w.Done(2, 1))
	refused(t, "done twice", w.Done(2, 1), delegated.ErrOver)
	w.wake(2)
	refused(t, "done, a ghost", w.Done(3, 1), delegated.ErrOver)
	refused(t, "a ghost's request", w.Request(3, 1, on(0, 1, 1)), delegated.ErrOver)
	w.wake(7)
	refused(t, "done, and forgotten", w.Done(8, 1), delegated.ErrUnknown)
}

// A refused event does not advance the time: the RMS still accepts an event of an earlier second afterwards.
func TestRefusedEventDoesNotAdvanceTheTime(t *testing.T) {
	w := subscribed(t, standard, 1, on(0, 10, 50), on(0, 5, 50))
	w.wake(0)
	_, again := w.Subscribe(30, 1)
	_, nobody := w.Withdraw(30, 9)
	for what, err := range map[string]error{
		"too large a request": w.Request(30, 2, on(0, 11, 5)), "a request of one that runs": w.Request(30, 1, on(0, 1, 5)), "done of one that waits": w.Done(30, 2),
		"a second subscription": again, "a withdrawal of nobody": nobody, "fewer clusters": w.Resize(30, nil), "an occupation of nowhere": w.Occupy(30, []delegated.Stretch{{Cluster: 3}}),
	} {
		if err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if next := w.linear.Next(); next != 50 {
		t.Errorf("the next thing is at %d, want the end of what runs", next)
	}
	must(t, w.Request(1, 2, on(0, 4, 50)))
}

// A pass uses the memory of the pass before.
func TestAPassAllocatesNothing(t *testing.T) {
	r := crowd(t, &delegated.Indexed{}, 100, 3)
	now := core.Time(0)
	outside := []delegated.Stretch{{Cluster: 0, Hosts: 1}, {Cluster: 1, Hosts: 1}, {Cluster: 2, Hosts: 1}}
	pass := func() {
		now++
		for i := range outside {
			outside[i].To = core.MaxTotal/2 + now%2*1000
		}
		must(t, r.Occupy(now, outside))
		if _, err := r.Wake(now); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		pass()
	}
	if n := testing.AllocsPerRun(100, pass); n > 0 {
		t.Errorf("a pass allocates %g times", n)
	}
}
