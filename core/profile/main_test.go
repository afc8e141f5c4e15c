package profile

import (
	"flag"
	"os"
	"testing"
)

var (
	long  = flag.Bool("accordion.long", false, "more than a million random operations")
	packs = flag.String("accordion.pack", "", "run no test but measure the workload pack with so many `jobs`, such as 1000,10000")
)

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if *packs != "" {
		os.Exit(measurePacks(*packs))
	}
	checks := "1000"
	if *long {
		checks = "40000"
	}
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": checks} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}
