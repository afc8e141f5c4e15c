package managed

import (
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// FuzzRestore checks that Restore either refuses a record, or returns a job on which every method
// can be called without a panic.
func FuzzRestore(f *testing.F) {
	for _, text := range []string{
		`{"ID":7,"Submitted":9,"User":"ann","Request":"ep=2x20s,5x20s,3x20s","Phase":"running","Promise":[20,40,60],"Began":1,"Limit":60,"Step":1,"Target":2,"Meant":40,"Nodes":["n1","n2"],"Voice":"step"}`,
		`{"ID":7,"Submitted":9,"User":"ann","Request":"mold=4x2h|8x70m","Phase":"starting","Choice":1,"Promise":[4200],"Planned":5}`,
		`{"ID":7,"Submitted":9,"User":"ann","Request":"ep=2x20s,5x20s","Phase":"waiting","Rejected":{"Times":2,"Until":9}}`,
		`{"ID":7,"Submitted":9,"User":"ann","Request":"ep=2x20s,5x20s,3x20s","Phase":"running","Promise":[20,30],"Whole":[20,40,60],"Cut":[[20,2],[10,5]],"Limit":60,"Short":30}`,
		`{"ID":7,"Request":"rigid=4x60s","Phase":"ending"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Restore(data)
		if err != nil {
			return
		}
		r.Seen = &adapter.Job{Key: r.Key, State: adapter.Running, Limit: 60, Nodes: []string{"n1"}}
		_, _, _ = r.EP(), r.Final(), r.PlanStep()
		if r.Promise != nil {
			r.Hosts([]string{"n1"}, r.Step, 0)
			r.ResumeAfterRestart(50)
			r.Remaining(50)
			r.Remainder(50)
			_, _, _ = r.End(), r.Due(), r.LateFrom()
			r.ShiftTimes(7)
			r.ApplyLimit(30)
			r.ApplyLimit(core.Forever)
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(again); err != nil {
			t.Fatalf("%v: it was read and cannot be read again: %s", err, again)
		}
	})
}
