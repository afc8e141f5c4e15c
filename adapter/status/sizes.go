package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/profile"
	"accordion/core/sizing"
)

// SizeExplanation explains the planned number of nodes of a waiting moldable job.
type SizeExplanation struct {
	view.Sizing
	view.AllowedSizes
	Head   core.JobID   `json:"head,omitempty"` // the head of the queue, if the rule uses the head's fraction of its reference size for this job, too; otherwise 0
	Taken  int          `json:"taken"`          // number of nodes on which the job is planned
	Keeps  string       `json:"keeps"`          // in words, why the job is not planned on more nodes
	Listed []SizeOption `json:"listed"`         // in increasing order of nodes
}

// SizeOption is one configuration in a moldable job's request, with the start and end that the job
// would have with this configuration, at its place in the queue.
type SizeOption struct {
	Nodes   int       `json:"nodes"`
	Seconds core.Time `json:"seconds"`
	Start   core.Time `json:"start"` // Unix seconds; 0 if the plan has no room for the configuration
	End     core.Time `json:"end"`
	Gains   bool      `json:"gains"` // true if no other configuration with as many or fewer nodes is faster; a configuration without Gains is never chosen
	May     bool      `json:"may"`   // the site's sizing rule allows the configuration now
}

// sizes explains the size of a waiting moldable job. It returns nil if no sizing rule limits the
// job's size.
func (a analysis) sizes(e *view.Entry) *SizeExplanation {
	choices, err := adapter.ParseRequest(requestOf(e))
	if err != nil || e.Sized == nil || e.Machine >= len(a.queue.Sizing) {
		return nil
	}
	x := &SizeExplanation{Sizing: a.queue.Sizing[e.Machine], AllowedSizes: *e.Sized, Head: e.Head, Taken: e.Size, Listed: []SizeOption{}}
	occupied := a.occupation()
	gaining := sizing.New(core.Job{Choices: choices}, sizing.HalfReference)
	for _, ep := range choices {
		one := SizeOption{Nodes: ep[0].Nodes, Seconds: ep[0].Duration}
		one.Gains = gaining != nil && slices.Contains(gaining.Steps, ep[0])
		one.May = one.Gains && one.Nodes >= x.Least && one.Nodes <= x.Most
		if start, ok := occupied.FirstFit(one.Nodes, one.Seconds, a.now); ok && start < core.Forever {
			one.Start, one.End = start, start+one.Seconds
		}
		if one.Nodes == x.Taken && (e.Request == "" || one.Seconds == e.End-e.Start) {
			one.Start, one.End = e.Start, e.End // for the planned size use the plan's times, because the plan considers more than the queue shows
		}
		x.Listed = append(x.Listed, one)
	}
	slices.SortStableFunc(x.Listed, func(a, b SizeOption) int {
		return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Seconds, b.Seconds))
	})
	x.Keeps = x.keeps()
	return x
}

// requestOf returns the request of a managed job. For an ordinary moldable job it returns the sizes that the batch system knows, in the
// form of a request.
func requestOf(e *view.Entry) string {
	if e.Choices != "" {
		return "mold=" + e.Choices
	}
	return e.Request
}

// occupation returns how many nodes are occupied by other jobs and by reservations, from now on.
func (a analysis) occupation() *profile.Profile {
	all := profile.New(a.queue.Nodes - a.queue.Away)
	occupy := func(from, to core.Time, nodes int) {
		if to > a.now && to > from && nodes > 0 {
			from = max(from, a.now)
			all.Add(from, core.EP{{Duration: to - from, Nodes: nodes}})
		}
	}
	for _, c := range a.queue.Closures {
		for _, s := range c.Spans() {
			occupy(s.Start-a.approach, s.End, c.Nodes)
		}
	}
	for i := range a.others {
		o := &a.others[i]
		if o.Start == 0 {
			continue
		}
		if len(o.Plan) == 0 {
			occupy(o.Start, endOrForever(o.Free), o.Size)
			continue
		}
		second := o.Start
		for _, s := range o.Plan {
			occupy(second, second+s.Duration, s.Nodes)
			second += s.Duration
		}
	}
	return all
}

