package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"accordion/oar/setup"
	"accordion/shim/agent"
)

// programs are the programs that scripts may run. They are accordion, under all its names, and helpers that other test files add.
var programs = map[string]func(){"accordion": program, setup.SchedulerName: program, agent.Name: program}

func program() { os.Exit(run()) }

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// TestCommands runs testdata/script: what users and administrators type, and what they read.
func TestCommands(t *testing.T) { commands(t, "testdata/script") }

// TestCommandsOnLogs runs testdata/logs: commands that read a file, compute and print. scripts/test --real runs it
// without the race detector. The commands that compute on several cores are in testdata/script/cores.txtar.
func TestCommandsOnLogs(t *testing.T) { commands(t, "testdata/logs") }

func commands(t *testing.T, folder string) {
	testscript.Run(t, testscript.Params{
		Dir: folder,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": exits},
	})
}

// exits implements the command `status` of the scripts: "status 2 accordion …" runs a program that must exit with
// status 2.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status STATUS PROGRAM…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}
