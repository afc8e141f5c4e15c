package wire

import (
	"testing"
	"time"
)

func TestPausesDoubleFrom100MillisecondsTo2SecondsAndHalfOfEachIsRandom(t *testing.T) {
	for range 100 {
		pauses := Pauses()
		for i, most := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
			most *= time.Millisecond
			if got := pauses.NextBackOff(); got < most/2 || got > most {
				t.Fatalf("pause %d is %v, want %v to %v", i+1, got, most/2, most)
			}
		}
	}
}
