package sim

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: a story makes much of it and keeps none.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
