package ep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAProfileIsReadAsWritten(t *testing.T) {
	for _, test := range []struct {
		text string
		want core.EP
	}{
		{"5x500s,10x1h", core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}},
		{"  1x2d \r\n", core.EP{{Duration: 172800, Nodes: 1}}},
		{"2x01:30,3x1-00:00:00", core.EP{{Duration: 90, Nodes: 2}, {Duration: 86400, Nodes: 3}}},
		{"2x10s,2x5s,3x1s", core.EP{{Duration: 15, Nodes: 2}, {Duration: 1, Nodes: 3}}},
		{"1000000x3650d", core.EP{{Duration: core.MaxTotal, Nodes: core.MaxNodes}}},
		{strings.Repeat("2x1s,", 1023) + "2x1s", core.EP{{Duration: 1024, Nodes: 2}}},
	} {
		got, err := ep.Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%.40q): %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Parse(%.40q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestAWrongProfileIsRefusedWithThePieceAndTheRightForm(t *testing.T) {
	const form, nodes, duration = "NODESxDURATION", "a number of nodes", "500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"
	for _, test := range []struct {
		text, piece string
		column      int
		want        string
	}{
		{"", "", 1, form},
		{" \t ", "", 4, form},
		{"hello", "hello", 1, form},
		{"5x500s,", "", 8, form},
		{"5x500s,,1x1s", "", 8, form},
		{" 5x500s,7", "7", 9, form},
		{"5X500s", "5X500s", 1, form},
		{"x5s", "", 1, nodes},
		{"0x5s", "0", 1, nodes},
		{"-1x5s", "-1", 1, nodes},
		{"1000001x5s", "1000001", 1, nodes},
		{"5x500s, 10x1h", " 10x1h", 8, "no blanks after the comma"},
		{"5 x500s", "5 x500s", 1, "no blanks"},
		{"1x20s,2x20s 3x20s", "2x20s 3x20s", 7, "no blanks"},
		{"5x500", "500", 3, duration},
		{"5x", "", 3, duration},
		{"5x0s", "0s", 3, duration},
		{"5x-3s", "-3s", 3, duration},
		{"5x5sx5s", "5sx5s", 3, duration},
		{"1x1s,5x99999999999999999999d", "99999999999999999999d", 8, duration},
		{"5x500s\u00a0", "500s\u00a0", 3, duration},
		{"\ufeff5x500s", "\ufeff5", 1, nodes},
		{"1x3650d,2x1s", "2x1s", 9, "3650 days"},
		{"2x3650d,2x1s", "2x1s", 9, "3650 days"},
		{strings.Repeat("1x1s,2x1s,", 512) + "1x1s", "1x1s", 5121, "1024 steps"},
		{strings.Repeat("1x1s,", 1024) + "1x1s", "1x1s", 5121, "1024 steps"},
	} {
		requested, err := ep.Parse(test.text)
		var wrong *core.SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("Parse(%.40q) = %v, %v; want a refusal", test.text, requested, err)
			continue
		}
		if wrong.Piece != test.piece || wrong.Column != test.column || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%.40q): column %d, %q: %s\nwant column %d, %q, …%s…", test.text, wrong.Column, wrong.Piece, err, test.column, test.piece, test.want)
		}
	}
}

func TestSixtyFourKibibytesOfRubbishGiveOneShortLine(t *testing.T) {
	for _, rubbish := range []string{"\xff\xfe", "x", "1", ",", "5x", "\n\x1b[2J", "1x1s,2x2s,"} {
		_, err := ep.Parse(strings.Repeat(rubbish, 64*1024/len(rubbish)))
		if err == nil {
			t.Errorf("%q, repeated, was accepted", rubbish)
			continue
		}
		if line := err.Error(); len(line) > 400 || strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Errorf("%q, repeated: not one short printable line: %q", rubbish, line)
		}
	}
}

// profiles draws requested profiles as Parse returns them: neighbors differ.
func profiles(maxSteps int, maxDuration core.Time, maxNodes int) *rapid.Generator[core.EP] {
	return rapid.Custom(func(t *rapid.T) core.EP {
		var ep core.EP
		for range rapid.IntRange(1, maxSteps).Draw(t, "steps") {
			s := core.Step{Duration: rapid.Int64Range(1, maxDuration).Draw(t, "duration"), Nodes: rapid.IntRange(1, maxNodes).Draw(t, "nodes")}
			if last := len(ep) - 1; last < 0 || ep[last].Nodes != s.Nodes {
				ep = append(ep, s)
			}
		}
		return ep
	})
}

func TestAFormattedProfileIsReadBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requested := profiles(12, 1_000_000, core.MaxNodes).Draw(t, "ep")
		for _, text := range []string{ep.Format(requested), requested.String()} {
			if got, err := ep.Parse(text); err != nil || !cmp.Equal(got, requested) {
				t.Fatalf("%v is written %s and read as %v, %v", requested, text, got, err)
			}
		}
	})
}

func TestWhatIsParsedPassesTheCheckOfItsOwnMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requested := profiles(12, 1_000_000, 50).Draw(t, "ep")
		if err := ep.Check(requested, requested.Peak()); err != nil {
			t.Fatal(err)
		}
		if err := ep.Check(requested, requested.Peak()-1); err == nil {
			t.Fatal("more nodes than the machine has were accepted")
		}
	})
}

func TestProfilesFromFilesAreChecked(t *testing.T) {
	for name, requested := range map[string]core.EP{
		"no steps":  {},
		"steps":     make(core.EP, core.MaxSteps+1),
		"step 2":    {{Duration: 1, Nodes: 1}, {Duration: 0, Nodes: 1}},
		"nodes":     {{Duration: 1, Nodes: -1}},
		"duration":  {{Duration: core.Forever, Nodes: 1}},
		"the total": {{Duration: core.MaxTotal, Nodes: 1}, {Duration: 1, Nodes: 2}},
	} {
		if err := ep.Check(requested, 10); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Check(%.60v) = %v; want an error about %s", requested, err, name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"5x500s,10x1h", " 1x1s ", "2x01:30,3x1-00:00:00", "5x500", "1x1s,", "\xff", "99999999999999999999x1s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		requested, err := ep.Parse(text)
		if err != nil {
			return
		}
		if err := ep.Check(requested, core.MaxNodes); err != nil {
			t.Fatalf("%q was accepted: %v", text, err)
		}
		if again, err := ep.Parse(ep.Format(requested)); err != nil || !cmp.Equal(requested, again) {
			t.Fatalf("%q: %v is not read back: %v, %v", text, requested, again, err)
		}
	})
}

func ExampleParse() {
	requested, _ := ep.Parse("5x500s,10x1h")
	fmt.Println(requested.Total(), requested.Peak())
	_, err := ep.Parse("5x500")
	fmt.Println(err)
	// Output:
	// 4100 10
	// evolution profile, column 3: "500" is not a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS
}

func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("5x500s,10x1h30m,", 511) + "5x500s"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ep.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
