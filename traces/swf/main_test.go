package swf

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "read every log that is there, and more random ones")

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 300, Long: 20_000})) }
