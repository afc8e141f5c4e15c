package status

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

// reasons returns lines about why the job waits or, if it runs, what it waits for.
func (t *explainer) reasons() []string {
	switch e := t.Job; {
	case e.Kind == view.Delegated && !e.Holds():
		return []string{"It is held until its application starts. No launcher has named it yet: it ends, unless one does within a minute."}
	case e.Phase == "held" && e.Request != "":
		return []string{"It is " + clean(e.Why) + ". Until then nothing starts it, the plan leaves it out, and it keeps no nodes."}
	case e.Phase == "held":
		return append([]string{"It is held: nobody starts it, and the plan leaves it out, until it is released."}, t.batchSystemReason()...)
	case e.Phase == "blocked":
		return append([]string{"It would not start on an empty machine either, so it has no place in the plan yet."}, t.batchSystemReason()...)
	case e.Phase == "ending":
		return nil
	case e.Rank == 0 && e.Why != "" && e.Request != "":
		return []string{clean(e.Why)}
	case e.Rank == 0:
		return nil
	case e.Start == 0 && strings.HasPrefix(e.Why, view.TooLate):
		return t.tooLate()
	case e.Start == 0 && e.Turn == view.Unreserved && !strings.HasPrefix(e.Why, view.NoPlace):
		return t.unreserved()
	case e.Start == 0:
		return t.noPlace()
	case t.Shortage == nil && len(t.Releases) == 0 && e.Start <= t.Read+60:
		return t.due()
	}
	return t.shortage()
}

// batchSystemReason returns a line with the batch system's own reason why the job waits, if there is one.
func (t *explainer) batchSystemReason() []string {
	if t.Job.Why == "" || t.Job.Why == "None" {
		return nil
	}
	return []string{"The batch system's word for it: " + clean(t.Job.Why) + "."}
}

// noPlace explains why the job has no planned start.
func (t *explainer) noPlace() []string {
	why, known := strings.CutPrefix(t.Job.Why, view.NoPlace)
	lines := []string{fmt.Sprintf("It has no place in the plan: it needs %s, and would never fit beside what is there now.", t.most()), t.pool()}
	if strings.HasPrefix(why, ":") && known {
		lines[0] = "It has no place in the plan" + clean(why) + "."
	} else if t.Job.Request != "" && t.Job.Why != view.NoPlace && t.Job.Why != "" {
		lines = append(lines, "The sidecar's word for it: "+clean(t.Job.Why)+".")
	}
	for _, c := range t.Closures {
		if c.Repeats != "" && len(c.Later) > 0 {
			pause := "there is no time in between"
			if free := c.Later[0].Start - c.End; free > 0 {
				pause = "from its end to its next start are " + core.FormatDuration(free)
			}
			lines = append(lines, fmt.Sprintf("Reservation %s keeps %s for others from %s to %s, and again (%s): %s.",
				clean(c.Name), view.NodesWord(c.Nodes), t.moment(c.Start), t.moment(c.End), clean(c.Repeats), pause))
		}
	}
	return lines
}

// closing returns a line about the reservation of others that causes a shortage, if there is one.
func (t *explainer) closing(l *Shortage) []string {
	for _, c := range t.Closures {
		for _, s := range c.Spans() {
			if s.Start-t.approach > l.At || l.At >= s.End || s.Start <= t.Read {
				continue
			}
			return []string{fmt.Sprintf("Reservation %s begins at %s on %s: a job that has them must have ended by then, by its time limit.",
				clean(c.Name), t.moment(s.Start), view.NodesWord(c.Nodes))}
		}
	}
	return nil
}

// tooLate explains that a job has no planned start because it cannot end by its deadline.
func (t *explainer) tooLate() []string {
	e := t.Job
	return []string{
		fmt.Sprintf("It has no place in the plan: it is to end by %s, and would have to start by %s. The jobs before it leave no room for it until then.", t.moment(e.Deadline), t.moment(e.Latest)),
		"It keeps its rank, and starts if there is room in time after all. If there is not, the batch system ends it for its deadline. " + t.pool(),
	}
}

