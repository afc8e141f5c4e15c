package core_test

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestLooseDurationsAreRewrittenAsPluginsReadThem(t *testing.T) {
	for text, want := range map[string]string{
		"1.5h": "1h30m", "20min": "20m", "20 min": "20m", "1 H 30 M": "1h30m", "2 hours": "2h", "1day": "1d", "0.25d": "6h", "90secs": "1m30s",
		"1h30min": "1h30m", "1.25 hrs": "1h15m", "0.5m": "30s",
		// Correct text stays unchanged, and so does text that cannot be parsed.
		"1h30m": "1h30m", "90m": "90m", "01:30:00": "01:30:00", "1-00:00:00": "1-00:00:00",
		"": "", "5": "5", "h": "h", "1.h": "1.h", "1.5": "1.5", "30m1h": "30m1h", "1h1h": "1h1h", "0.0001s": "0.0001s", "1..5h": "1..5h",
		"1 fortnight": "1 fortnight", "9999999999h": "9999999999h", "99999d": "99999d", "-1h": "-1h",
	} {
		if got := core.TidyDuration(text); got != want {
			t.Errorf("TidyDuration(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLooseStepsAreRewrittenAsPluginsReadThem(t *testing.T) {
	for text, want := range map[string]string{
		"8X1h": "8x1h", "2 x 20m": "2x20m", " 2 X 1.5h ": "2x1h30m", "4*1h": "4x1h", "4×20min": "4x20m", "5x500s": "5x500s",
		"2x": "2x", "x1h": "x1h", "0x1h": "0x1h", "2xx1": "2xx1", "two x 1h": "two x 1h", "1x20s 2x20s": "1x20s 2x20s", "2x1h,": "2x1h,",
	} {
		if got := core.TidyStep(text); got != want {
			t.Errorf("TidyStep(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTidyingChangesNothingThatIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := core.FormatDuration(rapid.Int64Range(1, core.MaxTotal).Draw(t, "d"))
		if core.TidyDuration(d) != d || core.TidyStep("4x"+d) != "4x"+d {
			t.Fatalf("%s becomes %s", d, core.TidyDuration(d))
		}
	})
}

func FuzzTidyStep(f *testing.F) {
	for _, seed := range []string{"8X1h", "2 x 20m", "1.5h", "4×20min", "x", "2x999999999.999999d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tidy := core.TidyStep(text)
		if _, err := core.ParseStep("", 1, tidy); err != nil && tidy != text {
			t.Fatalf("%q becomes %q, which is wrong: %v", text, tidy, err)
		}
		if core.TidyStep(tidy) != tidy {
			t.Fatalf("%q becomes %q, and that %q", text, tidy, core.TidyStep(tidy))
		}
	})
}
