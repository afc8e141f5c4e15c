package ep_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"accordion/internal/testmain"
)

var longFlag = flag.Bool("accordion.long", false, "twenty times as many random cases")

// long returns the factor by which a test's number of cases is multiplied.
func long() int {
	if *longFlag {
		return 20
	}
	return 1
}

// usual is the default number of random cases of a property.
const usual = 1000

// TestMain gives random tests a fixed seed and more cases than the default, unless the command line sets them.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: usual, Long: 20 * usual})) }

// check calls rapid.Check with its own number of cases.
func check(t *testing.T, cases int, property func(*rapid.T)) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before == strconv.Itoa(usual*long()) { // the command line does not set another number
		if err := f.Value.Set(strconv.Itoa(cases * long())); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.Value.Set(before); err != nil {
				t.Fatal(err)
			}
		}()
	}
	rapid.Check(t, property)
}
