package slurm_test

import (
	"strings"
	"testing"

	"accordion/adapter"
	of "accordion/adapter/managed"
)

// The message has the number of the step. It has the same words as the sidecar's message for a job that no plug-in
// checked.
func TestShortStepsAreRefusedAtSubmission(t *testing.T) {
	limits := of.Limits{ShortestStep: 10}
	for _, c := range []struct{ comment, want string }{
		{"ep=5x10s,10x1h", ""},
		{"ep=5x9s", ""},             // accepted, because the job is never resized
		{"ep=5x5s,5x5s,10x20s", ""}, // accepted, because the first two entries are one step of 10 s
		{"mold=4x5s|8x3s", ""},      // accepted, because a moldable job is never resized
		{"ep=5x10s,10x9s", `evolution profile, piece 2: "10x9s" is shorter than the 10s that a step lasts at least on this cluster`},
		{"ep=1x10s|1x1s,2x20s", `evolution profile, piece 2: "1x1s" is shorter than the 10s that a step lasts at least on this cluster`},
	} {
		got := submitAt(t, `return { partitions = { "main" }, shortest_step = 10 }`, 16, []fields{{"comment": c.comment}})[0]
		said, _ := got["user"].(string)
		if refused := got["rc"] != int64(0); refused != (c.want != "") || strings.TrimPrefix(said, "accordion: ") != c.want {
			t.Errorf("%s: the plug-in says %v %q, want %q", c.comment, got["rc"], said, c.want)
		}
		choices, err := adapter.ParseRequest(c.comment)
		if err != nil {
			t.Fatal(err)
		}
		job := of.New(&adapter.Job{}, c.comment, choices)
		job.StepLengthChecked = true
		why := limits.TooShort(job)
		if (why == "") != (c.want == "") || !strings.HasPrefix(why, c.want) {
			t.Errorf("%s: the sidecar says %q, want %q", c.comment, why, c.want)
		}
		for _, site := range []string{`return { partitions = { "main" }, shortest_step = 0 }`, `return { partitions = { "main" } }`} {
			if got := submitAt(t, site, 16, []fields{{"comment": c.comment}})[0]; got["rc"] != int64(0) {
				t.Errorf("%s with %s: %v", c.comment, site, got)
			}
		}
	}
}
