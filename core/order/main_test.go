package order_test

import (
	"flag"
	"os"
	"testing"

	"accordion/internal/testmain"
)

var long = flag.Bool("accordion.long", false, "search the paper's tests with the whole number of evaluations, and more random cases")

// TestMain gives random tests a fixed seed, unless the command line sets one.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 300, Long: 20_000})) }
