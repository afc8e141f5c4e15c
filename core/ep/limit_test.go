package ep_test

import (
	"math/big"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"pgregory.net/rapid"
)

func TestALimitIsAnExactDecimal(t *testing.T) {
	for _, test := range []struct {
		text, again string
		d, longest  core.Time
	}{
		{"1", "1", 100, 100},
		{"1.13", "1.13", 100, 113}, // 112 in floating point
		{"2", "2", 7, 14},
		{"2.0", "2", 7, 14},
		{"1.5", "1.5", 3, 4},
		{"1.000001", "1.000001", 999_999, 999_999},
		{"1.000001", "1.000001", 1_000_000, 1_000_001},
		{"1000000", "1000000", core.MaxTotal, core.MaxTotal * 1_000_000},
		{"1000000", "1000000", core.Forever / 2, core.Forever},
		{"inf", "inf", 1, core.Forever},
		{"001.5", "1.5", 2, 3},
	} {
		l, err := ep.ParseLimit(test.text)
		if err != nil || l.String() != test.again || l.Longest(test.d) != test.longest {
			t.Errorf("%s: %v, %v, longest of %d is %d; want %s, %d", test.text, l, err, test.d, l.Longest(test.d), test.again, test.longest)
		}
	}
}

func TestInvalidLimitIsRefused(t *testing.T) {
	for _, text := range []string{"", "0", "0.999999", "-1", "+2", "2.", ".5", "1.0000001", "2x", "2X", "infinity", "Inf", "NaN", "1e3", "1000000.000001", "1000001", "99999999999999999999", "1 ", "1.5.5", "\xff"} {
		l, err := ep.ParseLimit(text)
		if err == nil || !strings.Contains(err.Error(), "or inf") {
			t.Errorf("ParseLimit(%q) = %v, %v; want a refusal that names the forms", text, l, err)
		}
	}
}

func TestTheLongestLengthIsTheFloorOfTheExactProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ep.Limit(rapid.Int64Range(int64(ep.NoExpansion), 1_000_000_000_000).Draw(t, "millionths"))
		d := rapid.Int64Range(1, core.Forever-1).Draw(t, "d")
		product := new(big.Int).Mul(big.NewInt(d), big.NewInt(int64(l)))
		want := product.Div(product, big.NewInt(1_000_000))
		if want.Cmp(big.NewInt(core.Forever)) > 0 {
			want = big.NewInt(core.Forever)
		}
		if got := l.Longest(d); got != want.Int64() {
			t.Fatalf("%v × %d = %d, want %v", l, d, got, want)
		}
		if again, err := ep.ParseLimit(l.String()); err != nil || again != l {
			t.Fatalf("%v is read back as %v, %v", l, again, err)
		}
	})
}

func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"1", "1.13", "inf", "2.", "1.0000001", "99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ep.ParseLimit(text)
		if err != nil {
			return
		}
		if again, err := ep.ParseLimit(l.String()); err != nil || again != l || l < ep.NoExpansion {
			t.Fatalf("%q is %v, read back as %v, %v", text, l, again, err)
		}
	})
}
