package live

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain gives random tests a fixed seed, unless the command line sets one.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{})) }
