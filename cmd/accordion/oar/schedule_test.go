package oar

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// OAR switches the queue off when the process that started the pass is killed. The pass continues and must switch the
// queue on again, even if it takes too long and has to exit.
func TestPassWhoseCallerWasKilledSwitchesTheQueueOn(t *testing.T) {
	const caller, orphaned = 7, 1
	for _, c := range []struct {
		name   string
		parent int
		takes  time.Duration
		want   []string
	}{
		{"the caller lives", caller, time.Second, []string{"returns the pass failed"}},
		{"the caller lives and the pass takes too long", caller, time.Hour, []string{"exits 1 after 15s"}},
		{"the caller was killed", orphaned, time.Second, []string{"queue on after 1s", "returns the pass failed"}},
		{"the caller was killed and the pass takes too long", orphaned, time.Hour, []string{"queue on after 15s", "exits 1 after 15s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var did []string
				exited := make(chan struct{})
				p := child{
					caller:     caller,
					parent:     func() int { return c.parent },
					reactivate: func() error { did = append(did, fmt.Sprint("queue on after ", time.Since(began))); return nil },
					exit: func(status int) {
						did = append(did, fmt.Sprintf("exits %d after %v", status, time.Since(began)))
						close(exited)
					},
				}
				go func() {
					err := p.run(func() error {
						select {
						case <-time.After(c.takes):
						case <-exited:
							runtime.Goexit() // the process ends
						}
						return errors.New("the pass failed")
					})
					did = append(did, fmt.Sprint("returns ", err))
				}()
				time.Sleep(min(c.takes, hardPatience))
				synctest.Wait()
				if !slices.Equal(did, c.want) {
					t.Errorf("it did %q, want %q", did, c.want)
				}
			})
		})
	}
}
