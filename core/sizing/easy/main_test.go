package easy_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "ten thousand random histories of each policy instead of some")

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000})) }
