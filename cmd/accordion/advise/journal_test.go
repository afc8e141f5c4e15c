package advise

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"accordion/adapter/journal"
)

// event returns an event of the journal. `fields` has pairs of name and value.
func event(job int64, at int64, verb, text string, fields ...any) journal.Entry {
	e := journal.Entry{Kind: journal.KindEvent, At: time.Unix(at, 0), Job: job, Submitted: 5, Verb: verb, Text: text, Args: map[string]any{}}
	for i := 0; i < len(fields); i += 2 {
		if n, is := fields[i+1].(float64); is {
			e.Args[fields[i].(string)] = json.Number(fmt.Sprint(n))
		} else {
			e.Args[fields[i].(string)] = fields[i+1]
		}
	}
	return e
}

func entries(all []journal.Entry, end error) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if end != nil {
			yield(journal.Entry{}, end)
		}
	}
}

// life returns the journal of a job of three steps. The job begins at second 1000, and calls accordion step after 100 and 300 seconds. Each
// time it waits up to two seconds for its nodes.
func life(job int64) []journal.Entry {
	return []journal.Entry{
		event(job, 900, "accepted", "ep=2x120s,5x280s,1x60s", "user", "ada"),
		{Kind: journal.KindIntent, Verb: "reserve", Job: job, Submitted: 5},
		event(job, 990, "starting", "on 2 nodes", "nodes", "n[1-2]", "planned", 1000.0),
		event(job, 1001, "started", "on 2 nodes", "nodes", "n[1-2]", "began", 1000.0),
		event(job, 1102, "grew", "from 2 to 5 nodes", "asked", 1100.0, "usable", 1102.0, "step", 2.0),
		event(job, 1404, "shrank", "from 5 to 1 nodes", "asked", 1402.0, "usable", 1403.5, "step", 3.0),
		event(job, 1454, "ended", "after step 3 of 3 (COMPLETED)", "state", "COMPLETED"),
	}
}

func TestStepsFromTheJournal(t *testing.T) {
	without := func(verb string, fields ...any) []journal.Entry {
		all := life(7)
		at := slices.IndexFunc(all, func(e journal.Entry) bool { return e.Verb == verb })
		all[at] = event(7, all[at].At.Unix(), verb, all[at].Text, fields...)
		return all
	}
	more := func(at int, e journal.Entry) []journal.Entry { return slices.Insert(life(7), at, e) }
	for _, c := range []struct {
		name    string
		entries []journal.Entry
		want    string // durations of its steps, and whether it ended; "" if no job is returned
	}{
		{"a job that asks for its steps", life(7), "[100 300 51] true"},
		{"a silent one", without("grew", "usable", 1102.0, "step", 2.0), "[] false"},
		{"one that the sidecar ends", more(5, event(7, 1300, "ending", "its allowance is used up")), "[100] false"},
		{"one that was changed without us", more(4, event(7, 1050, "changed", "holds 1 nodes, not 2")), "[] false"},
		{"one that fails", without("ended", "state", "FAILED"), "[100 300] false"},
		{"one that is over before its last step", slices.Delete(life(7), 5, 6), "[100] false"},
		{"one of which a step is missing", slices.Delete(life(7), 4, 5), "[] false"},
		{"one that began again", slices.Insert(life(7), 4, event(7, 1010, "requeued", ""), event(7, 1020, "started", "", "nodes", "n[1-2]", "began", 1020.0)), "[80 300 51] true"},
		{"one that never began", slices.Delete(life(7), 3, 6), ""},
		{"one that runs", life(7)[:6], ""},
		{"an ordinary one", append([]journal.Entry{event(7, 900, "accepted", "rigid=4x1h")}, life(7)[2:]...), ""},
		{"one with a line that nobody can read", append([]journal.Entry{event(7, 900, "accepted", "ep=2xx")}, life(7)[2:]...), ""},
		{"one that began before the time of interest", without("started", "nodes", "n[1-2]", "began", 10.0), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := runsFromJournal(entries(c.entries, nil), 500)
			got := ""
			if len(all) == 1 {
				got = fmt.Sprintf("%v %v", all[0].Actual, all[0].Ended)
			}
			if err != nil || got != c.want || len(all) > 1 {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := runsFromJournal(entries(life(7), errors.New("the disk is gone")), 0); err == nil {
		t.Error("a journal that cannot be read gives no error")
	}
}

func TestSizeOnWhichTheJobRanIsChosen(t *testing.T) {
	all, err := runsFromJournal(entries([]journal.Entry{
		event(7, 900, "accepted", "mold=2x100s|4x60s; never chosen, for they last longer: 8x70s", "user", "ada"),
		event(7, 1001, "started", "on 4 nodes", "nodes", "n[1-4]", "began", 1000.0),
		event(7, 1050, "ended", "after step 1 of 1"),
	}, nil), 0)
	if err != nil || len(all) != 1 || all[0].Declared.String() != "4x60s" || all[0].Line != "mold=2x100s|4x60s" || fmt.Sprint(all[0].Actual) != "[50]" || !all[0].Ended || all[0].User != "ada" {
		t.Errorf("%+v, %v", all, err)
	}
}
