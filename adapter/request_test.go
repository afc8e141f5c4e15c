package adapter_test

import (
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

func TestAPartOfAnApplicationNamesIt(t *testing.T) {
	for request, want := range map[string]int64{
		"launch=1": 1, "launch=7": 7, "launch=123456789012345678": 123456789012345678,
		"launch=": 0, "launch=0": 0, "launch=07": 0, "launch=x": 0, "launch=-7": 0, "launch=+7": 0, "launch=7.5": 0, "launch=1234567890123456789": 0,
		"launch=7\n": 0, "launch=٣": 0, "launch": 0, "ep=2x20s": 0, "": 0,
	} {
		got, err := adapter.ParseLaunch(request)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q names %d (%v), want %d", request, got, err, want)
		}
		for _, j := range []adapter.Job{{Mark: adapter.MarkPrefix + request}, {Mark: adapter.MarkPrefix + request, Comment: "launch=9"}} {
			if got, ok := adapter.LaunchOf(&j); got != want || ok != (want > 0) {
				t.Errorf("a job with the mark %q is a part of %d, %v; want %d", j.Mark, got, ok, want)
			}
			if got := adapter.Delegated(&j); got != strings.HasPrefix(request, "launch=") {
				t.Errorf("a job with the mark %q is delegated: %v", j.Mark, got)
			}
		}
	}
	if got, ok := adapter.LaunchOf(&adapter.Job{Comment: "launch=7 mine"}); got != 7 || !ok {
		t.Errorf("a job that is not marked yet is a part of %d, %v; want 7", got, ok)
	}
	if got, ok := adapter.LaunchOf(&adapter.Job{Comment: "launch=7 mine", Mark: adapter.MarkPrefix + "ep=2x20s"}); ok {
		t.Errorf("a job that is marked as another is a part of %d", got)
	}
}

func TestACommentAloneMakesNoPartOfAJobThatMayRun(t *testing.T) {
	mark := adapter.MarkPrefix + "launch=7"
	for _, c := range []struct {
		job  adapter.Job
		want bool
	}{
		{adapter.Job{State: adapter.Pending, Held: true, Comment: "launch=7"}, true},
		{adapter.Job{State: adapter.Pending, Comment: "launch=7"}, false},
		{adapter.Job{State: adapter.Running, Comment: "launch=7"}, false},
		{adapter.Job{State: adapter.Running, Mark: mark}, true},
		{adapter.Job{State: adapter.Pending, Mark: mark}, true},
		{adapter.Job{State: adapter.Pending, Held: true, Comment: "ep=2x20s"}, false},
	} {
		if got := adapter.IsPart(&c.job); got != c.want {
			t.Errorf("%+v is a part: %v", c.job, got)
		}
	}
}

func TestAnApplicationIsNoProfile(t *testing.T) {
	if choices, err := adapter.ParseRequest("launch=7"); err == nil || !strings.Contains(err.Error(), "names an application") {
		t.Errorf("launch=7 is read as %v, %v", choices, err)
	}
	if _, err := adapter.ParseRequest("run=7"); err == nil || !strings.Contains(err.Error(), "neither ep=… nor mold=…") {
		t.Errorf("run=7 is answered with %v", err)
	}
}

func TestARigidJobsSizeStandsForItsRequest(t *testing.T) {
	for _, c := range []struct {
		job  adapter.Job
		want string
	}{
		{adapter.Job{Want: 4, Limit: 3600}, "rigid=4x1h"},
		{adapter.Job{}, "rigid=1x1s"},
		{adapter.Job{Want: 2, Limit: core.Forever}, "rigid=2x3650d"},
	} {
		got := adapter.RequestOfRigid(&c.job)
		choices, err := adapter.ParseRequest(got)
		if got != c.want || err != nil || len(choices) != 1 || choices[0][0].Nodes != max(c.job.Want, 1) {
			t.Errorf("%+v: %q, read as %v (%v), want %q", c.job, got, choices, err, c.want)
		}
	}
	if word := "rigid=4x1h"; adapter.IsRequest(word) || adapter.RequestOf(&adapter.Job{Comment: word}) != "" {
		t.Error("a user may ask for it")
	}
}
