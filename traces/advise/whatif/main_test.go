package whatif

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var longFlag = flag.Bool("accordion.long", false, "twenty times as many random cases")

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 300, Long: 6000})) }
