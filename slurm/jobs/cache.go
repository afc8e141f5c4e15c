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

// This file caches squeue's output about jobs, so that squeue need not run again for the same texts.

const (
	// verifiedFor is how long squeue's answer is used if a text stays the same. A record can look unchanged
	// although Slurm's fields have changed, but only if a user deliberately exchanges several texts of the job.
	verifiedFor = 10 * time.Minute
	// verifyPause is the shortest pause between two runs of squeue for jobs that have a verified record.
	verifyPause = 5 * time.Second
	// mostAlone limits how many jobs are read one by one because the beginning of their record is undecided. Each
	// takes some two milliseconds.
	mostAlone = 32
)

// A verifier reads jobs whose record in a console's answer is in doubt.
type verifier interface {
	// alone reads one job from a console. It returns nil if there is no console, or if the job's record cannot be
	// distinguished from others.
	alone(id core.JobID) (*shown, error)
	// all lists all jobs with squeue, including ended ones. It returns nil if squeue may not run now. `strange`
	// means that some jobs have no verified record.
	all(strange bool) ([]output.Record, error)
	// tasks uses squeue to list array tasks that the list of `all` lacks.
	tasks(ids []core.JobID) ([]output.Record, error)
}

// A verifiedCache holds the verified records of jobs. No forged text of a user gets into it. Its methods may be
// called from several goroutines.
type verifiedCache struct {
	mu       sync.Mutex
	last     []output.Record               // verified records of the last reading, without ended jobs; replaced as a whole, never modified
	table    map[core.JobID]*output.Record // the records of `last` by number; nil until the first lookup, because lookups are rare
	large    bool                          // the last reading had many jobs (manyJobs)
	verified map[adapter.Key]*verifiedRecord
	asked    time.Time // when squeue last ran for jobs in doubt
}

// A verifiedRecord is squeue's record of a job in doubt.
type verifiedRecord struct {
	output.Record
	text string // the text in doubt that a console showed just before squeue ran
	at   time.Time
	seen time.Time // when the job was last seen
	same bool      // the job still had this text when last seen
}

// empty reports whether nothing was read yet.
func (t *verifiedCache) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last == nil
}

// isLong reports whether the last list had many jobs (manyJobs).
func (t *verifiedCache) isLong() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.large
}

// keep stores a reading.
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

// job returns the verified record of a job from the last reading, or nil if there is none. The caller must not
// change it.
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

// verify turns a console's records of all jobs into verified records, and leaves out ended jobs.
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
		// If squeue fails now, a later reading will have these tasks.
		if tasks, err := w.tasks(folded); err == nil {
			all = output.AddTasks(all, tasks)
		}
	}
	return append(certain, t.store(doubtful, undecided, all, asked)...), nil
}

// foldedTasks returns pending tasks of arrays that a list of squeue omits. Since 23.02 squeue folds a pending task
// into the record with the array's number if that record is pending, too.
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

// readAlone reads jobs one by one whose record begins at an undecided position. It reads at most mostAlone jobs. It
// returns the records that remain undecided.
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

// fairOrder returns the numbers in the order of reading: first jobs with a mark, then other known jobs, then
// unknown jobs. The known jobs of each owner take turns, so that one owner's many jobs do not displace another's.
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

// trust reports whether a console's record of a job is certain. It is if no field is in doubt, or if squeue has
// verified the same text before. trust fills uncertain fields with the last verified values, if there are any.
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
	verified := o.same && o.seen.Sub(o.at) < verifiedFor
	if verified {
		j.Comment = o.Comment
	}
	return verified || j.doubt == 0
}

// anyUnknown reports whether a verified record is missing for one of the doubtful jobs, or for a job that may own
// one of the undecided records.
func (t *verifiedCache) anyUnknown(doubtful []*shown, undecided [][]core.JobID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := func(id core.JobID) bool { return t.find(id) != nil }
	return slices.ContainsFunc(doubtful, func(j *shown) bool { return !j.known }) ||
		slices.ContainsFunc(undecided, func(ids []core.JobID) bool { return !slices.ContainsFunc(ids, known) })
}

// store stores squeue's records of the jobs in doubt. `asked` is when squeue started. store returns the records of
// jobs that have not ended.
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
		// Jobs with a stored record need no new run of squeue for a while. A record that was read after squeue
		// started is not replaced. It may be newer than squeue's output, because an action may have marked the job
		// meanwhile.
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

// lastKnown returns the last verified records of jobs in doubt. If a job was never verified, the record shows only
// that the job holds its nodes, if these are certain, or that the job is pending without a mark. If neither is
// known, lastKnown omits the job.
func (t *verifiedCache) lastKnown(doubtful []*shown, undecided [][]core.JobID) []output.Record {
	var all []output.Record
	for _, j := range doubtful {
		nameless := j.doubt&ofHead != 0 && j.State == adapter.Pending
		switch {
		case j.known:
			all = append(all, j.Record)
		case j.doubt&(ofMiddle|ofState) == 0 && !nameless:
			j.Comment = "" // the comment is not verified; a request in it would be accepted
			j.Unverified = j.State == adapter.Pending
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

// numbers returns all numbers, each once.
func numbers(undecided [][]core.JobID) []core.JobID {
	all := slices.Concat(undecided...)
	slices.Sort(all)
	return slices.Compact(all)
}

// mayAsk reports whether squeue may run now for jobs in doubt. It may not if less than half of a minute's programs
// would remain for other uses. If all jobs have a verified record, it may also not run soon after its last run. The
// very first reading waits for its turn.
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
