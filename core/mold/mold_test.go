package mold_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/mold"
	"accordion/core/profile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestConfigurationsAreReadAsWritten(t *testing.T) {
	got, err := mold.Parse(" 4x2h|8x70m|16x00:40:00\n")
	want := []core.EP{{{Duration: 7200, Nodes: 4}}, {{Duration: 4200, Nodes: 8}}, {{Duration: 2400, Nodes: 16}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestWrongConfigurationsAreRefusedWithThePieceAndTheRightForm(t *testing.T) {
	for _, test := range []struct {
		text, piece string
		column      int
		want        string
	}{
		{"", "", 1, "NODESxDURATION"},
		{"4x2h|", "", 6, "NODESxDURATION"},
		{"4x2h||8x1h", "", 6, "NODESxDURATION"},
		{"4x2h | 8x1h", "2h ", 3, "500s, 90m"},
		{"4x2h,8x1h", "2h,8x1h", 3, "500s, 90m"},
		{"4x2h|0x1h", "0", 6, "a number of nodes"},
		{"4x120", "120", 3, "HH:MM:SS"},
		{"amdahl:p=0.99", "p=0.99", 8, "nodes=FROM-TO"},
		{"gustafson:p=0.99", "gustafson", 1, "amdahl or downey"},
		{"amdahl:p=1.01,t1=1h,nodes=1-4", "1.01", 10, "a share from 0 to 1"},
		{"amdahl:p=0.1234567,t1=1h,nodes=1-4", "0.1234567", 10, "six places"},
		{"amdahl:p=0.9,t1=60,nodes=1-4", "60", 17, "HH:MM:SS"},
		{"amdahl:p=0.9,t1=0s,nodes=1-4", "0s", 17, "above 0"},
		{"amdahl:p=0.9,t1=1h,nodes=4-1", "4-1", 26, "a range of sizes"},
		{"amdahl:p=0.9,t1=1h,nodes=8", "8", 26, "a range of sizes"},
		{"amdahl:p=0.9,t1=1h,nodes=1-257", "1-257", 26, "at most 256 sizes"},
		{"amdahl:p=0.9,t1=1h,nodes=5-7^2", "5-7^2", 26, "a power of two in it"},
		{"amdahl:t1=1h,p=0.9,nodes=1-4", "t1=1h,p=0.9,nodes=1-4", 8, "p=SHARE"},
		{"downey:a=0.5,sigma=1,t1=1h,nodes=1-4", "0.5", 10, "at least 1"},
		{"downey:a=5,sigma=-1,t1=1h,nodes=1-4", "-1", 18, "from 0 to 1000"},
		{strings.Repeat("1x1s|", 256) + "2x1s", "2x1s", 1281, "256 configurations"},
	} {
		_, err := mold.Parse(test.text)
		var wrong *core.SyntaxError
		if !errors.As(err, &wrong) || wrong.Piece != test.piece || wrong.Column != test.column || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%.40q): %v\nwant column %d, %q, …%s…", test.text, err, test.column, test.piece, test.want)
		}
	}
}

func TestTheChoiceIsTheEarliestCompletionWithTheFewestNodes(t *testing.T) {
	p := profile.New(16)
	p.Add(0, core.EP{{Duration: 3600, Nodes: 10}})
	for _, test := range []struct {
		text  string
		index int
		start core.Time
	}{
		{"4x2h|8x70m", 0, 0},           // 8 would have to wait: 2 h against 1 h + 70 m
		{"4x3h|8x70m", 1, 3600},        // now it is worth it
		{"4x2h|8x1h", 0, 0},            // both complete after 2 h: the fewer nodes
		{"8x1h|4x2h", 1, 0},            // whatever the order
		{"4x2h|4x2h", 0, 0},            // the first of equals
		{"17x1s|2x10h", 1, 0},          // what exceeds the machine does not count
		{"16x1h|6x2h|5x2h|6x3h", 2, 0}, // two hours with the fewest nodes
	} {
		choices, err := mold.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := mold.Choose(new(evolve.Fitter), choices, p, evolve.NoExpansion, 0)
		if !ok || got.Index != test.index || got.Start != test.start || !cmp.Equal(got.EP, choices[test.index]) {
			t.Errorf("%s: %+v, %t; want choice %d at %d", test.text, got, ok, test.index, test.start)
		}
	}
	if got, ok := mold.Choose(new(evolve.Fitter), []core.EP{{{Duration: 1, Nodes: 17}}}, p, evolve.NoExpansion, 0); ok {
		t.Errorf("what never fits was placed: %+v", got)
	}
}

func TestNoOtherChoiceWouldCompleteEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Custom(func(t *rapid.T) core.Step {
			return core.Step{Duration: rapid.Int64Range(1, 8).Draw(t, "duration"), Nodes: rapid.IntRange(1, 6).Draw(t, "nodes")}
		})
		p := profile.New(5)
		for _, s := range rapid.SliceOfN(step, 0, 5).Draw(t, "busy") {
			p.Add(rapid.Int64Range(0, 10).Draw(t, "at"), core.EP{s})
		}
		var choices []core.EP
		for _, s := range rapid.SliceOfN(step, 1, 5).Draw(t, "choices") {
			choices = append(choices, core.EP{s})
		}
		got, ok := mold.Choose(new(evolve.Fitter), choices, p, evolve.NoExpansion, 2)
		for i, ep := range choices {
			start, fits := p.FirstFit(ep[0].Nodes, ep[0].Duration, 2)
			if !fits {
				continue
			}
			end := start + ep[0].Duration
			if !ok || end < got.Completion() || end == got.Completion() && ep[0].Nodes < got.EP[0].Nodes {
				t.Fatalf("choice %d would run in [%d, %d); chosen was %+v, %t", i, start, end, got, ok)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"4x2h|8x70m", "4x2h|", "4x120", " 1x1s ", "\xff|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		choices, err := mold.Parse(text)
		if err != nil {
			return
		}
		if again, err := mold.Parse(mold.Format(choices)); err != nil || !cmp.Equal(choices, again) {
			t.Fatalf("%q: %v is not read back: %v, %v", text, choices, again, err)
		}
	})
}

func ExampleChoose() {
	p := profile.New(16)
	p.Add(0, core.EP{{Duration: 3600, Nodes: 10}}) // 6 are free for the first hour
	choices, _ := mold.Parse("4x3h|8x70m")
	best, _ := mold.Choose(new(evolve.Fitter), choices, p, evolve.NoExpansion, 0)
	fmt.Println(evolve.Format(best.EP), "at", best.Start)
	// Output: 8x1h10m at 3600
}
