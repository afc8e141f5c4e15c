package advise

import (
	"os"
	"testing"

	"accordion/internal/testmain"
)

// TestMain uses the same random cases in every run, and more of them than rapid does by default. Flags override this.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000, Long: 20_000})) }
