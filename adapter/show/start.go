package show

import (
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
)

// A waiting job has no promise, and its planned start moves as others come and go. Its user is told in the journal when it
// moves by much, and why: `accordion explain` shows it.

// wordAfter is in seconds: a shorter wait, or move, is not worth a word.
const wordAfter core.Time = 60

// wordsEach is how many jobs are told in one cycle: each costs two writes to the disk; the others follow.
const wordsEach = 4

// Estimate tells waiting managed jobs when they are planned to start: when that is first known, and when it has moved by a
// minute and by a tenth of the wait that is left.
func (s *Show) Estimate(v *plan.World) error {
	told := 0
	s.past.news = nil
	for _, w := range v.Queue {
		r := w.Managed
		if r == nil || r.Part != nil || r.Rigid() || // of those there may be hundreds, and nobody has planned on their starts
			r.Phase != managed.Waiting || r.Course == nil || r.Course.Err != nil {
			continue
		}
		start, ahead := r.Course.Start, r.Course.Start-v.Now
		later := start - r.Expected
		switch {
		case r.Expected == 0 && ahead <= wordAfter:
			continue
		case r.Expected != 0 && max(later, -later) < max(wordAfter, ahead/10):
			r.Mover = managed.Mover{}
			continue
		case r.Expected != 0 && (r.Mover.Why == "" || r.Mover.Later != (later > 0)): // now is when it can be seen why
			r.Mover = managed.Mover{Why: s.whyMoved(v, r, later > 0), Later: later > 0}
		}
		if told == wordsEach {
			continue
		}
		told++
		if err := s.tellStart(v, r, start); err != nil {
			return err
		}
		r.Expected, r.Mover, r.Dirty = start, managed.Mover{}, true
	}
	return nil
}

// tellStart says when a waiting job is planned to start, and when it was told otherwise before, why it moved.
func (s *Show) tellStart(v *plan.World, r *managed.Job, start core.Time) error {
	if r.Expected == 0 {
		return s.Event(r, "planned", "its start is planned in "+core.FormatDuration(start-v.Now), map[string]any{"start": start})
	}
	distance := core.FormatDuration(start-r.Expected) + " later"
	if start < r.Expected {
		distance = core.FormatDuration(r.Expected-start) + " earlier"
	}
	return s.Event(r, "replanned", fmt.Sprintf("its start is planned %s: %s", distance, r.Mover.Why),
		map[string]any{"start": start, "before": r.Expected, "cause": r.Mover.Why})
}

// whyMoved is what moved a planned start in this cycle.
func (s *Show) whyMoved(v *plan.World, r *managed.Job, later bool) string {
	if s.past.entries == nil {
		return "the sidecar did not run meanwhile"
	}
	if s.past.news == nil {
		s.past.news = s.gatherNews(v)
	}
	return s.past.news.about(r.Key, later)
}

// news is what happened since the cycle before, in words, as far as it moves plans.
type news struct {
	later, earlier []string
	came, left     []rival // waiting jobs, in the order of the queue
	rank           map[adapter.Key]int
	before         map[adapter.Key]int // ranks of the cycle before
}

// rival is a waiting job that came before others, or left them its place.
type rival struct {
	rank int
	text string
}

// gatherNews compares what this cycle sees with the queue of the cycle before.
func (s *Show) gatherNews(v *plan.World) *news {
	n := &news{rank: map[adapter.Key]int{}, before: map[adapter.Key]int{}}
	for i, w := range v.Queue {
		n.rank[w.Seen.Key] = i + 1
	}
	s.newsOfNodes(v, n)
	seen := make(map[adapter.Key]*adapter.Job, len(v.Snapshot.Jobs))
	for i := range v.Snapshot.Jobs {
		seen[v.Snapshot.Jobs[i].Key] = &v.Snapshot.Jobs[i]
	}
	for i := range s.past.entries {
		e := &s.past.entries[i]
		if e.Rank > 0 {
			n.before[e.Key()] = e.Rank
		}
		newsOfJob(v, n, e, seen[e.Key()])
	}
	for i, w := range v.Queue {
		if n.before[w.Seen.Key] == 0 {
			n.came = append(n.came, rival{i + 1, fmt.Sprintf("job %d of %s came before it in the queue", w.Seen.ID, w.Seen.User)})
		}
	}
	return n
}

// newsOfNodes is nodes and reservations that came or went.
func (s *Show) newsOfNodes(v *plan.World, n *news) {
	switch more := missing(v) - s.past.missing; {
	case more > 0:
		n.later = append(n.later, fmt.Sprintf("%s went out of service", view.NodesWord(more)))
	case more < 0:
		n.earlier = append(n.earlier, fmt.Sprintf("%s came back into service", view.NodesWord(-more)))
	}
	for _, c := range closures(v) {
		if !s.past.closed[c.Name] {
			n.later = append(n.later, fmt.Sprintf("reservation %s was made over %s", c.Name, view.NodesWord(c.Nodes)))
		}
	}
}

// missing is how many nodes the plan does without.
func missing(v *plan.World) int {
	n := 0
	for _, node := range v.Snapshot.Nodes {
		if v.OutOfService(node) {
			n++
		}
	}
	return n
}

// newsOfJob is what became of a job since the cycle before.
func newsOfJob(v *plan.World, n *news, e *view.Entry, j *adapter.Job) {
	r := v.Managed[e.Key()]
	over := r == nil && (j == nil || j.State == adapter.Done || j.State == adapter.Ending)
	who := fmt.Sprintf("job %d of %s", e.ID, e.User)
	switch {
	case e.Rank > 0 && over:
		n.left = append(n.left, rival{e.Rank, who + " left the queue"})
	case !e.Holds():
	case over && e.Phase != string(adapter.Ending) && (e.Free == 0 || e.Free > v.Now+wordAfter):
		text := who + " ended before its time"
		if e.End > v.Now {
			text = fmt.Sprintf("%s ended %s before its time", who, core.FormatDuration(e.End-v.Now))
		}
		n.earlier = append(n.earlier, text)
	case over:
	case r == nil && overran(v, j):
		n.later = append(n.later, who+" is past its limit and holds its nodes")
	case r != nil && len(r.Promise) > 0 && e.End > 0:
		switch later := r.End() - e.End; {
		case later > 0:
			n.later = append(n.later, fmt.Sprintf("%s needs its nodes for %s longer than promised", who, core.FormatDuration(later)))
		case later < 0:
			n.earlier = append(n.earlier, fmt.Sprintf("%s is over %s earlier than promised", who, core.FormatDuration(-later)))
		}
	}
}

// about is the news that may have moved the job's start, at most two of them.
func (n *news) about(key adapter.Key, later bool) string {
	texts := n.earlier
	rivals, rank := n.left, n.before[key]
	if later {
		texts, rivals, rank = n.later, n.came, n.rank[key]
	}
	texts = texts[:len(texts):len(texts)]
	for _, o := range rivals {
		if o.rank < rank {
			texts = append(texts, o.text)
		}
	}
	switch more := len(texts) - 2; {
	case len(texts) == 0:
		return "what runs before it was planned again"
	case more > 0:
		return fmt.Sprintf("%s, and %d more changes", strings.Join(texts[:2], ", "), more)
	}
	return strings.Join(texts, ", ")
}
