package workload

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/traces/swf"
)

func TestFactorsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Factor(rapid.Int64Range(1, int64(mostFactor)).Draw(t, "factor"))
		n := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, MaxTime)).Draw(t, "n")
		floor := func(a, b int64) int64 {
			q := new(big.Int).Mul(big.NewInt(n), big.NewInt(a))
			if q.Quo(q, big.NewInt(b)); !q.IsInt64() || q.Int64() > core.Forever {
				return core.Forever
			}
			return q.Int64()
		}
		if got, want := f.Divide(n), floor(1_000_000, int64(f)); got != want {
			t.Fatalf("%d / %v is %d, want %d", n, f, got, want)
		}
		if got, want := f.Multiply(n), floor(int64(f), 1_000_000); got != want {
			t.Fatalf("%d · %v is %d, want %d", n, f, got, want)
		}
		if back, err := ParseFactor("factor", f.String()); err != nil || back != f {
			t.Fatalf("%v is read back as %v, error %v", f, back, err)
		}
	})
}

func FuzzFactor(f *testing.F) {
	for _, text := range []string{"1.25", "0.000001", "1000000", "1e6", "", ".5", "5.", "-1", "٣"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseFactor("factor", text)
		want, ok := new(big.Rat).SetString(text)
		plain := strings.Trim(text, "0123456789.") == ""
		if err == nil && (!ok || !plain || want.Cmp(big.NewRat(int64(got), 1_000_000)) != 0) {
			t.Errorf("%q is read as %v", text, got)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q: an error of several lines", text)
		}
	})
}

func TestWindows(t *testing.T) {
	begin := time.Date(2006, 11, 10, 23, 5, 1, 0, time.UTC).Unix()
	header := &swf.Header{Lines: []string{" UnixStartTime: " + big.NewInt(begin).String()}}
	for text, want := range map[string]Window{
		"0..86400":               {0, 86400},
		"7d..14d":                {7 * 86400, 14 * 86400},
		"1h30m..":                {5400, 0},
		"..02:00:00":             {0, 7200},
		"2006-11-11..2006-11-12": {3299, 3299 + 86400},
		"2006-11-10T23:06..":     {59, 0},
		"2006-11-10..1d":         {3299 - 86400, 86400}, // a window may begin before the log
	} {
		if got, err := ParseWindow(text, header); err != nil || got != want {
			t.Errorf("%s is read as %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "..", "5", "5..5", "7d..1d", "-1..5", "a..b", "1..b", "2006-11-01..2006-11-02", "2006-13-01..", "0..99999999999999999999"} {
		if got, err := ParseWindow(text, header); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if got, err := ParseWindow("2006-11-11..", &swf.Header{}); err == nil {
		t.Errorf("a date is read as %v of a log that has no dates", got)
	}
}

func FuzzWindow(f *testing.F) {
	for _, text := range []string{"0..86400", "7d..14d", "2006-11-11..2006-11-12", "..", "1h30m.."} {
		f.Add(text)
	}
	header := &swf.Header{Lines: []string{" UnixStartTime: 1163199901"}}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWindow(text, header)
		if err == nil && w.To != 0 && (w.To <= w.From || w.To < 0) {
			t.Errorf("%q is read as %v", text, w)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q: an error of several lines", text)
		}
	})
}

func FuzzEstimates(f *testing.F) {
	for _, text := range []string{"requested", "actual", "×2", "x1.5", "×", "x-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEstimates(text)
		if err != nil {
			return
		}
		if back, err := ParseEstimates(e.String()); err != nil || back != e {
			t.Errorf("%q is read as %v and then as %v, error %v", text, e, back, err)
		}
		if got := e.request(50, 60); got < 50 {
			t.Errorf("%q: a job that runs 50 s asks for %d", text, got)
		}
	})
}
