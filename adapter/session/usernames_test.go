package session

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestUserNamesAreCachedForAWhileAndFailuresAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lookups := 0
		n := NewUserNames(func(uid uint32) (string, error) {
			lookups++
			if uid == 1001 {
				return "alice", nil
			}
			return "", errors.New("no such user")
		})
		for range 3 {
			if name, err := n.Name(t.Context(), 1001); name != "alice" || err != nil {
				t.Fatalf("got %q, %v", name, err)
			}
		}
		if lookups != 1 {
			t.Errorf("%d lookups within a moment, want 1", lookups)
		}
		time.Sleep(nameKept)
		n.Name(t.Context(), 1001)
		if lookups != 2 {
			t.Errorf("%d lookups, want a second one after %v", lookups, nameKept)
		}
		n.Name(t.Context(), 5)
		n.Name(t.Context(), 5)
		if lookups != 4 {
			t.Errorf("%d lookups, want 4: a failure is not cached", lookups)
		}
	})
}
