package replay_test

import (
	"flag"
	"os"
	"testing"
)

var measured = flag.String("accordion.replay", "", "run no test but measure replays: `which`, such as KTH/easy,Atlas*1.5/conservative, or all")

var long = flag.Bool("accordion.long", false, "twenty times as many random cases")

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if *measured != "" {
		os.Exit(measureReplays(*measured))
	}
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	if f := flag.Lookup("rapid.checks"); *long && f.Value.String() == f.DefValue {
		if err := f.Value.Set("2000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
