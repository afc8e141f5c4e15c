package swf_test

import (
	"math"
	"strings"
	"testing"

	"accordion/traces/model"
	"accordion/traces/swf"
)

const week = 7 * 24 * 3600 // seconds

func TestCleanLogHasNoAnomalies(t *testing.T) {
	if wrong := swf.SurveyOf(model.Generated(500, 1), 0).Wrong(); len(wrong) > 0 {
		t.Errorf("the generated log: %q", wrong)
	}
	log, err := swf.Read(strings.NewReader("; x\n1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), "small.swf", swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := swf.SurveyOf(log, 0).Wrong(); len(wrong) != 1 || !strings.Contains(wrong[0], "machine is unknown") {
		t.Errorf("a log without a machine: %q", wrong)
	}
	if wrong := swf.SurveyOf(log, 4).Wrong(); len(wrong) > 0 {
		t.Errorf("with a machine from outside: %q", wrong)
	}
}

func TestWeeksAddUpToTheTotals(t *testing.T) {
	log := model.Generated(2000, 3)
	s := swf.SurveyOf(log, 0)
	jobs, area := 0, 0.0
	for i, w := range s.Weeks {
		jobs, area = jobs+w.Jobs, area+w.Area
		if (w.From-s.FirstSubmit)%week != 0 || i > 0 && w.From <= s.Weeks[i-1].From {
			t.Errorf("week %d begins at %d", i, w.From)
		}
		if got := w.Area / week / model.GeneratedNodes; math.Abs(got-w.Load) > 1e-12 {
			t.Errorf("week %d: load %v, want %v", i, w.Load, got)
		}
	}
	want := 0.0
	for _, r := range log.Records {
		want += float64(r.Processors) * float64(r.Run)
	}
	if jobs != 2000 || area != s.Area || area != want {
		t.Errorf("%d jobs, area %v in weeks, %v in all, %v counted", jobs, area, s.Area, want)
	}
}
