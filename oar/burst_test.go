package oar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// How long a scheduler waits before it exits (Report.Rest) depends on the time that OAR takes between two passes. In that time OAR starts
// two Perl programs.
func TestPassesThatFollowEachOtherDoNotMakeOARSleep(t *testing.T) {
	onBothDatabases(t, 5, passesThatFollowEachOther, lab.Plain(), lab.Started())
}

// A job holds all nodes, and the next job waits. OAR is asked for one pass after another, as if many users submitted jobs.
func passesThatFollowEachOther(t *testing.T, lab *lab.OARLab) {
	const passes = 12
	first := lab.Submit(t, "bob", "while [ ! -e gone ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=5,walltime=0:10:0")
	lab.Await(t, long, "the first job runs", func() bool { return lab.State(t, first) == "Running" })
	next := lab.Submit(t, "alice", "true", "-q", "evolve", "-l", "nodes=5,walltime=0:1:0")
	before := len(said(t, lab))
	lab.Await(t, long, "so many passes have ended", func() bool {
		lab.Run(t, "root", "oarnotify", "Scheduling")
		return strings.Count(said(t, lab)[before:], "Launching scheduler accordion_oar") > passes
	})
	// An earlier pass may have made the first of these passes sleep.
	_, since, _ := strings.Cut(said(t, lab)[before:], "Launching scheduler accordion_oar")
	if slept := strings.Count(since, "So we have to wait"); slept > 0 {
		t.Errorf("OAR slept in %d passes of %d or more", slept, passes)
	}
	lab.Run(t, "bob", "touch", "gone")
	ends(t, lab, next)
	lab.Await(t, long, "OAR's log shows that it launched the next job early", func() bool {
		log := said(t, lab)
		return strings.Contains(log, "Early launch the job "+next+"\n") || strings.Contains(log, "|"+next+"|Early launch of the job\n") // the log entries of OAR 2.5 and OAR 2.6
	})
}

// said returns OAR's log.
func said(t *testing.T, lab *lab.OARLab) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lab.Dir, "log", "oar.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
