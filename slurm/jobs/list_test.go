package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/adapter"
)

func TestSqueueRunsWithoutAConsoleThatPrintsTheKnownForm(t *testing.T) {
	shown, listed := plainJobs(3)
	for what, silent := range map[string]bool{"it writes otherwise": false, "none speaks": true} {
		p := newScriptedReader(t, 0, strings.ReplaceAll(shown, " WorkDir=", " Other="), listed)
		if silent {
			if err := os.WriteFile(filepath.Join(p.bin, "scontrol"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if n := p.listed(); n != 3 || p.asked() != 1 {
			t.Errorf("%s: a list has %d jobs after %d squeues, want 3 after 1", what, n, p.asked())
		}
		if r, err := p.Find(t.Context(), adapter.Key{ID: 101, Submitted: 1795000000}); err != nil || r.Name != "wrap" || p.asked() != 2 {
			t.Errorf("%s: one job is %+v after %d squeues, %v, want 2", what, r, p.asked(), err)
		}
	}
}
