package replay_test

import (
	"flag"
	"os"
	"testing"
)

var (
	long     = flag.Bool("accordion.long", false, "twenty times as many random cases")
	measured = flag.String("accordion.replay", "", "run no test but measure replays: `which`, such as KTH/easy, or all")
)

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if *measured != "" {
		os.Exit(measureReplays(*measured))
	}
	values := map[string]string{"rapid.seed": "1"}
	if *long {
		values["rapid.checks"] = "2000"
	}
	for name, value := range values {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}
