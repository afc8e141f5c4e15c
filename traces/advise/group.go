package advise

import (
	"cmp"
	"slices"
	"strings"
)

// Group is what runs of one job have in common.
type Group struct {
	User, Account, Partition string
	Name                     string // of the job, each number in it a #
	Requested                int    // nodes
}

func (g Group) compare(other Group) int {
	return cmp.Or(cmp.Compare(g.User, other.User), cmp.Compare(g.Account, other.Account), cmp.Compare(g.Partition, other.Partition),
		cmp.Compare(g.Name, other.Name), cmp.Compare(g.Requested, other.Requested))
}

// group is the one to which a run belongs.
func (r *Run) group() Group {
	name := r.Name
	if !r.Exact {
		name = Nameless(name)
	}
	return Group{r.User, r.Account, r.Partition, name, r.Requested}
}

// Nameless is a job's name with a # for each number in it: mesh_017 is mesh_#.
func Nameless(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return name
	}
	var b strings.Builder
	number := false
	for _, c := range name {
		digit := '0' <= c && c <= '9'
		if !digit {
			b.WriteRune(c)
		} else if !number {
			b.WriteByte('#')
		}
		number = digit
	}
	return b.String()
}

// tells says whether it is known what a run used, from its start to its own end.
func (r *Run) tells() bool { return r.Completed && len(r.Steps) > 0 && r.End > r.Start }

// gathered are the runs of one group, the oldest first.
type gathered struct {
	Group
	runs []*Run
}

// gather finds the groups among the runs of which something can be said, and counts the others.
func gather(runs []Run, left *Left) []gathered {
	places := map[Group]int{}
	var all []gathered
	for i := range runs {
		r := &runs[i]
		switch {
		case !r.Completed:
			left.NotCompleted++
			continue
		case !r.tells():
			left.NoSteps++
			continue
		}
		key := r.group()
		at, known := places[key]
		if !known {
			at = len(all)
			places[key] = at
			all = append(all, gathered{Group: key})
		}
		all[at].runs = append(all[at].runs, r)
	}
	for _, g := range all {
		slices.SortFunc(g.runs, older)
	}
	slices.SortFunc(all, func(a, b gathered) int { return a.compare(b.Group) })
	return all
}

// older orders runs by their beginnings.
func older(a, b *Run) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
}
