package patient_test

import (
	"flag"
	"os"
	"testing"
)

var long = flag.Bool("accordion.long", false, "ten thousand random histories instead of a thousand")

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "1000"
	if *long {
		checks = "10000"
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
