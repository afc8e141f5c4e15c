package replay_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var (
	long     = flag.Bool("accordion.long", false, "twenty times as many random cases")
	measured = flag.String("accordion.replay", "", "run no test but measure replays: `which`, such as KTH/easy, or all")
)

// TestMain uses the same random cases in every run. Flags override this.
func TestMain(m *testing.M) {
	testmain.Prepare(testmain.Cases{Long: 2000})
	if *measured != "" {
		os.Exit(measureReplays(*measured))
	}
	os.Exit(m.Run())
}
