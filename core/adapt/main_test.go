package adapt_test

import (
	"flag"
	"os"
	"testing"
)

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
