package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestAnotherUserHasAShareOfFullSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := places{all: 8, most: 6, of: map[uint32][]*place{}}
		ended := make(chan string, 20)
		open := map[string]*place{}
		enter := func(uid uint32, name string) string {
			one, why := p.enter(uid, func() { ended <- name })
			if one != nil {
				open[name] = one
			}
			return why
		}
		for i := range 8 {
			why := enter(1, fmt.Sprint("eve", i))
			if (why == "") != (i < 6) {
				t.Errorf("session %d of one user: %q", i+1, why)
			}
		}
		for i := range 6 {
			why := enter(2, fmt.Sprint("ada", i))
			if (why == "") != (i < 4) {
				t.Errorf("session %d of another user: %q", i+1, why)
			}
		}
		if why := enter(3, "bob0"); why != "" {
			t.Errorf("the first session of a third user: %q", why)
		}
		synctest.Wait()
		close(ended)
		var got []string
		for name := range ended {
			got = append(got, name)
		}
		slices.Sort(got)
		if want := "[ada3 eve4 eve5]"; fmt.Sprint(got) != want && fmt.Sprint(got) != "[eve3 eve4 eve5]" {
			t.Errorf("ended were %v, want %s, or a third of eve's", got, want)
		}
		for _, one := range open {
			p.leave(one)
			p.leave(one)
		}
		if p.open != 0 || len(p.of) != 0 {
			t.Errorf("%d are open, of %d users", p.open, len(p.of))
		}
	})
}

func TestQuestionsAreTakenFromUsersByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, calls := newDesk(), make(chan Call)
		push := func(uid uint32, n int) {
			for range n {
				d.push(&Call{UID: uid})
			}
		}
		push(1, 1)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { d.hand(ctx, calls); close(over) }()
		synctest.Wait() // it holds the first one out to the loop
		push(1, 4)
		push(2, 2)
		gone := make(chan struct{})
		left := &Call{UID: 3, Gone: gone}
		d.push(left)
		d.drop(left)
		var got strings.Builder
		for range 7 {
			fmt.Fprint(&got, (<-calls).UID)
		}
		if got.String() != "1212111" {
			t.Errorf("the order is %s, want 1212111", got.String())
		}
		stop()
		<-over
	})
}
