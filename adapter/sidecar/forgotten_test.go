package sidecar_test

import (
	"strings"
	"testing"
)

func TestAResizeThatTheBatchSystemForgotIsDoneAgainOnTheSameNodes(t *testing.T) {
	for _, c := range []struct {
		name, ep     string
		saved, crash int    // seconds of the save and of the crash; the resize is at second 24
		holds        string // the nodes that the job holds two seconds after the crash, and the nodes that the application was informed of
	}{
		{"a growth", "2x20s,5x20s", 23, 26, "n[1-5]"},
		{"a shrink", "5x20s,2x20s", 23, 26, "n[1-2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.evolving(c.ep)
				w.at(c.saved)
				saved := w.Save()
				w.at(c.crash)
				told := w.nodesAt(job, c.crash-1)
				w.Restart(saved)
				w.at(c.crash + 4)
				if got := w.nodesAt(job, c.crash+3); got != told || got != c.holds {
					t.Errorf("it holds %s, and knows of %s, want %s\n%s", got, told, c.holds, w.journalled())
				}
				w.quiet(200)
				if events := w.events(job); !strings.Contains(events, "forgotten resized") {
					t.Errorf("events: %s", events)
				}
				w.clean()
			})
		})
	}
}
