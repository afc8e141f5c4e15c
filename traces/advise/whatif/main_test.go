package whatif

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var longFlag = flag.Bool("accordion.long", false, "twenty times as many random cases")

// TestMain uses the same random cases in every run, and more of them than rapid does by default. Flags override this.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 300, Long: 6000})) }
