package list_test

import (
	"flag"
	"os"
	"testing"
)

var long = flag.Bool("accordion.long", false, "thousands of random histories instead of some")

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "1000"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}

// checks sets the number of random histories of one test, unless the command line does.
func checks(t *testing.T) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != "1000" {
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
