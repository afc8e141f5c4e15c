package lab

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// told holds the fields of a journal entry that BrokenPromises needs.
type told struct {
	Job  int64
	Verb string
	Args struct {
		Planned, Began, Seconds float64
		Lateness                float64
		Cause                   string
	}
}

// slow returns by how many seconds the batch system delayed a job's end. The cause is a start that came later than
// planned, or a growth that was late although it did not wait for another job.
func (e told) slow() float64 {
	switch {
	case e.Verb == "started":
		return max(0, e.Args.Began-e.Args.Planned)
	case e.Verb == "grew" && (e.Args.Cause == "" || e.Args.Cause == "batch system"):
		return max(0, e.Args.Lateness)
	}
	return 0
}

// BrokenPromises returns the broken promises of a job from the output of "accordion journal --json --job". It omits
// the promises that a slow batch system explains, because the batch system is slow under other load. Tests that
// have the machine to themselves check these promises, too.
func BrokenPromises(journal string) (broken []string, err error) {
	var slow float64
	var all []told
	for line := range strings.Lines(journal) {
		var e told
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("a line of the journal: %w: %s", err, line)
		}
		all, slow = append(all, e), slow+e.slow()
	}
	for _, e := range all {
		if e.Verb == "promise broken" && e.Args.Seconds > math.Ceil(slow) {
			broken = append(broken, fmt.Sprintf("the end of job %d moved by %.0f s (%s), and the batch system took %.1f s too long", e.Job, e.Args.Seconds, e.Args.Cause, slow))
		}
	}
	return broken, nil
}
