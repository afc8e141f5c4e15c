package wait

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	occupation "accordion/core/profile"
	"accordion/core/sizing"
)

// Sizes is why a moldable job that waits is planned on so many nodes.
type Sizes struct {
	view.Sizing
	view.Sized
	Head   core.JobID `json:"head,omitempty"` // the head of the queue, whose part of its reference this job gets; 0: it has a part of its own
	Taken  int        `json:"taken"`          // nodes
	Keeps  string     `json:"keeps"`          // what keeps it from more, in words
	Listed []Listed   `json:"listed"`         // with more and more nodes
}

// Listed is a size that a job listed, and where it would be planned on that, behind those before it.
type Listed struct {
	Nodes   int       `json:"nodes"`
	Seconds core.Time `json:"seconds"`
	Start   core.Time `json:"start"` // Unix seconds; 0: there is no place
	End     core.Time `json:"end"`
	Gains   bool      `json:"gains"` // it does not last longer than one with fewer nodes: otherwise it is never chosen
	May     bool      `json:"may"`   // it may have that size now
}

// Sizes is why a job that waits has its size; nil where nothing but its end decides.
func (v Vantage) Sizes(e *view.Entry) *Sizes {
	choices, err := adapter.ParseRequest(ListOf(e))
	if err != nil || e.Sized == nil || e.Machine >= len(v.Queue.Sizing) {
		return nil
	}
	x := &Sizes{Sizing: v.Queue.Sizing[e.Machine], Sized: *e.Sized, Head: e.Head, Taken: e.Size, Listed: []Listed{}}
	room := v.room()
	gaining := sizing.New(core.Job{Choices: choices}, sizing.HalfReference)
	for _, ep := range choices {
		one := Listed{Nodes: ep[0].Nodes, Seconds: ep[0].Duration}
		one.Gains = gaining != nil && slices.Contains(gaining.Steps, ep[0])
		one.May = one.Gains && one.Nodes >= x.Least && one.Nodes <= x.Most
		if start, ok := room.FirstFit(one.Nodes, one.Seconds, v.Now); ok && start < core.Forever {
			one.Start, one.End = start, start+one.Seconds
		}
		if one.Nodes == x.Taken && (e.Request == "" || one.Seconds == e.End-e.Start) {
			one.Start, one.End = e.Start, e.End // the plan knows more than the queue shows
		}
		x.Listed = append(x.Listed, one)
	}
	slices.SortStableFunc(x.Listed, func(a, b Listed) int { return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Seconds, b.Seconds)) })
	x.Keeps = x.keeps()
	return x
}

// ListOf is the request of a managed moldable job, or what the batch system knows of one of its own in the same form.
func ListOf(e *view.Entry) string {
	if e.Choices != "" {
		return "mold=" + e.Choices
	}
	return e.Request
}

// room is the machine as the others occupy it.
func (v Vantage) room() *occupation.Profile {
	room := occupation.New(v.Queue.Nodes - v.Queue.Away)
	occupy := func(from, to core.Time, nodes int) {
		if to > v.Now && to > from && nodes > 0 {
			from = max(from, v.Now)
			room.Add(from, core.EP{{Duration: to - from, Nodes: nodes}})
		}
	}
	for _, c := range v.Queue.Closures {
		for _, s := range c.Spans() {
			occupy(s.Start-v.Approach, s.End, c.Nodes)
		}
	}
	for i := range v.Others {
		o := &v.Others[i]
		if o.Start == 0 {
			continue
		}
		if len(o.Plan) == 0 {
			occupy(o.Start, Never(o.Free), o.Size)
			continue
		}
		second := o.Start
		for _, s := range o.Plan {
			occupy(second, second+s.Duration, s.Nodes)
			second += s.Duration
		}
	}
	return room
}

// keeps is what keeps the job from a larger size than the one that it is planned on.
func (x *Sizes) keeps() string {
	larger := func(l Listed) bool { return l.Gains && l.Nodes > x.Taken }
	switch within := func(l Listed) bool { return larger(l) && l.Nodes <= x.Limit }; {
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
