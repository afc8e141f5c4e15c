package jobs

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// This file remembers what is known to be true of jobs, so that squeue need not be asked again for what it has said.

const (
	// verifiedFor is how long squeue's word is taken for a text that is the same as it was then. Only a user who changes several of his
	// texts into each other, on purpose, can make another truth look the same.
	verifiedFor = 10 * time.Minute
	// verifyPause is the least between two runs of squeue for jobs of which something is known.
	verifyPause = 5 * time.Second
	// mostAlone is how many jobs are asked for one by one, some two milliseconds each, whose records begin who knows where.
	mostAlone = 32
)

// A verifier is asked for what is in doubt.
type verifier interface {
	// alone asks a console for one job; nil: there is none, or it cannot be told from others.
	alone(id core.JobID) (*shown, error)
	// all asks squeue for all jobs, also those that are over; nil: not now. Strange: of some nothing is known.
	all(strange bool) ([]output.Record, error)
	// tasks asks squeue for jobs that are tasks of arrays, which it left out of all.
	tasks(ids []core.JobID) ([]output.Record, error)
}

// verifiedCache is what is known to be true of jobs, whoever forges what. Its methods may be called from several goroutines.
type verifiedCache struct {
	mu       sync.Mutex
	last     []output.Record               // of the last reading: what was certain of jobs that are not over; never changed
	table    map[core.JobID]*output.Record // the same; nil until something is looked up, which is seldom
	large    bool                          // they were many
	verified map[adapter.Key]*verifiedRecord
	asked    time.Time // when squeue was last run for what is in doubt
}

// An verifiedRecord is what squeue said of a job in doubt.
type verifiedRecord struct {
	output.Record
	text string // that a console had shown just before, as far as it was in doubt
	at   time.Time
	seen time.Time // when the job was last there
	same bool      // with this text
}

// empty says whether nothing was read yet.
func (t *verifiedCache) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last == nil
}

// isLong says whether the last list was a long one.
func (t *verifiedCache) isLong() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.large
}

// keep takes in a reading.
func (t *verifiedCache) keep(certain []output.Record, many bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range certain {
		if r := &certain[i]; r.Unreadable != "" && r.Nodes == nil && r.State != adapter.Pending {
			if before := t.find(r.ID); before != nil && before.Key == r.Key {
				r.Nodes = before.Nodes
			}
		}
	}
	t.last, t.table, t.large = certain, nil, many
	for key, o := range t.verified {
		if time.Since(o.seen) > verifiedFor {
			delete(t.verified, key)
		}
	}
}

// job is what was certain of the job of a number in the last reading; nil: nothing. It must not be changed.
func (t *verifiedCache) job(id core.JobID) *output.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(id)
}

func (t *verifiedCache) find(id core.JobID) *output.Record {
	if t.table == nil {
		t.table = make(map[core.JobID]*output.Record, len(t.last))
		for i := range t.last {
			t.table[t.last[i].ID] = &t.last[i]
		}
	}
	return t.table[id]
}

// verify makes what a console shows of all jobs certain, and leaves out those that are over.
func (t *verifiedCache) verify(jobs []shown, undecided [][]core.JobID, w verifier) ([]output.Record, error) {
	jobs, undecided, err := t.readAlone(jobs, undecided, w)
	if err != nil {
		return nil, err
	}
	certain := make([]output.Record, 0, len(jobs))
	var doubtful []*shown
	for i := range jobs {
		switch j := &jobs[i]; {
		case j.over():
		case t.trust(j):
			certain = append(certain, j.Record)
		default:
			doubtful = append(doubtful, j)
		}
	}
	if len(doubtful)+len(undecided) == 0 {
		return certain, nil
	}
	asked := time.Now()
	all, err := w.all(t.anyUnknown(doubtful, undecided))
	if err != nil {
		return nil, err
	}
	if all == nil {
		return append(certain, t.lastKnown(doubtful, undecided)...), nil
	}
	if folded := foldedTasks(doubtful, all); len(folded) > 0 {
		// Where it cannot be asked now, it is in a later reading.
		if tasks, err := w.tasks(folded); err == nil {
			all = output.Unfold(all, tasks)
		}
	}
	return append(certain, t.store(doubtful, undecided, all, asked)...), nil
}

// foldedTasks returns waiting tasks of arrays that a list of squeue's leaves out. From 23.02 on squeue
// counts those tasks in the record that has the array's number while that waits, too.
func foldedTasks(doubtful []*shown, all []output.Record) []core.JobID {
	listed := make(map[core.JobID]bool, len(all))
	for i := range all {
		listed[all[i].ID] = true
	}
	var folded []core.JobID
	for _, j := range doubtful {
		if state, _ := output.StateOf(j.word); state == adapter.Pending && j.Array != 0 && !listed[j.ID] && listed[j.Array] {
			folded = append(folded, j.ID)
		}
	}
	return folded
}

// readAlone asks for jobs alone whose records begin who knows where, up to manyAlone. It returns what remains undecided.
func (t *verifiedCache) readAlone(jobs []shown, undecided [][]core.JobID, w verifier) ([]shown, [][]core.JobID, error) {
	asked := map[core.JobID]bool{}
	for _, id := range t.fairOrder(numbers(undecided)) {
		if len(asked) == mostAlone {
			break
		}
		j, err := w.alone(id)
		if err != nil {
			return nil, nil, err
		}
		if asked[id] = true; j != nil {
			jobs = append(jobs, *j)
		}
	}
	var left [][]core.JobID
	for _, ids := range undecided {
		if ids = slices.DeleteFunc(slices.Clone(ids), func(id core.JobID) bool { return asked[id] }); len(ids) > 0 {
			left = append(left, ids)
		}
	}
	return jobs, left, nil
}

