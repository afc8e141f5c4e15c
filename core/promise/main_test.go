package promise_test

import (
	"os"
	"testing"

	"accordion/core"
	"accordion/core/queue/queuetest"
	"accordion/internal/testmain"

	"pgregory.net/rapid"
)

// TestMain makes the random cases the same in every run, and more than usual, unless the command line asks otherwise.
func TestMain(m *testing.M) { os.Exit(testmain.Run(m, testmain.Cases{Usual: 1000})) }

func epOf(text string) core.EP { return queuetest.EP(text) }

// drawEP draws a profile of a few steps of a few seconds.
func drawEP(t *rapid.T, steps, nodes int) core.EP {
	ep := make(core.EP, rapid.IntRange(1, steps).Draw(t, "steps"))
	for i := range ep {
		ep[i] = core.Step{Duration: rapid.Int64Range(1, 5).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}
	}
	return ep
}

// drawRunning draws what runs, from the past on, and what lies in the future. Together it may exceed the machine.
func drawRunning(t *rapid.T, now core.Time, nodes int) []core.Allocation {
	all := make([]core.Allocation, rapid.IntRange(0, 3).Draw(t, "running"))
	for i := range all {
		all[i] = core.Allocation{
			Job:   core.JobID(-1 - i),
			Start: now + rapid.Int64Range(-9, 9).Draw(t, "start"),
			EP:    drawEP(t, 3, nodes),
		}
	}
	return all
}
