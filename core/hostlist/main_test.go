package hostlist_test

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000})) }
