package wire

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Pauses returns the pauses between tries to reach a sidecar. They double from 100 ms up to 2 s, and half of each is random, because many
// clients lose the same sidecar at the same moment.
func Pauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 75 * time.Millisecond, RandomizationFactor: 1.0 / 3, Multiplier: 2, MaxInterval: 1500 * time.Millisecond}
}
