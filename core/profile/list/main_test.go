package list_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
