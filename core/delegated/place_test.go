package delegated_test

import (
	"errors"
	"testing"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

func four(walltime core.Time) moldable.Request {
	return moldable.Request{Parts: []moldable.Part{{Cluster: 0, Hosts: 4}}, Walltime: walltime}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func starts(messages []delegated.Message) (ids []core.JobID) {
	for _, m := range messages {
		if m.Kind == delegated.Start {
			ids = append(ids, m.To)
		}
	}
	return ids
}

// An application whose start failed goes back to its rank, before the applications that subscribed after it.
func TestApplicationThatLeftJoinsAtItsRank(t *testing.T) {
	r := delegated.New([]int{4}, delegated.Options{Timer: 1}, &delegated.Indexed{})
	for id := core.JobID(1); id <= 3; id++ {
		_, err := r.Join(10, id, 10-core.Time(id)%2) // applications 1 and 3 subscribed at second 9, application 2 at second 10
		ok(t, err)
		ok(t, r.Request(10, id, four(60)))
	}
	messages, err := r.Wake(10)
	ok(t, err)
	if s := starts(messages); len(s) != 1 || s[0] != 1 || r.Estimate(3) != 70 || r.Estimate(2) != 130 {
		t.Fatalf("%v started, 3 is to at %d, 2 at %d", s, r.Estimate(3), r.Estimate(2))
	}
	ok(t, r.Leave(11, 1))
	if err := r.Leave(11, 1); !errors.Is(err, delegated.ErrUnknown) {
		t.Errorf("it left twice: %v", err)
	}
	_, err = r.Join(11, 1, 9)
	ok(t, err)
	ok(t, r.Request(11, 1, four(60)))
	messages, err = r.Wake(11)
	ok(t, err)
	if s := starts(messages); len(s) != 1 || s[0] != 1 {
		t.Errorf("%v started, and not the first again", s)
	}
}

func TestHold(t *testing.T) {
	r := delegated.New([]int{4}, delegated.Options{Timer: 1}, &delegated.Indexed{})
	for id := core.JobID(1); id <= 2; id++ {
		_, err := r.Join(0, id, 0)
		ok(t, err)
		ok(t, r.Request(0, id, four(50)))
	}
	ok(t, r.Hold(0, 1, 0, true))
	// The application keeps its place, and the end of the place does not move with each second.
	for now := core.Time(0); now < 3; now++ {
		ok(t, r.Occupy(now, nil)) // requests a pass
		messages, err := r.Wake(now)
		ok(t, err)
		if s := starts(messages); len(s) != 0 || r.Estimate(1) != now || r.Estimate(2) != 60 {
			t.Fatalf("at %d %v started; the estimates are %d and %d", now, s, r.Estimate(1), r.Estimate(2))
		}
	}
	// The application must not start before second 30. Others may start first.
	ok(t, r.Hold(3, 1, 30, false))
	ok(t, r.Request(3, 2, four(20)))
	messages, err := r.Wake(3)
	ok(t, err)
	if s := starts(messages); len(s) != 1 || s[0] != 2 || r.Estimate(1) != 30 {
		t.Fatalf("%v started, and the first is to at %d", s, r.Estimate(1))
	}
	ok(t, r.Hold(4, 1, core.Forever, false))
	_, err = r.Wake(4)
	ok(t, err)
	if r.Estimate(1) != core.Forever {
		t.Errorf("the first is to start at %d, and never may", r.Estimate(1))
	}
	if err := r.Hold(4, 2, 0, true); !errors.Is(err, delegated.ErrStarted) {
		t.Errorf("one that started is held: %v", err)
	}
}