// keeps returns the reason why the job is not planned with a larger size.
func (x *SizeExplanation) keeps() string {
	larger := func(l SizeOption) bool { return l.Gains && l.Nodes > x.Taken }
	switch within := func(l SizeOption) bool { return larger(l) && l.Nodes <= x.Limit }; {
	case !slices.ContainsFunc(x.Listed, larger):
		return "no larger one that it listed is faster"
	case x.Limit > 0 && !slices.ContainsFunc(x.Listed, within):
		return "the site allows it no more than " + view.NodesWord(x.Limit)
	}
	for _, l := range x.Listed {
		if l.May && l.Nodes > x.Taken {
			if l.Start == 0 {
				return fmt.Sprintf("there is no place for it on %d", l.Nodes)
			}
			return fmt.Sprintf("on %d it would not be over sooner", l.Nodes)
		}
	}
	switch {
	case x.Taken > x.Machine:
		return "the machine has no more"
	case x.Least == x.Most && x.Part < view.Number(x.Most):
		least := "half of its reference"
		if 2*x.Least < x.Reference {
			least = "the least that it listed"
		}
		return "that is the least that it gets, " + least + ", and its part is not more"
	case x.Rule == "share" && x.Part >= view.Number(x.Reference):
		return "more than its reference nobody gets while more than a third of the machine is wanted"
	case x.Rule == "share":
		return "more would be above its part"
	case x.Rule == "load" && x.Part >= view.Number(x.Reference) && x.Parts.Future == 0:
		return "without statistics of jobs to come nobody gets more than his reference"
	case x.Rule == "load":
		return "with more the load of the machine would be too high while it runs"
	}
	return fmt.Sprintf("the site's rule, %s, gives no more", x.Rule)
}

// size returns lines that explain the planned size of a moldable job.
func (t *explainer) size() []string {
	x := t.Sizes
	if x == nil {
		return nil
	}
	part := "Its part of that is " + x.Part.String()
	if x.Rule != "share" {
		part = "What the rule gives it is " + x.Part.String()
	}
	if x.Head != 0 {
		part = fmt.Sprintf("Behind job %d, the head of the queue, everybody gets the same part of his reference: of this one that is %s", x.Head, x.Part)
	}
	lines := []string{
		fmt.Sprintf("Its reference is %s: of all that it listed, nodes x time^2 is least there, and more nodes cost more than they gain.", view.NodesWord(x.Reference)),
		fmt.Sprintf("Jobs hold %d of the machine's %s, and %s %d. The site sizes jobs by the rule %q.", x.Held, view.NodesWord(x.Machine), waiting(x.Waiting), x.Wanted, x.Rule),
		fmt.Sprintf("%s, so it may have %s now.", part, between(x)),
		fmt.Sprintf("It is planned on %d, and not on more: %s.", x.Taken, x.Keeps),
	}
	if x.Tried != nil {
		lines = append(lines, t.load()...)
	}
	if len(x.Listed) <= listed {
		lines = append(lines, t.listed()...)
	}
	return lines
}

// waiting returns the beginning of a sentence about n waiting jobs.
func waiting(n int) string {
	if n == 1 {
		return "the one that waits wants"
	}
	return fmt.Sprintf("the %d that wait want", n)
}

// between formats the range of sizes that the job may have.
func between(x *SizeExplanation) string {
	if x.Least == x.Most {
		return view.NodesWord(x.Most)
	}
	return fmt.Sprintf("%d to %s", x.Least, view.NodesWord(x.Most))
}

// load returns lines about how the rule "load" chose the job's size.
func (t *explainer) load() []string {
	p := t.Sizes.Parts
	tried := make([]string, len(t.Sizes.Tried))
	for i, one := range t.Sizes.Tried {
		tried[i] = fmt.Sprintf("%s (load %s)", one.Factor, one.Load)
	}
	whose := "its run time"
	if t.Sizes.Head != 0 {
		whose = fmt.Sprintf("the run time of job %d", t.Sizes.Head)
	}
	return []string{
		fmt.Sprintf("Over %s the machine's load would be %s by itself, %s by jobs that run, %s by others that wait, %s by jobs to come.",
			whose, p.Own, p.Running, p.Waiting, p.Future),
		fmt.Sprintf("Tried were these parts of everybody's reference: %s.", strings.Join(tried, ", ")),
	}
}

// listed returns one line for each requested size, with the time at which the job would start.
func (t *explainer) listed() []string {
	var sizes, starts, ends, notes []string
	for _, l := range t.Sizes.Listed {
		start, end, note := "no place", "", ""
		if l.Start > 0 {
			start, end = "starts "+t.moment(l.Start), "over "+t.moment(l.End)
		}
		switch {
		case l.Nodes == t.Sizes.Taken && l.May:
			note = "planned"
		case !l.Gains:
			note = "never: as many nodes or fewer are faster"
		case !l.May:
			note = "not now"
		}
		sizes, starts, ends, notes = append(sizes, view.NodesWord(l.Nodes)), append(starts, start), append(ends, end), append(notes, note)
	}
	return columns(sizes, starts, ends, notes)
}
