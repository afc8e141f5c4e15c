package readers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/view"
)

// This file selects what a user may see if jobs are private: the user's own jobs, and other users' jobs without names.

// jobKey identifies a job or an application permanently.
type jobKey struct{ job, submitted int64 }

// viewer is the user who sent a query, with what the user may see.
type viewer struct {
	name   string
	owns   func(jobKey) bool // reports whether a job is the user's
	hidden adapter.Hidden    // what the batch system hides from the user
}

// splitDocument is a published document, split into the document without jobs and its jobs. The document is split once for all users,
// because each user may see different jobs.
type splitDocument struct {
	head func(viewer) any // returns the document with an empty list of jobs, which is its last field
	jobs []splitJob
}

// splitJob is a job in a splitDocument.
type splitJob struct {
	user   string
	shown  func(viewer) any // returns the job for its own user, and for all users if jobs are not hidden
	others []byte           // JSON for other users if jobs are hidden; nil if other users do not see the job
}

// write writes what the viewer may see of the document.
func (c *splitDocument) write(w io.Writer, v viewer) error {
	if c == nil { // nothing was published yet
		return nil
	}
	before, after, err := splitAtJobs(c.head(v))
	if err != nil {
		return err
	}
	if _, err := w.Write(before); err != nil {
		return err
	}
	separator := ""
	for i := range c.jobs {
		text, err := c.jobs[i].as(v)
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		separator = ","
	}
	_, err = w.Write(after)
	return err
}

func (j *splitJob) as(v viewer) ([]byte, error) {
	if j.user == v.name || !v.hidden.Jobs {
		return json.Marshal(j.shown(v))
	}
	return j.others, nil
}

// splitAtJobs returns the JSON of a document with an empty list of jobs, split at the place for the jobs.
func splitAtJobs(empty any) (before, after []byte, err error) {
	text, err := json.Marshal(empty)
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(text, []byte("[]}"))
	if at < 0 {
		return nil, nil, errors.New("split document: jobs are not its last field")
	}
	return text[:at+1], text[at+1:], nil
}

// splitStatus splits the document of `accordion status`. If jobs are hidden, each user sees only their own jobs.
func splitStatus(data []byte) (*splitDocument, error) {
	var s view.Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	c := &splitDocument{}
	for _, j := range s.Jobs {
		c.jobs = append(c.jobs, splitJob{user: j.User, shown: func(v viewer) any {
			shown := j
			shown.Why = v.why(j.User, j.Why)
			if v.hidden.Accounts && j.User != v.name {
				shown.Rank, shown.Priority, shown.Limit = nil, 0, nil
			}
			return shown
		}})
	}
	s.Jobs = []view.Job{}
	c.head = func(viewer) any { return s }
	return c, nil
}

// splitApplications splits the document about applications. If jobs are hidden, each user sees only their own applications.
func splitApplications(data []byte) (*splitDocument, error) {
	var a view.Applications
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	c := &splitDocument{}
	for _, one := range a.Applications {
		c.jobs = append(c.jobs, splitJob{user: one.User, shown: func(v viewer) any {
			shown := one
			shown.Why, shown.Failed = v.why(one.User, one.Why), v.why(one.User, one.Failed)
			return shown
		}})
	}
	a.Applications = []view.Application{}
	c.head = func(viewer) any { return a }
	return c, nil
}

// splitQueue splits the document of `accordion queue`. If jobs are hidden, each user sees other users' jobs without names, with their
// places in the plan.
func splitQueue(data []byte) (*splitDocument, error) {
	var q view.Queue
	if err := json.Unmarshal(data, &q); err != nil {
		return nil, err
	}
	c := &splitDocument{jobs: make([]splitJob, 0, len(q.Jobs))}
	for _, e := range q.Jobs {
		nameless := e
		nameless.Anonymize()
		nameless.Nodes, nameless.Grows, nameless.Unreserved, nameless.Deadline, nameless.Latest = "", "", false, 0, 0
		text, err := json.Marshal(nameless)
		if err != nil {
			return nil, err
		}
		c.jobs = append(c.jobs, splitJob{user: e.User, others: text, shown: func(v viewer) any {
			shown := e
			shown.Why = v.why(e.User, e.Why)
			if v.hidden.Accounts && e.User != v.name {
				shown.Parts, shown.Priority, shown.Limit = nil, 0, nil
			}
			return shown
		}})
	}
	q.Jobs = []view.Entry{}
	c.head = func(v viewer) any { return v.queue(q) }
	return c, nil
}

// queue returns a queue without jobs, from which everything that the viewer may not see is removed.
func (v viewer) queue(q view.Queue) view.Queue {
	if v.hidden.Jobs || v.hidden.Reservations { // names of reservations often contain names of users
		q.Closures = slices.Clone(q.Closures)
		for i := range q.Closures {
			q.Closures[i].Anonymize()
		}
	}
	if v.hidden.Nodes {
		q.AwayNodes = nil
	}
	if q.Usage != nil && (v.hidden.Jobs || v.hidden.Accounts) {
		own := *q.Usage
		own.Users = slices.DeleteFunc(slices.Clone(own.Users), func(u view.UserUsage) bool { return u.User != v.name })
		q.Usage = &own
	}
	return q
}

// hidesWords reports whether texts of the sidecar and of the batch system about other users' jobs are hidden. Such texts may name users,
// reservations, and accounts with their limits.
func (v viewer) hidesWords() bool { return v.hidden.Jobs || v.hidden.Accounts || v.hidden.Reservations }

// why returns the given reason why a user's job waits, or "" if the viewer may not see it.
func (v viewer) why(user, text string) string {
	if v.hidesWords() && user != v.name {
		return ""
	}
	return v.redact(text)
}

// record returns an entry of the journal without what the viewer may not see. It returns false if the viewer may not see the entry at all.
func (v viewer) record(e journal.Entry) (journal.Entry, bool) {
	if !v.hidesWords() {
		return e, true
	}
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

// named matches references to jobs in texts of the sidecar: "job 17", "job 17 of bob".
var named = regexp.MustCompile(`\bjob ([0-9]+)( of [^\s,;:()]+)?`)

// redact removes the numbers and users of other users' jobs from a text.
func (v viewer) redact(text string) string {
	if !v.hidden.Jobs {
		return text
	}
	return named.ReplaceAllStringFunc(text, func(found string) string {
		id, err := strconv.ParseInt(named.FindStringSubmatch(found)[1], 10, 64)
		if err == nil && v.owns(jobKey{job: id, submitted: anySubmission}) {
			return found
		}
		return "another job"
	})
}

// anySubmission is a value of jobKey.submitted that means the newest job with the number.
const anySubmission = -1
