package readers

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"accordion/adapter/journal"
	"accordion/adapter/view"
)

// What a user may see where jobs are private: their own jobs, and those of others without names.

// jobKey names a job, or an application, for good.
type jobKey struct{ job, submitted int64 }

// A viewer is the user who asks.
type viewer struct {
	name string
	owns func(jobKey) bool // whether a job is the user's
}

// status leaves the user's own jobs.
func (v viewer) status(s view.Status) view.Status {
	s.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(j view.Job) bool { return j.User != v.name })
	for i := range s.Jobs {
		s.Jobs[i].Why = v.redact(s.Jobs[i].Why)
	}
	return s
}

// entry takes from a job of another user what tells who it is, and from the user's own what it tells of others.
func (v viewer) entry(e view.Entry) view.Entry {
	if e.User == v.name {
		e.Why = v.redact(e.Why)
		return e
	}
	e.Anonymize()
	e.Nodes, e.Grows = "", ""
	return e
}

// queueHead is the queue without its jobs: reservations have no names.
func (v viewer) queueHead(q view.Queue) view.Queue {
	q.Closures = slices.Clone(q.Closures)
	for i := range q.Closures {
		q.Closures[i].Anonymize()
	}
	q.Jobs = []view.Entry{}
	return q
}

// applications leaves the user's own.
func (v viewer) applications(a view.Applications) view.Applications {
	a.Applications = slices.DeleteFunc(slices.Clone(a.Applications), func(a view.Application) bool { return a.User != v.name })
	return a
}

// record returns an entry of the journal as the user may see it; false: not at all.
func (v viewer) record(e journal.Entry) (journal.Entry, bool) {
	if e.Job == 0 || !v.owns(jobKey{e.Job, e.Submitted}) {
		return e, false
	}
	e.Text, e.Outcome = v.redact(e.Text), v.redact(e.Outcome)
	if len(e.Args) > 0 {
		e.Args = maps.Clone(e.Args)
		for key, value := range e.Args {
			if text, is := value.(string); is {
				e.Args[key] = v.redact(text)
			}
		}
	}
	return e, true
}

// named is how texts of the sidecar name a job: "job 17", "job 17 of bob".
var named = regexp.MustCompile(`\bjob ([0-9]+)( of [^\s,;:()]+)?`)

// redact takes the numbers and owners of others' jobs out of a text.
func (v viewer) redact(text string) string {
	return named.ReplaceAllStringFunc(text, func(found string) string {
		id, err := strconv.ParseInt(named.FindStringSubmatch(found)[1], 10, 64)
		if err == nil && v.owns(jobKey{job: id, submitted: anySubmission}) {
			return found
		}
		return "another job"
	})
}

// anySubmission stands for the newest job of a number.
const anySubmission = -1

// queueParts splits a queue's JSON before and after its jobs, which are its last field.
func queueParts(head view.Queue) (before, after []byte, err error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(text, []byte("]}"))
	return text[:at], text[at:], nil
}
