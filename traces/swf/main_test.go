package swf

import (
	"flag"
	"os"
	"testing"
)

var long = flag.Bool("accordion.long", false, "read every log that is there, and more random ones")

// TestMain makes the random cases the same in every run, unless the command line asks otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "300"
	if *long {
		checks = "20000"
	}
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": checks} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}
