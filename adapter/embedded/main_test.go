package embedded

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain seeds the random cases, so that every run has the same cases, unless flags ask for
// others.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{})) }
