package status

import (
	"fmt"
	"strings"

	"accordion/adapter/view"
	"accordion/adapter/wait"
)

// size tells why a job has its size, in sentences.
func (t *teller) size() []string {
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

// waiting is so many jobs that wait.
func waiting(n int) string {
	if n == 1 {
		return "the one that waits wants"
	}
	return fmt.Sprintf("the %d that wait want", n)
}

// between is the sizes that it may have.
func between(x *wait.Sizes) string {
	if x.Least == x.Most {
		return view.NodesWord(x.Most)
	}
	return fmt.Sprintf("%d to %s", x.Least, view.NodesWord(x.Most))
}

// load tells what the rule load tried.
func (t *teller) load() []string {
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

// listed tells of every size when it would start.
func (t *teller) listed() []string {
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
