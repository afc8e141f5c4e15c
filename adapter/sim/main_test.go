package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often, because scenarios make much of it and keep none.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	status := m.Run()
	fmt.Print(afterwards.String())
	os.Exit(status)
}
