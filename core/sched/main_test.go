package sched_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "thousands of random histories instead of some")

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000, Long: 10_000})) }

// checks sets the number of random histories of one test, unless the command line does.
func checks(t *testing.T) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != "1000" && before != "10000" {
		return
	}
	histories := "80"
	if *long {
		histories = "4000"
	}
	if err := f.Value.Set(histories); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
