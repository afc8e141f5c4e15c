package whatif

import (
	"flag"
	"os"
	"testing"
)

var longFlag = flag.Bool("accordion.long", false, "twenty times as many random cases")

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "300"
	if *longFlag {
		checks = "6000"
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
