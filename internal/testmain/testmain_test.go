package testmain

import (
	"flag"
	"strings"
	"testing"
)

func TestRandomCasesAreTheSameUnlessTheCommandLineSaysOtherwise(t *testing.T) {
	for _, c := range []struct {
		name, line string
		cases      Cases
		seed       uint64
		checks     int
	}{
		{"usual", "", Cases{300, 6000}, 1, 300},
		{"long", "-accordion.long", Cases{300, 6000}, 1, 6000},
		{"rapid's own number", "", Cases{0, 0}, 1, 100},
		{"rapid's own number, more when long", "-accordion.long", Cases{0, 2000}, 1, 2000},
		{"long as usual", "-accordion.long", Cases{Usual: 25}, 1, 25},
		{"another seed", "-rapid.seed 7", Cases{300, 6000}, 7, 300},
		{"another number", "-rapid.checks 5 -accordion.long", Cases{300, 6000}, 1, 5},
	} {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		seed, checks := flags.Uint64("rapid.seed", 0, ""), flags.Int("rapid.checks", 100, "")
		flags.Bool("accordion.long", false, "")
		if err := flags.Parse(strings.Fields(c.line)); err != nil {
			t.Fatal(err)
		}
		if err := choose(flags, c.cases); err != nil || *seed != c.seed || *checks != c.checks {
			t.Errorf("%s: seed %d, %d cases, error %v; want seed %d, %d cases", c.name, *seed, *checks, err, c.seed, c.checks)
		}
	}
}

func TestAPackageWithoutRapidIsNamed(t *testing.T) {
	if err := choose(flag.NewFlagSet("", flag.ContinueOnError), Cases{}); err == nil || !strings.Contains(err.Error(), "rapid") {
		t.Errorf("error %v, want one that names rapid", err)
	}
}
