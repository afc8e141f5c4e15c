package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/core"
)

// A line is an entry in the format for programs. Programs rely on the JSON keys: keys may be added,
// but never change.
type line struct {
	ID        int64          `json:"id"`
	At        string         `json:"at"` // RFC 3339, UTC, microseconds
	Kind      string         `json:"kind"`
	Cluster   string         `json:"cluster,omitempty"`
	Job       int64          `json:"job"`
	Submitted int64          `json:"submitted"`
	Verb      string         `json:"verb"`
	Text      string         `json:"text,omitempty"`
	Args      map[string]any `json:"args,omitempty"`
	Outcome   string         `json:"outcome,omitempty"`
	TookMS    *float64       `json:"took_ms,omitempty"`
}

// MarshalJSON returns the entry as `accordion journal --json` prints it. An intent whose outcome is
// not known has neither outcome nor took_ms.
func (e Entry) MarshalJSON() ([]byte, error) {
	l := line{ID: e.ID, At: e.At.UTC().Format("2006-01-02T15:04:05.000000Z07:00"), Kind: e.Kind, Cluster: e.Cluster, Job: e.Job,
		Submitted: e.Submitted, Verb: e.Verb, Text: e.Text, Args: e.Args, Outcome: e.Outcome}
	if e.Outcome != "" {
		ms := float64(e.Took.Microseconds()) / 1000
		l.TookMS = &ms
	}
	return json.Marshal(l)
}

// UnmarshalJSON parses what MarshalJSON returned. Numbers in the arguments stay json.Number.
func (e *Entry) UnmarshalJSON(text []byte) error {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // so that 1700000000 does not become 1.7e+09
	if err := d.Decode(&l); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, l.At)
	if err != nil {
		return err
	}
	*e = Entry{ID: l.ID, Kind: l.Kind, At: at.UTC(), Cluster: l.Cluster, Job: l.Job, Submitted: l.Submitted, Verb: l.Verb, Text: l.Text,
		Args: l.Args, Outcome: l.Outcome}
	if l.TookMS != nil {
		e.Took = time.Duration(math.Round(*l.TookMS*1000)) * time.Microsecond
	}
	return nil
}

// Line returns the entry for people, with times in the given zone. It is one line whatever a job's
// user wrote.
func (e Entry) Line(zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %6d ", e.At.In(zone).Format("2006-01-02 15:04:05.000"), e.ID)
	if e.Job != 0 {
		fmt.Fprintf(&b, " job %d", e.Job)
	}
	fmt.Fprintf(&b, " %s", e.Verb)
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", e.Text)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Args)) {
		fmt.Fprintf(&b, " %s=%v", key, e.Args[key])
	}
	switch {
	case e.Unfinished():
		b.WriteString(" (outcome not known)")
	case e.Kind == KindIntent:
		fmt.Fprintf(&b, " (%s, %d ms)", e.Outcome, e.Took.Milliseconds())
	}
	return core.Printable(b.String())
}

// Follow returns the entries of Entries, or of JobEntries if `job` is not 0. Then it returns every
// new entry until ctx ends. It looks for new entries after each pause. An intent that was returned
// without its outcome is returned again when it has one.
func (j *Journal) Follow(ctx context.Context, since, job int64, pause time.Duration) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		open := map[int64]bool{}
		for {
			news := j.Entries(since)
			if job != 0 {
				news = j.JobEntries(job, since)
			}
			for e, err := range news {
				if !yield(e, err) || err != nil {
					return
				}
				since = e.ID
				if e.Unfinished() {
					open[e.ID] = true
				}
			}
			finished, err := j.finished(open)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range finished {
				delete(open, e.ID)
				if !yield(e, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	}
}

// finished returns the intents that have an outcome by now, in order.
func (j *Journal) finished(open map[int64]bool) ([]Entry, error) {
	var out []Entry
	for _, id := range slices.Sorted(maps.Keys(open)) {
		found, err := j.page(`WHERE id = ? AND outcome IS NOT NULL`, id)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}
