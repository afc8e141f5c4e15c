package moldable_test

import (
	"errors"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/moldable"

	"github.com/google/go-cmp/cmp"
)

func TestConfigurationsAreReadAsWritten(t *testing.T) {
	got, err := moldable.Parse(" 4x2h|8x70m|16x00:40:00\n")
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
		{"4x2h | 8x1h", "4x2h ", 1, "no blanks"},
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
		_, err := moldable.Parse(test.text)
		var wrong *core.SyntaxError
		if !errors.As(err, &wrong) || wrong.Piece != test.piece || wrong.Column != test.column || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%.40q): %v\nwant column %d, %q, …%s…", test.text, err, test.column, test.piece, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"4x2h|8x70m", "4x2h|", "4x120", " 1x1s ", "\xff|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		choices, err := moldable.Parse(text)
		if err != nil {
			return
		}
		if again, err := moldable.Parse(moldable.Format(choices)); err != nil || !cmp.Equal(choices, again) {
			t.Fatalf("%q: %v is not read back: %v, %v", text, choices, again, err)
		}
	})
}
