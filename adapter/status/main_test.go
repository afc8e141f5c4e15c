package status_test

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain seeds the random cases, so that every run has the same ones unless the command line says otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{})) }
