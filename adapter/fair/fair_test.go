package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Unix(1_800_000_000, 0)

func TestUserWithLeastUseComesNext(t *testing.T) {
	for _, c := range []struct {
		name string
		had  map[uint32]float64 // each user's use, charged at noon
		asks string             // "USER:ITEM …", in the order of arrival
		want string             // the expected order, if each served item costs 1
	}{
		{"one user alone has all", nil, "1:a 1:b 1:c", "a b c"},
		{"equal shares next to others", nil, "1:a 1:b 1:c 2:d 2:e", "a d b e c"},
		{"a newcomer comes before who asks all the time", map[uint32]float64{1: 9}, "1:a 1:b 2:c 2:d", "c d a b"},
		{"less use comes first, regardless of arrival", map[uint32]float64{1: 2, 2: 1}, "1:a 2:b 3:c", "c b a"},
		{"shares become equal", map[uint32]float64{1: 2}, "1:a 1:b 2:c 2:d 2:e 2:f", "c d a e b f"},
	} {
		var l Ledger
		q := NewQueue[string](&l)
		for user, had := range c.had {
			l.Charge(user, had, noon)
		}
		for _, ask := range strings.Fields(c.asks) {
			var user uint32
			var item string
			if _, err := fmt.Sscanf(ask, "%d:%s", &user, &item); err != nil {
				t.Fatal(err)
			}
			q.Push(user, item)
		}
		var got []string
		for user, item, ok := q.Next(); ok; user, item, ok = q.Next() {
			q.Drop(user, item)
			l.Charge(user, 1, noon)
			got = append(got, item)
		}
		if strings.Join(got, " ") != c.want || q.Len() != 0 || q.Users() != 0 {
			t.Errorf("%s: %v, want %s; %d are left", c.name, got, c.want, q.Len())
		}
	}
}

func TestUseOfLongAgoIsForgotten(t *testing.T) {
	var l Ledger
	l.Charge(1, 8, noon)
	l.Charge(2, 2, noon.Add(2*halfLife))
	if had := l.Had(1, noon.Add(2*halfLife)); had < 1.99 || had > 2.01 {
		t.Errorf("after two half-lives 8 counts for %v, want 2", had)
	}
	if l.Charge(2, 1, noon.Add(2*halfLife)); !l.Less(1, 2) {
		t.Error("8 long ago is not less than 3 now")
	}
	l.Charge(3, 1, noon.Add(100*halfLife))
	if len(l.had) != 1 {
		t.Errorf("%d users are remembered, want the last one", len(l.had))
	}
	l.Charge(4, 1, noon.Add(-1000*halfLife)) // the clock was set
	if l.Charge(3, 1, noon.Add(-1000*halfLife)); l.Less(3, 4) {
		t.Errorf("after the clock was set: %v", l.had)
	}
}

// TestGateKeepsPlaces checks that calls that hang do not keep out readings, acceptances, or users
// who have no call under way.
func TestGateKeepsPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(8, 2, time.Now)
		enter := func(user uint32, kind Kind) (leave func(), in bool) {
			ctx, cancel := context.WithTimeout(With(t.Context(), Asker{user, kind}), time.Second)
			defer cancel()
			leave, err := g.Enter(ctx)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			return leave, err == nil
		}
		var leaves []func()
		count := func(user uint32, kind Kind, tries int) (in int) {
			for range tries {
				if leave, ok := enter(user, kind); ok {
					leaves, in = append(leaves, leave), in+1
				}
			}
			return in
		}
		got := []int{count(1, Acting, 8), count(2, Acting, 8), count(3, Acting, 8), count(4, Acting, 8), count(4, Accepting, 1), count(0, Reading, 8)}
		if want := []int{4, 1, 1, 0, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("let in were %v, want %v", got, want)
		}
		for _, leave := range leaves {
			leave()
			leave() // does nothing
		}
		if g.inside != 0 || len(g.of) != 0 {
			t.Errorf("%d are inside, of users %v", g.inside, g.of)
		}
	})
}

// The user with the least recent use waits, because the free places are kept for others. This wait
// does not delay the others.
func TestUserWithoutPlaceHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(16, 2, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		var users sync.WaitGroup
		defer users.Wait()
		defer cancel()
		in := map[uint32]int{}
		var mu sync.Mutex
		ask := func(user uint32, times int) {
			for range times {
				users.Go(func() {
					if _, err := g.Enter(With(ctx, Asker{User: user})); err != nil {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					in[user]++
				})
			}
			synctest.Wait()
		}
		const hanging, least, more = 1, 2, 3
		for range 9 {
			g.ledger.Charge(more, 1, time.Now())
		}
		ask(hanging, 11)
		ask(least, 2)
		ask(more, 1)
		mu.Lock()
		defer mu.Unlock()
		if in[hanging] != 11 || in[least] != 1 || in[more] != 1 {
			t.Errorf("inside are %v, want 11, 1 and 1", in)
		}
	})
}

func TestGateAdmitsUsersByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, 0, time.Now)
		first, err := g.Enter(With(t.Context(), Asker{User: 1}))
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan uint32, 8)
		var users sync.WaitGroup
		defer users.Wait()
		for _, user := range []uint32{1, 1, 1, 1, 2, 2} {
			synctest.Wait() // the previous call waits
			users.Go(func() {
				leave, err := g.Enter(With(t.Context(), Asker{User: user}))
				if err != nil {
					t.Error(err)
					return
				}
				order <- user
				time.Sleep(time.Second)
				leave()
			})
		}
		synctest.Wait()
		first()
		var got []uint32
		for range 6 {
			got = append(got, <-order)
		}
		if want := []uint32{2, 1, 2, 1, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("the order is %v, want %v", got, want)
		}
	})
}