// unreserved explains what a job without a reservation waits for, under a policy that reserves nodes
// for few jobs.
func (t *explainer) unreserved() []string {
	e := t.Job
	lines := []string{"It starts as soon as there is room for all of it. Nobody knows yet when that is: it has no reservation. " + t.pool()}
	if l := t.ShortageNow; l != nil {
		lines = append(lines, "Started now, it would lack nodes: "+t.lacking(l, len(withFirstChoice(e).Plan)))
	}
	after := ""
	if t.DueBefore > 0 {
		after = fmt.Sprintf(", after %s that %s before it", jobsWord(t.DueBefore), map[bool]string{true: "is", false: "are"}[t.DueBefore == 1])
	}
	switch {
	case e.Due == 0:
		return append(lines, fmt.Sprintf("Only the first of the queue has a reservation: it gets one in its turn%s.", after))
	case e.Due > t.Read:
		return append(lines,
			fmt.Sprintf("It is due for a reservation from %s on (%s), when it has waited for %s: twice its request, or 24 hours if that is less, unless", t.moment(e.Due), t.in(e.Due), core.FormatDuration(e.Due-e.Submitted)),
			"the site says otherwise. Until then whoever fits may start before it, and delay it; once it has one, nobody does who starts later.")
	}
	return append(lines, fmt.Sprintf("It has been due for a reservation since %s, and gets one in its turn%s.", t.moment(e.Due), after))
}

// most returns the smallest number of nodes that the job needs at its peak. If the job has several choices, that is the smallest peak of
// any choice.
func (t *explainer) most() string {
	most := t.Job.Size
	if choices, err := adapter.ParseRequest(t.Job.Request); err == nil {
		most = choices[0].Peak()
		for _, ep := range choices {
			most = min(most, ep.Peak())
		}
	}
	return view.NodesWord(most)
}

// due explains why a job still waits although it can start now.
func (t *explainer) due() []string {
	e := t.Job
	if e.Request == "" {
		return append([]string{"There is room for it: the batch system starts it when it next looks at its queue, or some seconds later."}, t.batchSystemReason()...)
	}
	if strings.HasPrefix(e.Why, view.Booting) {
		return []string{
			"There is room for it, on nodes that were powered down. It is started when they have booted.",
			"It waits for " + clean(e.Why) + ".",
		}
	}
	lines := []string{"There is room for it, and it is started within seconds."}
	if e.Why != "" && e.Why != "nodes" {
		lines = append(lines, "What is still in the way: "+clean(e.Why)+".")
	}
	return lines
}

// shortage explains why a job waits: until its planned start there are too few nodes for it.
func (t *explainer) shortage() []string {
	e := t.Job
	needs := fmt.Sprintf("It needs %s.", view.NodesWord(e.Size))
	if len(e.Plan) > 1 {
		needs = fmt.Sprintf("It needs %s for its first step.", view.NodesWord(e.Size))
	}
	lines := []string{needs + " " + t.pool()}
	switch {
	case e.Turn != view.Reserved:
	case e.Due > 0:
		lines = append(lines, fmt.Sprintf("It was due at %s, and has a reservation since its turn came: who starts now leaves its nodes.", t.moment(e.Due)))
	default:
		lines = append(lines, "It has the reservation: who starts now leaves its nodes.")
	}
	start := t.moment(e.Start)
	l, now := t.Shortage, t.ShortageNow
	later := l != nil && (l.Step > 1 || l.At >= e.Start) // nodes would be missing only after the job's start
	same := l != nil && now != nil && later && l.Step == now.Step && l.At-now.At < 2
	if now != nil && (now.Step > 1 || t.Pool.Free >= e.Size) && !same {
		lines = append(lines, "Started now, it would lack nodes: "+t.lacking(now, len(e.Plan)))
		lines = append(lines, t.closing(now)...)
	}
	switch {
	case later:
		lines = append(lines, fmt.Sprintf("Started right before %s, it would still lack nodes: %s", start, t.lacking(l, len(e.Plan))))
	case l != nil:
		lines = append(lines, fmt.Sprintf("Right before %s others leave it %s.", start, only(l.Free)))
	}
	if given := t.given(); given != "" && later {
		lines = append(lines, "There are more when "+given+".")
	} else if given != "" {
		lines = append(lines, "It can start when "+given+".")
	}
	if later {
		lines = append(lines, "A job starts only when there are nodes for all of it, so that it never stands still half way.")
	}
	if choices, err := adapter.ParseRequest(e.Request); err == nil && len(choices) > 1 && t.Sizes == nil {
		lines = append(lines, "Of its choices this is the one that is over first.")
	}
	if l == nil && e.Request != "" && e.Kind != "rigid" && slices.ContainsFunc(t.Before, func(b view.Entry) bool { return b.Request == "" }) {
		lines = append(lines, "Sooner it might be in the way of an ordinary job before it: these begin as soon as others end, and the batch system",
			"counts its nodes until its time limit, which is longer than its profile.")
	}
	if e.Request == "" {
		lines = append(lines, t.batchSystemReason()...)
	}
	return lines
}

