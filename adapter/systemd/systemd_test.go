package systemd

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// fakeLoop answers unless it hangs.
type fakeLoop struct{ hangs atomic.Bool }

func (l *fakeLoop) alive(ctx context.Context) error {
	if l.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func wait(ctx context.Context) error { <-ctx.Done(); return nil }

func TestALoopThatHangsIsNotSaidToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan string, 100)
		s := &Service{every: 3 * time.Second, log: hclog.NewNullLogger(), loops: map[*loop]bool{}, tell: func(state string) { said <- state }}
		took := func() (told []string) {
			for len(said) > 0 {
				told = append(told, <-said)
			}
			return told
		}
		one, other := &fakeLoop{}, &fakeLoop{}
		other.hangs.Store(true) // the other loop waits for its lease
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go s.Watch("one", one.alive, wait)(ctx)
		go s.Watch("other", other.alive, wait)(ctx)
		over := make(chan error)
		go func() { over <- s.Run(ctx) }()
		// hears waits up to 10 s until the given notifications have arrived. Each notification
		// counts once, because the watchdog is fed each second.
		hears := func(when string, want ...string) {
			t.Helper()
			took()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			told, fed := took(), 0
			for _, word := range told {
				if word == "WATCHDOG=1" {
					fed++
				}
			}
			if slices.Sort(told); !slices.Equal(slices.Compact(told), want) || fed > 0 && fed < 8 {
				t.Errorf("%s systemd receives %v, want %v", when, told, want)
			}
		}
		hears("while one waits for its lease")
		other.hangs.Store(false)
		hears("when all answer", "READY=1", "WATCHDOG=1")
		one.hangs.Store(true)
		time.Sleep(time.Second) // the loop is asked once more
		hears("while one hangs")
		one.hangs.Store(false)
		hears("when that answers again", "WATCHDOG=1")
		life, leave := context.WithCancel(ctx)
		third := &fakeLoop{}
		third.hangs.Store(true)
		go s.Watch("third", third.alive, wait)(life)
		hears("while a restarted one waits for its lease", "WATCHDOG=1")
		third.hangs.Store(false)
		hears("when that has it", "WATCHDOG=1")
		leave()
		synctest.Wait()
		third.hangs.Store(true)
		hears("when that has ended", "WATCHDOG=1")
		end()
		if err, told := <-over, took(); err != nil || !slices.Contains(told, "STOPPING=1") {
			t.Errorf("at the end systemd receives %v, error %v", told, err)
		}
	})
}
