package advise

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/traces/advise"
)

// journaledRun is a job with a request for steps or sizes, as far as the journal has been read.
type journaledRun struct {
	advise.ManagedRun
	choices []core.EP
	at      float64 // second at which the nodes of the current step became usable; 0 if the step has not begun
	broken  bool    // some of the job's steps are unknown, because it did not call accordion step or was changed
}

// runsFromJournal reads the entries of a cluster's journal. It returns the evolving and moldable jobs that began at
// second `from` or later and have ended.
func runsFromJournal(entries iter.Seq2[journal.Entry, error], from core.Time) ([]advise.ManagedRun, error) {
	type key struct{ job, submitted int64 }
	jobs := map[key]*journaledRun{}
	var over []advise.ManagedRun
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		if e.Kind != journal.KindEvent {
			continue
		}
		k := key{e.Job, e.Submitted}
		if e.Verb == "accepted" {
			if j := accepted(e); j != nil {
				jobs[k] = j
			}
			continue
		}
		j := jobs[k]
		if j == nil {
			continue
		}
		if j.apply(e); e.Verb == "ended" {
			delete(jobs, k)
			if j.Began >= from && j.at > 0 {
				over = append(over, j.ManagedRun)
			}
		}
	}
	return over, nil
}

// accepted returns a job for the event "accepted", or nil if the job requests neither a profile nor sizes.
func accepted(e journal.Entry) *journaledRun {
	line, _, _ := strings.Cut(e.Text, "; ")
	if !strings.HasPrefix(line, "ep=") && !strings.HasPrefix(line, "mold=") {
		return nil
	}
	choices, err := adapter.ParseRequest(line)
	if err != nil || len(choices) == 0 {
		return nil
	}
	user, _ := e.Args["user"].(string)
	return &journaledRun{ManagedRun: advise.ManagedRun{ID: fmt.Sprint(e.Job), User: core.Printable(user), Line: line}, choices: choices}
}

// apply processes an event of the job.
func (j *journaledRun) apply(e journal.Entry) {
	switch e.Verb {
	case "started":
		began, known := second(e, "began")
		j.at, j.Began, j.Actual, j.broken = began, core.Time(began), nil, !known
		j.choose(e)
	case "grew", "shrank":
		asked, spoke := second(e, "asked")
		usable, known := second(e, "usable")
		step, _ := second(e, "step")
		if j.broken = j.broken || !spoke || !known || int(step) != len(j.Actual)+2; !j.broken {
			j.endStep(asked)
			j.at = usable
		}
	case "requeued":
		j.at, j.Actual, j.broken = 0, nil, false
	case "ending", "changed", "shortened", "restored", "forgotten", "lost":
		j.broken = true
	case "ended":
		state, _ := e.Args["state"].(string)
		if !j.broken && j.at > 0 && len(j.Actual) == len(j.Declared)-1 && (state == "" || strings.HasPrefix(state, "COMPLET")) {
			j.endStep(float64(e.At.UnixMicro()) / 1e6)
			j.Ended = true
		}
	}
}

// choose determines in which of its choices the job began. The job's number of nodes identifies the choice.
func (j *journaledRun) choose(e journal.Entry) {
	text, _ := e.Args["nodes"].(string)
	names, err := hostlist.Expand(text)
	for _, c := range j.choices {
		if err == nil && c[0].Nodes == len(names) {
			j.Declared = c
			return
		}
	}
	j.Declared, j.broken = j.choices[0], true
}

// endStep ends the current step.
func (j *journaledRun) endStep(until float64) {
	j.Actual = append(j.Actual, max(core.Time(math.Ceil(until-j.at)), 1))
}

// second returns the field `name`, and whether the field is a number.
func second(e journal.Entry, name string) (float64, bool) {
	n, is := e.Args[name].(json.Number)
	if !is {
		return 0, false
	}
	v, err := n.Float64()
	return v, err == nil
}
