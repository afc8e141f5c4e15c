package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection less frequent, because scenarios make much garbage and keep little memory.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	status := m.Run()
	fmt.Print(afterwards.String())
	os.Exit(status)
}
