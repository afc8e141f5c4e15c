package oar

import (
	"context"
	"errors"
	"testing"
	"time"

	"accordion/core"
	"accordion/oar/server"
	"accordion/oar/setup"
)

// A user may set a job's standard error to a pipe without a reader. The process that then blocks on it is a child of the program that
// Accordion runs.
func TestAProgramEndsInTimeThoughItsChildrenHoldOnToThePipe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := server.Program(ctx, "sh", "-c", "sleep 600 & sleep 600").CombinedOutput()
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it ended by itself")
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("it still runs five minutes after its time")
	}
}

func TestIDsOfAUserAreKeptWhileTheUserDatabaseIsAway(t *testing.T) {
	away := errors.New("it does not answer")
	var says error
	a := server.NewAccounts()
	a.Look = func(context.Context, string) (uint32, uint32, error) { return 7, 8, says }
	again := func() (uid, gid uint32) {
		for name, known := range a.Known {
			known.Until = time.Time{}
			a.Known[name] = known
		}
		return a.Of(t.Context(), "alice")
	}
	for _, step := range []struct {
		says     error
		uid, gid uint32
	}{{away, server.UnknownID, server.UnknownID}, {nil, 7, 8}, {away, 7, 8}, {away, 7, 8}} {
		says = step.says
		if uid, gid := again(); uid != step.uid || gid != step.gid {
			t.Errorf("when the lookup returns %v, her IDs are %d, %d; want %d, %d", says, uid, gid, step.uid, step.gid)
		}
	}
}

func TestClockIsComparedWithReadingsBeforeAndAfter(t *testing.T) {
	for _, c := range []struct {
		at, before, after, apart core.Time
		where                    string
	}{{100, 100, 100, 0, "ahead of"}, {103, 100, 105, 0, "ahead of"}, {130, 100, 105, 25, "ahead of"}, {70, 100, 105, 30, "behind"}} {
		if apart, where := setup.Apart(c.at, c.before, c.after); apart != c.apart || where != c.where {
			t.Errorf("%d between %d and %d is %d s %s, want %d s %s", c.at, c.before, c.after, apart, where, c.apart, c.where)
		}
	}
}