// fairOrder is the numbers in the order in which they are asked for: of jobs with a mark, then of other jobs that are known, each
// owner's in turn, so that nobody's are pushed out by another's many; at last those of which nothing is known.
func (t *verifiedCache) fairOrder(ids []core.JobID) []core.JobID {
	type place struct{ class, turn int }
	places := make(map[core.JobID]place, len(ids))
	turns := map[uint32]int{}
	for _, id := range ids {
		p := place{class: 2}
		if r := t.job(id); r != nil {
			if p = (place{1, turns[r.UID]}); r.Mark != "" {
				p.class = 0
			}
			turns[r.UID]++
		}
		places[id] = p
	}
	slices.SortStableFunc(ids, func(a, b core.JobID) int {
		return cmp.Or(cmp.Compare(places[a].class, places[b].class), cmp.Compare(places[a].turn, places[b].turn))
	})
	return ids
}

// trust says whether what a console shows of a job is certain, with what squeue has sworn of it. What is not certain is
// filled in as it was last known, if it was.
func (t *verifiedCache) trust(j *shown) bool {
	defer j.finish()
	if j.doubt == 0 {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.verified[j.Key]
	if o == nil {
		if before := t.find(j.ID); before != nil && before.Key == j.Key {
			j.take(before)
		}
		return j.doubt == 0
	}
	o.seen = time.Now()
	j.take(&o.Record)
	o.same = o.text == j.text
	sworn := o.same && o.seen.Sub(o.at) < verifiedFor
	if sworn {
		j.Comment = o.Comment
	}
	return sworn || j.doubt == 0
}

// anyUnknown says whether nothing at all is known of one of the jobs, or of all that may have one of the records.
func (t *verifiedCache) anyUnknown(doubtful []*shown, undecided [][]core.JobID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := func(id core.JobID) bool { return t.find(id) != nil }
	return slices.ContainsFunc(doubtful, func(j *shown) bool { return !j.known }) ||
		slices.ContainsFunc(undecided, func(ids []core.JobID) bool { return !slices.ContainsFunc(ids, known) })
}

// store takes in what squeue, asked at that time, says of jobs in doubt, and returns what it says of those that are not over.
func (t *verifiedCache) store(doubtful []*shown, undecided [][]core.JobID, all []output.Record, asked time.Time) []output.Record {
	said := make(map[core.JobID]*output.Record, len(all))
	for i := range all {
		said[all[i].ID] = &all[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verified == nil {
		t.verified = map[adapter.Key]*verifiedRecord{}
	}
	var told []output.Record
	add := func(r *output.Record) {
		if r != nil && r.State != adapter.Done {
			told = append(told, *r)
		}
	}
	now := time.Now()
	for key, o := range t.verified {
		// No need to ask again for a while. What was seen after squeue was asked may be younger than what it says: an act had marked the job.
		if r := said[key.ID]; r != nil && r.Key == key && o.same && !o.seen.After(asked) {
			o.Record, o.at = *r, now
		}
	}
	for _, j := range doubtful {
		r := said[j.ID]
		if r != nil && r.Key == j.Key {
			t.verified[j.Key] = &verifiedRecord{Record: *r, text: j.text, at: now, seen: now, same: true}
		}
		add(r)
	}
	for _, id := range numbers(undecided) {
		add(said[id])
	}
	return told
}

// lastKnown is what was last known of jobs in doubt. Of one that was never certain, that it holds its nodes, if these are
// certain, or that it waits without a mark; else nothing.
func (t *verifiedCache) lastKnown(doubtful []*shown, undecided [][]core.JobID) []output.Record {
	var all []output.Record
	for _, j := range doubtful {
		nameless := j.doubt&ofHead != 0 && j.State == adapter.Pending
		switch {
		case j.known:
			all = append(all, j.Record)
		case j.doubt&(ofMiddle|ofState) == 0 && !nameless:
			j.Comment = "" // a request in it would be taken up
			j.Unread = j.State == adapter.Pending
			all = append(all, j.Record)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range numbers(undecided) {
		if r := t.find(id); r != nil {
			all = append(all, *r)
		}
	}
	return all
}

// numbers are all that occur, each once.
func numbers(undecided [][]core.JobID) []core.JobID {
	all := slices.Concat(undecided...)
	slices.Sort(all)
	return slices.Compact(all)
}

// mayAsk says whether squeue may be run now for what is in doubt: not if that would leave less than half of the programs of a
// minute to others, nor soon again where something is known of all. The first reading of all waits for its turn.
func (s *Reader) mayAsk(ctx context.Context, strange bool) (asking context.Context, done func(), may bool) {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	first := s.known.last == nil
	if !first && !strange && time.Since(s.known.asked) < verifyPause {
		return ctx, nil, false
	}
	asking, done, later := s.run.Pace.Try(ctx, 1, s.run.Pace.Limit/2)
	if may = later == 0; may {
		s.known.asked = time.Now()
	}
	if first && !may {
		return ctx, func() {}, true
	}
	return asking, done, may
}
