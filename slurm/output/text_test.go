package output

import (
	"testing"

	"accordion/core"
)

func TestAGenericResourceIsReadAsEveryReleaseWritesIt(t *testing.T) {
	for item, want := range map[string]struct {
		name  string
		count int
	}{
		"gpu:2":           {"gpu", 2}, // 20.11
		"gpu":             {"gpu", 1},
		"gpu:a100":        {"gpu:a100", 1},
		"gpu:a100:3":      {"gpu:a100", 3},
		"gres:gpu:2":      {"gpu", 2}, // 21.08 to 23.11
		"gres:gpu:a100":   {"gpu:a100", 1},
		"gres/gpu:2":      {"gpu", 2}, // later
		"gres/gpu=2":      {"gpu", 2},
		"gres/gpu:a100=4": {"gpu:a100", 4},
		"gres/gpu":        {"gpu", 1},
		"gres:tmp:10G":    {"tmp", 10 << 30},
		"gres/tmp:350g":   {"tmp", 350 << 30},
		"gres:tmp:1T":     {"tmp", 1 << 40},
		"gres:tmp:2KiB":   {"tmp", 2048},
		"gres:tmp:3MB":    {"tmp", 3 << 20},
		"gres:tmp:99999P": {"tmp", 1 << 50},
		"gres:gpu:4x":     {"gpu:4x", 1}, // a type
		"gres:gpu:1kk":    {"gpu:1kk", 1},
		"gres:none":       {},
		"gres:none:0":     {},
		"gres/NONE":       {},
		"cpu=4":           {},
		"cpu:4":           {},
		"mem=2000M":       {},
		"license/matlab":  {},
		"billing=8":       {},
		"":                {},
	} {
		if name, count := GRES(item); name != want.name || count != want.count {
			t.Errorf("%q is %d of %q, want %d of %q", item, count, name, want.count, want.name)
		}
	}
}

func TestTimesAndCounts(t *testing.T) {
	for text, want := range map[string]core.Time{
		"5:00": 300, "1:00:00": 3600, "1-02:03:04": 93784, "0:30": 30, "UNLIMITED": core.Forever, "NOT_SET": core.Forever,
		"365-00:00:00": 365 * 86400,
	} {
		if got, err := Limit(text); err != nil || got != want {
			t.Errorf("limit %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"5", "1-5", "1:2:3:4", "-1:00", "1-:1:1", "99999999999:00", "a:b", "INVALID"} {
		if got, err := Limit(text); err == nil {
			t.Errorf("limit %q: %d, want an error", text, got)
		}
	}
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