// lacking describes the shortage l for a job with the given number of steps.
func (t *explainer) lacking(l *Shortage, steps int) string {
	if steps > 1 {
		return fmt.Sprintf("its step %d needs %d, and at %s others leave it %s.", l.Step, l.Needs, t.moment(l.At), only(l.Free))
	}
	return fmt.Sprintf("it needs %d, and at %s others leave it %s.", l.Needs, t.moment(l.At), only(l.Free))
}

// pool describes how the machine is used now.
func (t *explainer) pool() string {
	parts := []string{are(t.Pool.Held) + " held by jobs"}
	if t.Pool.Taken > 0 {
		parts = append(parts, are(t.Pool.Taken)+" reserved by others")
	}
	if t.Pool.Away > 0 {
		parts = append(parts, are(t.Pool.Away)+" down or drained")
	}
	free := are(t.Pool.Free)
	if t.Pool.Free == 0 {
		free = "none is"
	}
	parts = append(parts, free+" free")
	return fmt.Sprintf("Of the pool's %d, %s.", t.Pool.Nodes, strings.Join(parts, ", "))
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func only(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("only %d", n)
}

// given describes which jobs and reservations release the nodes that the job waits for, and when. It
// returns "" if the job waits for another reason, such as its begin time.
func (t *explainer) given() string {
	over := t.Job.Start
	if t.Shortage != nil {
		over = t.Shortage.At + 1
	}
	if len(t.Releases) == 0 || t.Releases[0].At < over-2 {
		return ""
	}
	last := t.Releases[0].At
	sure := "at the latest" // this is true only if the batch system ends jobs at their time limits
	var who []string
	for _, r := range t.Releases {
		if r.At < last-2 || len(who) == 4 {
			break
		}
		switch {
		case r.Closure != "":
			who = append(who, fmt.Sprintf("reservation %s ends (%s)", clean(r.Closure), view.NodesWord(r.Nodes)))
		case r.Holds:
			who = append(who, fmt.Sprintf("job %d of %s gives back %s", r.Job, clean(r.User), givenBack(r)))
		default:
			sure = "as planned now"
			who = append(who, fmt.Sprintf("job %d of %s, which is before it, gives back %s", r.Job, clean(r.User), givenBack(r)))
		}
		if r.Managed {
			sure = "as planned now"
		}
	}
	return fmt.Sprintf("%s, at %s %s (%s)", strings.Join(who, " and "), t.moment(last), sure, t.in(last))
}

// givenBack describes how many of its nodes a job releases.
func givenBack(r Release) string {
	if r.Keeps > 0 {
		return fmt.Sprintf("%d of its %s", r.Nodes, view.NodesWord(r.Nodes+r.Keeps))
	}
	return "its " + view.NodesWord(r.Nodes)
}

// holders returns lines about which jobs hold nodes, and until when.
func (t *explainer) holders() []string {
	if len(t.Holders) == 0 {
		return []string{"Nobody."}
	}
	var lines []string
	var late core.Time
	for i := range t.Holders {
		if i == listed {
			more := 0
			for k := range t.Holders[i:] {
				more += t.Holders[i+k].Size
			}
			lines = append(lines, fmt.Sprintf("and %s more, with %s, all of them for longer", jobsWord(len(t.Holders)-i), view.NodesWord(more)))
			break
		}
		e := &t.Holders[i]
		lines = append(lines, fmt.Sprintf("%s: %s", who(e), t.holding(e)))
		if e.Request == "" && e.Free > e.End && e.Free > t.Read {
			late = max(late, e.Free-e.End)
		}
	}
	if late > 0 {
		lines = append(lines, fmt.Sprintf("(An ordinary job's time is its limit, and %s that the batch system may take to end it.)", core.FormatDuration(late)))
	}
	return lines
}

func who(e *view.Entry) string {
	return fmt.Sprintf("job %d of %s (%s)", e.ID, clean(e.User), e.Kind)
}

// holding describes how many nodes a job holds, and when it releases them.
func (t *explainer) holding(e *view.Entry) string {
	text := view.NodesWord(e.Size)
	second, told := e.Start, 0
	for i, s := range e.Plan {
		second += s.Duration
		if i+1 < len(e.Plan) && second > t.Read && i+1 >= e.Step {
			if told++; told > mostSteps {
				text += fmt.Sprintf(", and so on, %d steps in all", len(e.Plan))
				break
			}
			text += fmt.Sprintf(", %s at %s", resized(s.Nodes, e.Plan[i+1].Nodes), t.moment(second))
		}
	}
	switch {
	case e.Free == 0:
		return text + ", without a time limit"
	case e.Free <= t.Read && e.Request == "":
		return text + fmt.Sprintf(", past its limit since %s: it is being ended", t.moment(e.End))
	case e.Free <= t.Read:
		return text + fmt.Sprintf(", late: it was to be over at %s", t.moment(e.End))
	case e.Request == "":
		return text + fmt.Sprintf(" until %s at the latest (%s)", t.moment(e.Free), t.in(e.Free))
	}
	return text + fmt.Sprintf(", is over at %s as promised (%s)", t.moment(e.Free), t.in(e.Free))
}

// resized describes a planned change of a job's size.
func resized(from, to int) string {
	if to > from {
		return fmt.Sprintf("grows to %d", to)
	}
	return fmt.Sprintf("shrinks to %d", to)
}

// wanted formats the planned sizes of a waiting job: "6,10 nodes".
func wanted(e *view.Entry) string {
	if len(e.Plan) > 1 {
		return sizes(e) + " nodes"
	}
	return view.NodesWord(e.Size)
}

// before returns lines about which jobs come before the job in the queue, and about which reservations
// of others keep nodes from it.
func (t *explainer) before() []string {
	var lines []string
	if len(t.Before) == 0 {
		lines = append(lines, "Nobody: it is the first in the queue.")
	}
	for i := range t.Before {
		if i == listed {
			lines = append(lines, fmt.Sprintf("and %s more (accordion queue)", jobsWord(len(t.Before)-i)))
			break
		}
		e := &t.Before[i]
		what := "no place in the plan"
		switch start, end := t.moment(e.Start), t.moment(e.End); {
		case e.Start == 0 && e.Turn == view.Unreserved:
			what = wanted(e) + ", starts when there is room"
		case e.Start == 0:
		case e.End == 0:
			what = fmt.Sprintf("%s, planned from %s on", wanted(e), start)
		default:
			what = fmt.Sprintf("%s, planned from %s to %s", wanted(e), start, end)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", who(e), what))
	}
	for _, c := range t.Closures {
		until := "without end"
		if c.End < core.Forever {
			until = "to " + t.moment(c.End)
		}
		if c.Repeats != "" {
			until += ", and again (" + clean(c.Repeats) + ")"
		}
		lines = append(lines, fmt.Sprintf("reservation %s: %s from %s %s", clean(c.Name), view.NodesWord(c.Nodes), t.moment(c.Start), until))
	}
	return lines
}
