package sidecar

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// With this the watchdog of systemd detects a sidecar that hangs.
func TestASidecarThatDoesNotLookUpFromItsWorkIsNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Journal: mute{}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if s.Alive(ctx) == nil {
			t.Error("a sidecar whose loop does not run says that it is alive")
		}
	})
}
