package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"accordion/adapter/journal"
)

func TestClockStopsWhileTheProcessIsBusyOrStopped(t *testing.T) {
	begin := time.Unix(1000, 0)
	c := newSteadyClock(begin, 90)
	idle := true
	c.idle = func() bool { return idle }
	early, late := c.After(90*time.Millisecond), c.After(time.Second)
	wall := begin
	for _, step := range []struct {
		what   string
		passed time.Duration
		idle   bool
		want   time.Duration
	}{
		{"a tick", tick, true, 90 * time.Millisecond},
		{"a tick while the sidecar works", tick, false, 90 * time.Millisecond},
		{"the tick after that", tick, true, 180 * time.Millisecond},
		{"a minute in which the process did not run", time.Minute, true, 360 * time.Millisecond},
		{"work that begins", tick, false, 360 * time.Millisecond},
		{"work that takes too long", mostHeld, false, 540 * time.Millisecond},
	} {
		wall = wall.Add(step.passed)
		idle = step.idle
		c.tick(wall)
		if got := c.Now().Sub(begin); got != step.want {
			t.Errorf("after %s the clock shows %v, want %v", step.what, got, step.want)
		}
	}
	select {
	case at := <-early:
		if want := begin.Add(90 * time.Millisecond); !at.Equal(want) {
			t.Errorf("the first wait ended at %v, want %v", at, want)
		}
	default:
		t.Error("the first wait has not ended")
	}
	select {
	case <-late:
		t.Error("the second wait has ended before its time")
	default:
	}
}

const played = "ACCORDION_TEST_PLAYED" // journal of a demo in its own process

// On a busy machine the demo sometimes gets no processor time for a while. This test simulates that by stopping the demo's process several
// times.
func TestBusyMachineBreaksNoPromise(t *testing.T) {
	if file := os.Getenv(played); file != "" {
		jobs, err := Parse("0s ada grow ep=1x20s,2x20s,1x20s,3x20s,1x20s,4x20s 95%\n0s bob rigid 1x1m 90%\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Play(t.Context(), Options{Jobs: jobs, Nodes: 5, Speed: 90, Journal: file}); err != nil {
			t.Fatal(err)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "journal.db")
	play := exec.Command(os.Args[0], "-test.run=^TestBusyMachineBreaksNoPromise$")
	play.Env, play.Stderr = append(os.Environ(), played+"="+file), os.Stderr
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- play.Wait() }()
	signals := []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}
	for i := 0; ; i++ {
		select {
		case err := <-over:
			if err != nil {
				t.Fatal(err)
			}
			grew := 0
			for e := range events(t, file) {
				switch e.Verb {
				case "grew":
					grew++
				case "promise broken":
					t.Errorf("job %d: promise broken: %s", e.Job, e.Text)
				}
			}
			if grew != 3 {
				t.Errorf("the job grew %d times, want 3", grew)
			}
			return
		case <-time.After(100 * time.Millisecond):
			_ = play.Process.Signal(signals[i%2]) // the process may have ended
		}
	}
}

// events returns the events of a journal.
func events(t *testing.T, file string) func(yield func(journal.Entry) bool) {
	t.Helper()
	j, err := journal.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return func(yield func(journal.Entry) bool) {
		for e, err := range j.Entries(0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == journal.KindEvent && !yield(e) {
				return
			}
		}
	}
}
