package managed

import (
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/shim/wire"
)

func TestQuestionIsAnsweredAtOnceOrWaitsForItsBoundary(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name string
		step int // the job's present step, from 0
		over int // the step that the shim reports as ended, from 1; 0 if the shim reports none
		want wire.Status
		says string
		owes core.Time
		asks bool
	}{
		{"its step is over", 1, 2, "", "", 0, true},
		{"it does not say which", 1, 0, "", "", 0, true},
		{"the answer was lost", 1, 1, wire.Resized, "", 40, false},
		{"the answer to an earlier one was lost", 1, 0, "", "", 0, true},
		{"a step that it is not in", 1, 3, wire.Refused, "step 3 cannot be over: job 7 is in step 2", 0, false},
		{"its last step", 2, 3, wire.Over, "no further step", 0, false},
	} {
		r := &Job{Choices: []core.EP{{{Duration: 10, Nodes: 1}, {Duration: 10, Nodes: 2}, {Duration: 10, Nodes: 1}}}}
		r.ID, r.Phase, r.Step, r.ResizedAt, r.Nodes = 7, Running, c.step, 960, []string{"n1", "n2"}
		var got []wire.Reply
		r.Ask(Question{Request: wire.Request{Step: c.over, Waits: 30}, Reply: func(a wire.Reply) { got = append(got, a) }, At: now})
		if c.asks {
			if r.Question == nil || len(got) > 0 || !r.Question.At.Equal(now) || !r.Question.Until.Equal(now.Add(30*time.Second)) {
				t.Errorf("%s: %+v stands, and %v was answered", c.name, r.Question, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Status != c.want || !strings.Contains(got[0].Why, c.says) || r.Question != nil || r.SidecarDelay != c.owes {
			t.Errorf("%s: the answers are %+v, %d s are owed, want %s %q, %d s", c.name, got, r.SidecarDelay, c.want, c.says, c.owes)
		}
	}
}

func TestQuestionAskedAgainKeepsTheTimeOfTheFirst(t *testing.T) {
	r := &Job{Choices: []core.EP{{{Duration: 10, Nodes: 1}, {Duration: 10, Nodes: 2}}}}
	r.ID, r.Phase, r.Nodes = 7, Running, []string{"n1"}
	var first []wire.Reply
	begun := time.Unix(1000, 0)
	r.Ask(Question{Request: wire.Request{Step: 1}, Reply: func(a wire.Reply) { first = append(first, a) }, At: begun})
	r.Ask(Question{Request: wire.Request{Step: 1, Waits: 5}, Reply: func(wire.Reply) {}, At: begun.Add(time.Minute)})
	if len(first) != 1 || first[0].Status != wire.Late || !r.Question.At.Equal(begun) || !r.Question.Until.Equal(begun.Add(65*time.Second)) {
		t.Errorf("the first was answered %v, and %+v stands", first, r.Question)
	}
}
