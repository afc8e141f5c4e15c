package sidecar

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Alive lets the watchdog of systemd detect a sidecar whose loop hangs.
func TestASidecarWhoseLoopHangsIsNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Journal: nullJournal{}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if s.Alive(ctx) == nil {
			t.Error("a sidecar whose loop does not run says that it is alive")
		}
	})
}
