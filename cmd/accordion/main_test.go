package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what the scripts may run: accordion itself, and helpers that other test files add.
var programs = map[string]func(){"accordion": func() { os.Exit(run()) }}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// TestCommands runs testdata/script: what users and administrators type, and what they read.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("TZ", "UTC")
			return nil
		},
	})
}
