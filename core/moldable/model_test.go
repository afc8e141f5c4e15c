package moldable_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/moldable"
)

func TestModelsGiveTheirSizesWithTheTimeOnEach(t *testing.T) {
	for text, want := range map[string]string{
		"amdahl:p=0.5,t1=1h,nodes=1-4":             "1x1h|2x45m|3x40m|4x37m30s", // (1 − ½ + ½/n)·1 h
		"amdahl:p=1,t1=1h,nodes=1-8^2":             "1x1h|2x30m|4x15m|8x7m30s",
		"amdahl:p=0.9,t1=100s,nodes=3-5":           "3x40s|4x33s|5x28s", // rounded up: 40, 32.5, 28
		"amdahl:p=0,t1=1h,nodes=1-100":             "1x1h",              // no size is faster than the first
		"downey:a=4,sigma=0,t1=1h,nodes=1-6":       "1x1h|2x30m|3x20m|4x15m",
		"downey:a=4,sigma=1,t1=1h,nodes=1-8":       "1x1h|2x33m45s|3x25m|4x20m38s|5x18m|6x16m15s|7x15m", // S(2)=16/9, …, S(7)=4
		"downey:a=2,sigma=2,t1=1h,nodes=1-6":       "1x1h|2x40m|3x33m20s|4x30m",                         // S(n)=6n/(2n+4) up to A+Aσ−σ
		"  amdahl:p=0.99,t1=00:10:00,nodes=5-9^2 ": "8x1m21s",
	} {
		got, err := moldable.Parse(text)
		if err != nil || moldable.Format(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, moldable.Format(got), err, want)
		}
	}
}

func TestAmdahlsTimesAreExactAndRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, t1 := rapid.Int64Range(0, 1_000_000).Draw(t, "p"), rapid.Int64Range(1, core.MaxTotal).Draw(t, "t1")
		n := rapid.IntRange(1, core.MaxNodes).Draw(t, "nodes")
		got, err := moldable.Parse(fmt.Sprintf("amdahl:p=%d.%06d,t1=%ds,nodes=%d-%d", p/1_000_000, p%1_000_000, t1, n, n))
		if err != nil {
			t.Fatal(err)
		}
		share := big.NewRat(p, 1_000_000)
		exact := new(big.Rat).Sub(big.NewRat(1, 1), share)
		exact.Add(exact, new(big.Rat).Quo(share, big.NewRat(int64(n), 1)))
		exact.Mul(exact, big.NewRat(t1, 1))
		want := new(big.Int).Quo(new(big.Int).Sub(new(big.Int).Add(exact.Num(), exact.Denom()), big.NewInt(1)), exact.Denom()).Int64()
		if got[0][0].Duration != max(want, 1) {
			t.Fatalf("%d seconds, want %d", got[0][0].Duration, want)
		}
	})
}

func TestAlternativesOfWholeProfilesAreReadAsWritten(t *testing.T) {
	got, err := moldable.ParseProfiles("2x1h,8x1h|4x40m,16x40m")
	want := []core.EP{{{Duration: 3600, Nodes: 2}, {Duration: 3600, Nodes: 8}}, {{Duration: 2400, Nodes: 4}, {Duration: 2400, Nodes: 16}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = moldable.ParseProfiles("2x1h|4x40m,16x40")
	var wrong *core.SyntaxError
	if !errors.As(err, &wrong) || wrong.Column != 15 || wrong.Piece != "40" {
		t.Errorf("the error is %v, want column 15, \"40\"", err)
	}
}
