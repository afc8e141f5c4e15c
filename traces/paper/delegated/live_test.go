package delegated_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"accordion/core"
	coredelegated "accordion/core/delegated"
	"accordion/core/moldable"
	"accordion/traces/paper/delegated"
)

func TestALineIsReadByItsNumberInTheFile(t *testing.T) {
	text := "# three of them\n\n" + three
	all, err := delegated.Read(strings.NewReader(text), "jobs")
	if err != nil {
		t.Fatal(err)
	}
	for line := range 8 {
		job, err := delegated.ReadLine(strings.NewReader(text), "jobs", line)
		if wrong := (*delegated.LineError)(nil); line < 4 || line > 6 {
			if !errors.As(err, &wrong) || wrong.Line != line {
				t.Errorf("line %d: %v, want it refused with its number", line, err)
			}
		} else if err != nil || job != all[line-4] {
			t.Errorf("line %d is %+v, %v", line, job, err)
		}
	}
}

// A Launcher that receives the same view as the first application of a run requests the same hosts, and its job lasts as long.
func TestALauncherAnswersAsInARun(t *testing.T) {
	jobs, err := delegated.Read(strings.NewReader(head+"cem,0,2,0,0,0,0,460800,100,0\n"), "jobs")
	if err != nil {
		t.Fatal(err)
	}
	var got []moldable.Part
	var ended core.Time
	var view moldable.View
	s := delegated.Setup{Clusters: 4, FairStart: 5, Timer: 1,
		Told: func(_ core.Time, m coredelegated.Message) {
			for _, c := range m.Changes {
				view = append(view, moldable.Cluster{Hosts: c.Hosts, Points: slices.Clone(c.Points)})
			}
		},
		Started: func(_ int, parts []moldable.Part) { got = slices.Clone(parts) },
		Ended:   func(_ int, now core.Time) { ended = now },
	}
	if _, err := s.Run(jobs); err != nil {
		t.Fatal(err)
	}
	found, err := delegated.NewLauncher(jobs[0], 4).Answer(view[:4], 0)
	if err != nil || !found.OK || !slices.Equal(found.Parts, got) {
		t.Errorf("it asks for %+v, %v; the run gave %+v", found, err, got)
	}
	if lasts := jobs[0].Lasts(got); lasts != ended {
		t.Errorf("it lasts %d s, and in the run %d s", lasts, ended)
	}
}
