package live

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == seed.DefValue {
		if err := seed.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
