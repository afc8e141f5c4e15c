package delegated_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// twins are two RMSs, one on each board, that receive the same events. Their messages must be the same.
type twins struct {
	testing.TB
	linear, indexed *delegated.RMS
}

func newTwins(t testing.TB, hosts []int, o delegated.Options) *twins {
	return &twins{t, delegated.New(hosts, o, &delegated.Linear{}), delegated.New(hosts, o, &delegated.Indexed{})}
}

func (w *twins) same(what string, a, b any, errA, errB error) error {
	w.Helper()
	if d := cmp.Diff(a, b); d != "" || fmt.Sprint(errA) != fmt.Sprint(errB) {
		w.Fatalf("%s: the boards differ: %v, %v (- on lists, + indexed):\n%s", what, errA, errB, d)
	}
	if next := w.linear.Next(); next != w.indexed.Next() {
		w.Fatalf("%s: the next pass is at %d on lists, at %d on the indexed board", what, next, w.indexed.Next())
	}
	return errA
}

func (w *twins) Subscribe(now core.Time, id core.JobID) ([]delegated.Message, error) {
	w.Helper()
	a, errA := w.linear.Subscribe(now, id)
	b, errB := w.indexed.Subscribe(now, id)
	return a, w.same("subscribe", a, b, errA, errB)
}

func (w *twins) Request(now core.Time, id core.JobID, q moldable.Request) error {
	w.Helper()
	return w.same("request", nil, nil, w.linear.Request(now, id, q), w.indexed.Request(now, id, q))
}

func (w *twins) Done(now core.Time, id core.JobID) error {
	w.Helper()
	return w.same("done", nil, nil, w.linear.Done(now, id), w.indexed.Done(now, id))
}

func (w *twins) Withdraw(now core.Time, id core.JobID) ([]delegated.Message, error) {
	w.Helper()
	a, errA := w.linear.Withdraw(now, id)
	b, errB := w.indexed.Withdraw(now, id)
	return a, w.same("withdraw", a, b, errA, errB)
}

func (w *twins) Resize(now core.Time, hosts []int) error {
	w.Helper()
	return w.same("resize", nil, nil, w.linear.Resize(now, hosts), w.indexed.Resize(now, hosts))
}

func (w *twins) Occupy(now core.Time, all []delegated.Stretch) error {
	w.Helper()
	return w.same("occupy", nil, nil, w.linear.Occupy(now, all), w.indexed.Occupy(now, all))
}

func (w *twins) Wake(now core.Time) ([]delegated.Message, error) {
	w.Helper()
	a, errA := w.linear.Wake(now)
	b, errB := w.indexed.Wake(now)
	return a, w.same("wake", a, b, errA, errB)
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// on returns a request on one cluster.
func on(cluster, hosts int, walltime core.Time) moldable.Request {
	return moldable.Request{Parts: []moldable.Part{{Cluster: cluster, Hosts: hosts}}, Walltime: walltime}
}

// started returns the applications that messages start, in their order.
func started(messages []delegated.Message) []core.JobID {
	var all []core.JobID
	for _, m := range messages {
		if m.Kind == delegated.Start {
			all = append(all, m.To)
		}
	}
	return all
}

// changedViews returns the applications whose views have changed.
func changedViews(messages []delegated.Message) []core.JobID {
	var all []core.JobID
	for _, m := range messages {
		if m.Kind == delegated.View {
			all = append(all, m.To)
		}
	}
	return all
}

// refused checks that an event was refused for a reason.
func refused(t testing.TB, what string, err, want error) {
	t.Helper()
	var e *delegated.Error
	if !errors.Is(err, want) || !errors.As(err, &e) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
