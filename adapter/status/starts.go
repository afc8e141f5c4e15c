package status

import (
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
)

// A waiting job has no promise, and its planned start moves as other jobs come and go. Each large move, with its reason, is recorded as
// an event in the journal, which `accordion explain` shows.

// smallestMove is a number of seconds. A first planned start that is nearer than that is not
// announced, and nor is a smaller move of a planned start.
const smallestMove core.Time = 60

// announcedPerCycle is the largest number of starts that are announced in one cycle, because each costs two writes to the disk. The
// others are announced in later cycles.
const announcedPerCycle = 4

// AnnounceStarts records events for waiting managed jobs. A job gets an event when it first has a
// planned start. It gets another event whenever its start has moved by at least a minute, and by at
// least a tenth of the remaining wait.
func (p *Publisher) AnnounceStarts(v *plan.World) error {
	announced := 0
	p.past.news = nil
	for _, w := range v.Queue {
		r := w.Managed
		if r == nil || r.Part != nil || r.Rigid() || // there may be hundreds of rigid jobs, and their users do not rely on a planned start
			r.Phase != managed.Waiting || r.Course == nil || r.Course.Err != nil {
			continue
		}
		start, ahead := r.Course.Start, r.Course.Start-v.Now
		later := start - r.StartTold
		switch {
		case r.StartTold == 0 && ahead <= smallestMove:
			continue
		case r.StartTold != 0 && max(later, -later) < max(smallestMove, ahead/10):
			r.StartMove = managed.StartMove{}
			continue
		case r.StartTold != 0 && (r.StartMove.Why == "" || r.StartMove.Later != (later > 0)): // the reason can be found only in the cycle in which the start moves
			r.StartMove = managed.StartMove{Why: p.whyMoved(v, r, later > 0), Later: later > 0}
		}
		if announced == announcedPerCycle {
			continue
		}
		announced++
		if err := p.announceStart(v, r, start); err != nil {
			return err
		}
		r.StartTold, r.StartMove, r.Unsaved = start, managed.StartMove{}, true
	}
	return nil
}

// announceStart records an event with the planned start of a waiting job. If another start was
// announced before, the event also has the reason why the start moved.
func (p *Publisher) announceStart(v *plan.World, r *managed.Job, start core.Time) error {
	if r.StartTold == 0 {
		return p.Event(r, "planned", "its start is planned in "+core.FormatDuration(start-v.Now), map[string]any{"start": start})
	}
	distance := core.FormatDuration(start-r.StartTold) + " later"
	if start < r.StartTold {
		distance = core.FormatDuration(r.StartTold-start) + " earlier"
	}
	return p.Event(r, "replanned", fmt.Sprintf("its start is planned %s: %s", distance, r.StartMove.Why),
		map[string]any{"start": start, "before": r.StartTold, "cause": r.StartMove.Why})
}

// whyMoved returns the reason why a planned start moved in this cycle.
func (p *Publisher) whyMoved(v *plan.World, r *managed.Job, later bool) string {
	if p.past.entries == nil {
		return "the sidecar did not run meanwhile"
	}
	if p.past.news == nil {
		p.past.news = p.gatherNews(v)
	}
	return p.past.news.about(r.Key, later)
}

// news has what happened since the previous cycle and may have moved planned starts, as texts for users.
type news struct {
	later, earlier []string
	came, left     []rival // jobs that entered or left the queue, in the order of the queue
	rank           map[adapter.Key]int
	before         map[adapter.Key]int // each job's rank in the previous cycle
}

// rival is a waiting job that entered the queue, or left it.
type rival struct {
	rank int
	text string
}

// gatherNews compares this cycle with the queue of the previous one.
func (p *Publisher) gatherNews(v *plan.World) *news {
	n := &news{rank: map[adapter.Key]int{}, before: map[adapter.Key]int{}}
	for i, w := range v.Queue {
		n.rank[w.Seen.Key] = i + 1
	}
	p.addNodeNews(v, n)
	seen := make(map[adapter.Key]*adapter.Job, len(v.Snapshot.Jobs))
	for i := range v.Snapshot.Jobs {
		seen[v.Snapshot.Jobs[i].Key] = &v.Snapshot.Jobs[i]
	}
	for i := range p.past.entries {
		e := &p.past.entries[i]
		if e.Rank > 0 {
			n.before[e.Key()] = e.Rank
		}
		addJobNews(v, n, e, seen[e.Key()])
	}
	for i, w := range v.Queue {
		if n.before[w.Seen.Key] == 0 {
			n.came = append(n.came, rival{i + 1, fmt.Sprintf("job %d of %s came before it in the queue", w.Seen.ID, w.Seen.User)})
		}
	}
	return n
}

// addNodeNews adds texts about nodes that went out of service or returned, and about new reservations of others.
func (p *Publisher) addNodeNews(v *plan.World, n *news) {
	switch more := outOfService(v) - p.past.outOfService; {
	case more > 0:
		n.later = append(n.later, fmt.Sprintf("%s went out of service", view.NodesWord(more)))
	case more < 0:
		n.earlier = append(n.earlier, fmt.Sprintf("%s came back into service", view.NodesWord(-more)))
	}
	for _, c := range closures(v) {
		if !p.past.closed[c.Name] {
			n.later = append(n.later, fmt.Sprintf("reservation %s was made over %s", c.Name, view.NodesWord(c.Nodes)))
		}
	}
}

// outOfService returns how many nodes the plan treats as out of service.
func outOfService(v *plan.World) int {
	n := 0
	for _, node := range v.Snapshot.Nodes {
		if v.OutOfService(node) {
			n++
		}
	}
	return n
}

// addJobNews adds a text about what happened to a job since the previous cycle.
func addJobNews(v *plan.World, n *news, e *view.Entry, j *adapter.Job) {
	r := v.Managed[e.Key()]
	over := r == nil && (j == nil || j.State == adapter.Done || j.State == adapter.Ending)
	who := fmt.Sprintf("job %d of %s", e.ID, e.User)
	switch {
	case e.Rank > 0 && over:
		n.left = append(n.left, rival{e.Rank, who + " left the queue"})
	case !e.Holds():
	case over && e.Phase != string(adapter.Ending) && (e.Free == 0 || e.Free > v.Now+smallestMove):
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

// about returns the news that may have moved the job's start. It returns the first two texts, and how many more there are.
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
