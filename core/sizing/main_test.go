package sizing_test

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000})) }
