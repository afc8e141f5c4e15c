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

// A cut is a published document in pieces, made once for all who ask: what stands before its jobs, each job, and what stands after.
type cut struct {
	before, after []byte
	jobs          []cutJob
	frame         func(viewer) (before, after []byte, err error) // what stands around the jobs where that differs by viewer; else nil
}

// A cutJob is a job in a cut.
type cutJob struct {
	user   string
	own    func(viewer) any // as its user may see it
	others []byte           // JSON, as others may see it; nil: not at all
}

// write writes what the viewer may see of the document.
func (c *cut) write(w io.Writer, v viewer) error {
	if c == nil { // nothing was published yet
		return nil
	}
	before, after := c.before, c.after
	if c.frame != nil {
		var err error
		if before, after, err = c.frame(v); err != nil {
			return err
		}
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
	_, err := w.Write(after)
	return err
}

func (j *cutJob) as(v viewer) ([]byte, error) {
	if j.user == v.name {
		return json.Marshal(j.own(v))
	}
	return j.others, nil
}

// around splits the JSON of a document without jobs where its jobs are.
func (c *cut) around(empty any) (err error) {
	c.before, c.after, err = split(empty)
	return err
}

// split splits the JSON of a document without jobs where its jobs are: they are its last field.
func split(empty any) (before, after []byte, err error) {
	text, err := json.Marshal(empty)
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(text, []byte("[]}"))
	if at < 0 {
		return nil, nil, errors.New("its jobs are not its last field")
	}
	return text[:at+1], text[at+1:], nil
}

// cutStatus cuts the document of accordion status: each user sees their own jobs.
func cutStatus(data []byte) (*cut, error) {
	var s view.Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	c := &cut{}
	for _, j := range s.Jobs {
		c.jobs = append(c.jobs, cutJob{user: j.User, own: func(v viewer) any {
			own := j
			own.Why = v.redact(j.Why)
			return own
		}})
	}
	s.Jobs = []view.Job{}
	return c, c.around(s)
}

// cutApplications cuts the document of applications: each user sees their own.
func cutApplications(data []byte) (*cut, error) {
	var a view.Applications
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	c := &cut{}
	for _, one := range a.Applications {
		c.jobs = append(c.jobs, cutJob{user: one.User, own: func(viewer) any { return one }})
	}
	a.Applications = []view.Application{}
	return c, c.around(a)
}

// cutQueue cuts the document of accordion queue: others' jobs have no names, but stand in the plan, and reservations are somebody's.
func cutQueue(data []byte) (*cut, error) {
	var q view.Queue
	if err := json.Unmarshal(data, &q); err != nil {
		return nil, err
	}
	c := &cut{jobs: make([]cutJob, 0, len(q.Jobs))}
	for _, e := range q.Jobs {
		nameless := e
		nameless.Anonymize()
		nameless.Nodes, nameless.Grows = "", ""
		text, err := json.Marshal(nameless)
		if err != nil {
			return nil, err
		}
		c.jobs = append(c.jobs, cutJob{user: e.User, others: text, own: func(v viewer) any {
			own := e
			own.Why = v.redact(e.Why)
			return own
		}})
	}
	for i := range q.Closures {
		q.Closures[i].Anonymize()
	}
	q.Jobs = []view.Entry{}
	if all := q.Usage; all != nil {
		c.frame = func(v viewer) (before, after []byte, err error) {
			q, own := q, *all
			own.Users = slices.DeleteFunc(slices.Clone(own.Users), func(u view.UserUsage) bool { return u.User != v.name })
			q.Usage = &own
			return split(q)
		}
	}
	return c, c.around(q)
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
