package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestEachUserHasShareOfFullSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(8, 6, func(uint32) (bool, error) { return true, nil })
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

// One user has a session from each of thousands of uids without a name (/etc/subuid).
func TestUidsWithoutNamesCountAsOneUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 100_000 // the first of the uids without a name
		slow := make(chan struct{})
		p := newPlaces(64, 64, func(uid uint32) (bool, error) {
			<-slow
			return uid < crowd, nil
		})
		var ended atomic.Int64
		enter := func(uid uint32) (why string) {
			_, why = p.enter(uid, func() { ended.Add(1) })
			synctest.Wait()
			return why
		}
		for i := range uint32(64) {
			enter(crowd + i)
		}
		if why := enter(0); why != "" {
			t.Errorf("root, where the directory has not answered: %s", why)
		}
		close(slow) // the directory answers at last
		synctest.Wait()
		if p.open != 17 || len(p.of) != 2 {
			t.Errorf("%d sessions of %d are open, want 16 without names and one of root's", p.open, len(p.of))
		}
		for i := range uint32(200) {
			enter(crowd + 1000 + i)
		}
		if n := len(p.of[client{}]); n != 16 {
			t.Errorf("%d sessions are open of uids without a name, want a quarter", n)
		}
		for i := range uint32(63) {
			if why := enter(1000 + i); why != "" {
				t.Errorf("user %d of 63: %s", i+1, why)
			}
		}
		if n := len(p.of[client{}]); n != 0 {
			t.Errorf("%d sessions are open of uids without a name, where users without any have come", n)
		}
		if why := enter(crowd); why == "" {
			t.Error("one without a name displaces a user's only session")
		}
		if n := ended.Load(); n != 1+47+200+16 {
			t.Errorf("%d sessions ended, want 264", n)
		}
	})
}

func TestDirectoryWithoutAnswerTakesFewThreadsAndKeepsNoUserOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		hang := make(chan struct{})
		p := newPlaces(64, 16, func(uint32) (bool, error) {
			asked.Add(1)
			<-hang
			return false, errors.New("the directory is away")
		})
		for i := range uint32(64) {
			if _, why := p.enter(1000+i, func() {}); why != "" {
				t.Errorf("user %d: %s", i, why)
			}
			synctest.Wait()
		}
		if n := asked.Load(); n != mostLookups {
			t.Errorf("%d look-ups are under way, want %d", n, mostLookups)
		}
		close(hang)
		synctest.Wait()
		if p.open != 64 || asked.Load() != 64 || len(p.asking) != 0 {
			t.Errorf("%d sessions are open after %d answers: want 64, all taken for users", p.open, asked.Load())
		}
		p.enter(1000, func() {})
		if synctest.Wait(); asked.Load() != 64 {
			t.Error("it is asked again at once")
		}
		for i := range uint32(mostVerdicts) {
			p.settle(10_000+i, false, nil)
		}
		if len(p.verdicts) > mostVerdicts {
			t.Errorf("%d verdicts are remembered", len(p.verdicts))
		}
	})
}

func TestRequestsAreTakenFromUsersByTurns(t *testing.T) {
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
		synctest.Wait() // by then the desk offers the first request to the loop
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
