package profile

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var (
	long  = flag.Bool("accordion.long", false, "more than a million random operations")
	packs = flag.String("accordion.pack", "", "run no test but measure the workload pack with so many `jobs`, such as 1000,10000")
)

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) {
	testmain.Prepare(testmain.Cases{Usual: 1000})
	if *packs != "" {
		os.Exit(measurePacks(*packs))
	}
	os.Exit(m.Run())
}

// checks sets the number of random cases of one test, unless the command line does.
func checks(t *testing.T, ordinary, many string) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != "1000" {
		return
	}
	if *long {
		ordinary = many
	}
	if err := f.Value.Set(ordinary); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
