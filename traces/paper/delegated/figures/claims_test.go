package figures

import (
	"testing"

	"accordion/traces/paper/delegated"
)

// Claim 9b is about all interpretations of the cem application. One interpretation alone does not decide it.
func TestOneReadingDoesNotDecideAClaimAboutAll(t *testing.T) {
	of := func(mb int64) []result { return []result{{Counters: delegated.Counters{BytesChange: mb * 1_000_000}}} }
	d := &Data{names: []string{"fig9"}, results: map[point][]result{}, readings: map[point][]result{}}
	for _, n := range clusters {
		d.results[d.experiment.w0(n)] = of(1)
	}
	for _, p := range d.complex() {
		d.results[p] = of(40)
	}
	verdict := func() Verdict {
		for _, c := range d.Claims() {
			if c.ID == "9b" {
				return c.Verdict
			}
		}
		return ""
	}
	if got := verdict(); got != Open {
		t.Errorf("without other readings it is %s, want open", got)
	}
	d.experiment.Readings = 1
	for other, want := range map[int64]Verdict{40: Holds, 200: Partly} {
		for _, p := range d.modeled()[3] {
			d.readings[p] = of(other)
		}
		if got := verdict(); got != want {
			t.Errorf("where another reading has %d MB it is %s, want %s", other, got, want)
		}
	}
}
