package swf

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "read every log that is there, and more random ones")

// TestMain uses the same random cases in every run. Flags override this.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 300, Long: 20_000})) }
