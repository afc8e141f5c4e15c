package output

import (
	"testing"

	"accordion/core"
)

func TestCountsAndMinutes(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "3": 3, "3-5": 3, "2K": 2048, "1.50K": 1536, "1M": 1 << 20, "4294967294": 0, "N/A": 0} {
		if got, err := count(text); err != nil || got != want {
			t.Errorf("count %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"K", "-1", "NaN", "1e99", "x", "9999999999"} {
		if got, err := count(text); err == nil {
			t.Errorf("count %q: %d, want an error", text, got)
		}
	}
	for seconds, want := range map[core.Time]string{1: "1", 60: "1", 61: "2", 3600: "60", core.Forever: "UNLIMITED"} {
		if got := Minutes(seconds); got != want {
			t.Errorf("%d s is TimeLimit=%s, want %s", seconds, got, want)
		}
	}
}
