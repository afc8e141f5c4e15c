package readers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"accordion/adapter/journal"
)

// source is a journal from which queries are answered. It has its own connections to the journal. It reads documents at most once a
// second, however many queries come.
type source struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	journal *journal.Journal // nil until it is opened
	view    document
	queue   document
	owners  owners
	learned time.Time // when the owners were last read from the documents
}

// document is a document of the loop, as read within the last second. Its bytes never change.
type document struct {
	read  time.Time
	data  []byte
	ready *splitDocument // the document split for users who may see only some of its jobs; nil until it is split
}

// fresh is the maximum age of a document that is sent to users.
const fresh = time.Second

// open returns the journal. The error is fs.ErrNotExist if the file does not exist yet.
func (s *source) open() (*journal.Journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened()
}

func (s *source) opened() (*journal.Journal, error) {
	if s.journal == nil {
		if _, err := os.Stat(s.path); err != nil {
			return nil, err
		}
		j, err := journal.OpenReadOnly(s.path)
		if err != nil {
			return nil, err
		}
		s.journal = j
	}
	return s.journal, nil
}

func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != nil {
		s.journal.Close()
		s.journal = nil
	}
}

// documents returns the documents that the loop last published for `accordion status` and `accordion queue`. A document is nil if the
// loop has not published it yet.
func (s *source) documents() (status, queue []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.opened()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := s.view.refresh(s.now(), j.View); err != nil {
		return nil, nil, err
	}
	if err := s.queue.refresh(s.now(), j.Queue); err != nil {
		return nil, nil, err
	}
	return s.view.data, s.queue.data, nil
}

func (d *document) refresh(now time.Time, read func() ([]byte, error)) error {
	if !d.read.IsZero() && now.Sub(d.read) < fresh && !now.Before(d.read) {
		return nil
	}
	data, err := read()
	if err != nil {
		return err
	}
	if d.read = now; !bytes.Equal(data, d.data) {
		d.data, d.ready = data, nil
	}
	return nil
}

// split returns a document split into its jobs and the rest, so that each user can receive only some of the jobs.
func (s *source) split(queue, applications bool) (*splitDocument, error) {
	if _, _, err := s.documents(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, make := &s.view, splitStatus
	switch {
	case queue:
		d, make = &s.queue, splitQueue
	case applications:
		make = splitApplications
	}
	if d.ready == nil && d.data != nil {
		ready, err := make(d.data)
		if err != nil {
			return nil, fmt.Errorf("read the documents of the sidecar: %w", err)
		}
		d.ready = ready
	}
	return d.ready, nil
}

// owners remembers which user owns each job, from the published documents and from recent look-ups.
type owners struct {
	users map[jobKey]string
	last  map[int64]int64 // for each job number in `users`, the submission time of its newest job

	recent map[jobKey]string // users that were recently looked up in the journal; "" if the journal does not have the job's user
	asked  time.Time
}

// viewer returns what a user may see of the source.
func (s *source) viewer(name string) (viewer, error) {
	status, queue, err := s.documents()
	if err != nil {
		return viewer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.learned.Equal(s.queue.read) {
		if err := s.learn(status, queue); err != nil {
			return viewer{}, err
		}
		s.learned = s.queue.read
	}
	return viewer{name: name, owns: func(k jobKey) bool { return s.owner(k) == name }}, nil
}

// owner returns the user of a job, or "" if the user is not known. If no document has the job, owner
// looks up this one job in the journal. It does not read all jobs, because there may be millions.
func (s *source) owner(k jobKey) string {
	s.mu.Lock()
	user, known := s.owners.of(k, s.now())
	j := s.journal
	s.mu.Unlock()
	if known || j == nil {
		return user
	}
	e, found, err := j.Acceptance(k.job, k.submitted)
	if err != nil { // the owner is not known, so that the entry stays hidden
		return ""
	}
	if found {
		user, _ = e.Args["user"].(string)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners.recent[k] = user
	return user
}

type ownedJob struct {
	ID        int64  `json:"id"`
	Submitted int64  `json:"submitted"`
	User      string `json:"user"`
}

// mostOwners is the largest number of jobs whose users are remembered.
const mostOwners = 500_000

// learn reads the owners of jobs from the documents.
func (s *source) learn(documents ...[]byte) error {
	for _, text := range documents {
		if text == nil {
			continue
		}
		var shown struct {
			Jobs         []ownedJob `json:"jobs"`
			Applications []ownedJob `json:"applications"`
		}
		if err := json.Unmarshal(text, &shown); err != nil {
			return fmt.Errorf("read the documents of the sidecar: %w", err)
		}
		for _, j := range append(shown.Jobs, shown.Applications...) {
			s.owners.note(jobKey{j.ID, j.Submitted}, j.User)
		}
	}
	return nil
}

func (o *owners) note(k jobKey, user string) {
	if o.users == nil {
		o.users, o.last = map[jobKey]string{}, map[int64]int64{}
	}
	if user == "" {
		return
	}
	if _, again := o.users[k]; !again && len(o.users) >= mostOwners {
		for old := range o.users { // any element may be removed, because a job that documents still contain is added again
			o.drop(old)
			break
		}
	}
	o.users[k] = user
	o.last[k.job] = max(o.last[k.job], k.submitted)
}

func (o *owners) drop(k jobKey) {
	delete(o.users, k)
	if o.last[k.job] == k.submitted {
		delete(o.last, k.job)
	}
}

// of returns a job's user. known is false if no document has the job, and the user was not looked up recently.
func (o *owners) of(k jobKey, now time.Time) (user string, known bool) {
	if age := now.Sub(o.asked); o.recent == nil || age >= fresh || age < 0 || len(o.recent) >= mostOwners {
		o.recent, o.asked = map[jobKey]string{}, now
	}
	if submitted, shown := o.last[k.job]; shown && k.submitted == anySubmission {
		k.submitted = submitted
	}
	if user, known = o.users[k]; !known {
		user, known = o.recent[k]
	}
	return user, known
}
