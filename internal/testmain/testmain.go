// Package testmain provides the common part of this repository's TestMain functions. It makes the random cases the same
// in every run.
//
//	func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000, Long: 20_000})) }
//
// If a test failed at random, its failure would not show whether the last change is the cause. Flags select other
// cases: go test ./core/place -rapid.seed 7 -rapid.checks 100000.
package testmain

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
)

// Cases is the number of random cases for each property of a package.
type Cases struct {
	Usual int // 0 means rapid's default
	Long  int // with -accordion.long; 0 means Usual
}

// Run runs the tests of a package that uses rapid and returns the exit status.
func Run(m *testing.M, c Cases) int {
	Prepare(c)
	return m.Run()
}

// Prepare parses the command line and sets the random cases, as Run does. It is for a TestMain that does more than
// Run.
func Prepare(c Cases) {
	if flag.Lookup(long) == nil {
		flag.Bool(long, false, "more random cases")
	}
	flag.Parse()
	if err := choose(flag.CommandLine, c); err != nil {
		panic(err)
	}
}

// long is the flag of all long tests.
const long = "accordion.long"

// choose sets rapid's flags that the command line has not set.
func choose(flags *flag.FlagSet, c Cases) error {
	checks := c.Usual
	if c.Long > 0 && flags.Lookup(long).Value.String() == "true" {
		checks = c.Long
	}
	if err := preset(flags, "rapid.seed", "1"); err != nil || checks == 0 {
		return err
	}
	return preset(flags, "rapid.checks", strconv.Itoa(checks))
}

// preset sets a flag, unless its value already differs from the default.
func preset(flags *flag.FlagSet, name, value string) error {
	f := flags.Lookup(name)
	if f == nil {
		return fmt.Errorf("flag -%s: no such flag; does the package's test import pgregory.net/rapid?", name)
	}
	if f.Value.String() != f.DefValue {
		return nil
	}
	return f.Value.Set(value)
}
