package easy_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "ten thousand random histories of each policy instead of some")

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000})) }
