package place_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var longFlag = flag.Bool("accordion.long", false, "twenty times as many random cases")

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000, Long: 20_000})) }
