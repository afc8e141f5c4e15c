package advise

import (
	"cmp"
	"slices"
	"strings"
)

// Group identifies runs of the same job.
type Group struct {
	User, Account, Partition string
	Name                     string // name of the job, with # for each number
	Requested                int    // requested nodes; 0 in a Sizing
}

func (g Group) compare(other Group) int {
	return cmp.Or(cmp.Compare(g.User, other.User), cmp.Compare(g.Account, other.Account), cmp.Compare(g.Partition, other.Partition),
		cmp.Compare(g.Name, other.Name), cmp.Compare(g.Requested, other.Requested))
}

// group returns the group of a run.
func (r *Run) group() Group {
	name := r.Name
	if !r.Exact {
		name = WithoutNumbers(name)
	}
	return Group{r.User, r.Account, r.Partition, name, r.Requested}
}

// WithoutNumbers returns a name with # for each number: mesh_017 becomes mesh_#.
func WithoutNumbers(name string) string {
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

// useKnown reports whether the use of nodes is known for the whole run.
func (r *Run) useKnown() bool { return r.Completed && len(r.Steps) > 0 && r.End > r.Start }

// gathered is a group with its runs, the oldest first.
type gathered struct {
	Group
	runs []*Run
}

// gather returns the groups of the runs with known use, and counts the other runs in `left`.
func gather(runs []Run, left *NoAdvice) []gathered {
	places := map[Group]int{}
	var all []gathered
	for i := range runs {
		r := &runs[i]
		switch {
		case !r.Completed:
			left.NotCompleted++
			continue
		case !r.useKnown():
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
		slices.SortFunc(g.runs, compareStarts)
	}
	slices.SortFunc(all, func(a, b gathered) int { return a.compare(b.Group) })
	return all
}

// compareStarts orders runs by their starts.
func compareStarts(a, b *Run) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
}
