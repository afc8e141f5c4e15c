package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestEntriesForProgramsAndForPeople(t *testing.T) {
	for _, c := range []struct {
		entry      Entry
		json, line string
	}{
		{Entry{ID: 12, Kind: KindIntent, At: noon.Add(1500 * time.Microsecond), Cluster: "lab", Job: 7, Submitted: 99, Verb: "expand",
			Args: map[string]any{"nodes": "n[1-3]", "count": 3.0}, Outcome: Done, Took: 412300 * time.Microsecond},
			`{"id":12,"at":"2026-03-01T12:00:00.001500Z","kind":"intent","cluster":"lab","job":7,"submitted":99,"verb":"expand",` +
				`"args":{"count":3,"nodes":"n[1-3]"},"outcome":"done","took_ms":412.3}`,
			"2026-03-01 12:00:00.001     12  job 7 expand count=3 nodes=n[1-3] (done, 412 ms)"},
		{Entry{ID: 13, Kind: KindIntent, At: noon, Job: 7, Submitted: 99, Verb: "merge"},
			`{"id":13,"at":"2026-03-01T12:00:00.000000Z","kind":"intent","job":7,"submitted":99,"verb":"merge"}`,
			"2026-03-01 12:00:00.000     13  job 7 merge (outcome not known)"},
		{Entry{ID: 14, Kind: KindEvent, At: noon, Job: 7, Submitted: 99, Verb: "grew", Text: "2 to 5 nodes"},
			`{"id":14,"at":"2026-03-01T12:00:00.000000Z","kind":"event","job":7,"submitted":99,"verb":"grew","text":"2 to 5 nodes"}`,
			"2026-03-01 12:00:00.000     14  job 7 grew: 2 to 5 nodes"},
		{Entry{ID: 15, Kind: KindEvent, At: noon, Verb: "refused", Text: "name \x1b[2J\nevil"},
			`{"id":15,"at":"2026-03-01T12:00:00.000000Z","kind":"event","job":0,"submitted":0,"verb":"refused","text":"name \u001b[2J\nevil"}`,
			"2026-03-01 12:00:00.000     15  refused: name ?[2J?evil"},
	} {
		got, err := json.Marshal(c.entry)
		if err != nil || string(got) != c.json {
			t.Errorf("JSON:\n got %s (%v)\nwant %s", got, err, c.json)
		}
		var back Entry
		if err := json.Unmarshal(got, &back); err != nil || back.Line(time.UTC) != c.line || back.Took != c.entry.Took.Truncate(time.Microsecond) {
			t.Errorf("read again it is %+v (%v), want %+v", back, err, c.entry)
		}
		if got := c.entry.Line(time.UTC); got != c.line {
			t.Errorf("line:\n got %s\nwant %s", got, c.line)
		}
	}
}

func TestFollowerSeesNewEntriesAndOutcomesOfOldOnes(t *testing.T) {
	for _, job := range []int64{0, 1} {
		t.Run(fmt.Sprint("job ", job), func(t *testing.T) { followed(t, job) })
	}
}

func followed(t *testing.T, job int64) {
	j, _ := fresh(t)
	if err := j.Event(Event{At: noon, Job: 2, Kind: "grew"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first := must(j.Begin(Intent{At: noon, Job: 1, Verb: "merge"}))(t)
	type seen struct {
		id      int64
		outcome string
	}
	var got []seen
	for e, err := range j.Follow(ctx, first-1, job, time.Millisecond) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, seen{e.ID, e.Outcome})
		switch len(got) { // each step waits for the previous one
		case 1:
			if err := errors.Join(j.Event(Event{At: noon, Job: 1, Kind: "grew"}), j.Finish(first, noon, nil)); err != nil {
				t.Fatal(err)
			}
		case 3:
			stop()
		}
	}
	// The second read finds either the event or the outcome first, depending on when it takes
	// place.
	want := map[seen]bool{{first, ""}: true, {first + 1, ""}: true, {first, Done}: true}
	for _, s := range got {
		if !want[s] {
			t.Errorf("saw %v twice or unexpectedly", s)
		}
		delete(want, s)
	}
	if len(want) != 0 {
		t.Errorf("not seen: %v", want)
	}
}
