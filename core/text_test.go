package core_test

import (
	"strings"
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestADurationIsReadInEachOfItsForms(t *testing.T) {
	for _, test := range []struct {
		text string
		want core.Time
	}{
		{"500s", 500}, {"90m", 5400}, {"1h30m", 5400}, {"2d", 172800}, {"1d2h3m4s", 93784}, {"1d4s", 86404},
		{"0s", 0}, {"007s", 7}, {"3650d", core.MaxTotal}, {"315360000s", core.MaxTotal},
		{"01:30", 90}, {"90:00", 5400}, {"0:05", 5}, {"01:30:00", 5400}, {"100:00:00", 360000}, {"1:02:03", 3723},
		{"1-00:00:00", 86400}, {"0-1:00:00", 3600}, {"1-23:59:59", 172799},
	} {
		if got, ok := core.ParseDuration(test.text); !ok || got != test.want {
			t.Errorf("ParseDuration(%q) = %d, %t; want %d", test.text, got, ok, test.want)
		}
	}
}

func TestInvalidDurationIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "500", "s", "h5", "5x", "5 s", " 5s", "5s ", "5S", "5H", "-5s", "+5s", "1.5h", "1e3s", "30m1h", "1h1h", "1s1s", "1h30",
		"3651d", "315360001s", "3650d1s", "9223372036854775808s", "99999999999999999999999d",
		":", "5:", ":05", "1:5", "1:60", "1:60:00", "1:00:60", "1:2:03", "1:02:3", "1:02:03:04", "1-", "1-00", "1-00:00",
		"1-24:00:00", "1-024:00:00", "-1:00:00", "1-2-3:00:00", "1:0s", "3651-00:00:00", "99999999999999999999:00", "５s", "\x00",
	} {
		if got, ok := core.ParseDuration(text); ok {
			t.Errorf("ParseDuration(%q) = %d, want a refusal", text, got)
		}
	}
}

func TestAFormattedDurationIsReadBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, core.MaxTotal).Draw(t, "d")
		if got, ok := core.ParseDuration(core.FormatDuration(d)); !ok || got != d {
			t.Fatalf("%d is written %s and read as %d, %t", d, core.FormatDuration(d), got, ok)
		}
	})
}

func TestANumberOfNodesIsPlainDigitsWithinTheLimit(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "05": 5, "1000000": core.MaxNodes} {
		if got, ok := core.ParseNodes(text); !ok || got != want {
			t.Errorf("ParseNodes(%q) = %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "0", "00", "-1", "+1", "1.0", "1k", "1000001", "18446744073709551617", " 1", "0x1"} {
		if got, ok := core.ParseNodes(text); ok {
			t.Errorf("ParseNodes(%q) = %d, want a refusal", text, got)
		}
	}
}

func TestForeignTextIsShownOnOneShortPrintableLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "piece"))
		shown := core.Shown(piece)
		if len(shown) > 4*40+5 || strings.IndexFunc(shown, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Fatalf("%q is shown as %s", piece, shown)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"500s", "1h30m", "90:00", "1-02:03:04", "1-", "::", "99999999999999999999d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := core.ParseDuration(text); ok && (d < 0 || d > core.MaxTotal) {
			t.Fatalf("%q is read as %d", text, d)
		}
	})
}

func TestPrintableTextDoesNothingToATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"cfd 7, année":       "cfd 7, année",
		"\x1b[2J\ttab\nline": "?[2J?tab?line",
		"\xff\u202eevil\x00": "??evil?",
	} {
		if got := core.Printable(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
