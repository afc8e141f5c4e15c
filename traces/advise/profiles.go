package advise

import (
	"slices"

	"accordion/core"
)

// Profile is what one run used, beside the line of its group.
type Profile struct {
	ID   string
	EP   core.EP
	Kept bool // it would have kept to the line in each of its steps, in nodes and in time
}

// drawn is how many steps a profile has at most before its short ones are joined.
const drawn = 200

// Profiles are those of the runs that each advice is about, beside them, the oldest first: of the latest ones, so many at most of each.
func Profiles(runs []Run, of []Advice, o Options, most int) [][]Profile {
	o = o.filled(runs)
	places := map[Group]int{}
	for i := range of {
		places[of[i].Group] = i
	}
	by := make([][]*Run, len(of))
	for i := range runs {
		r := &runs[i]
		if !r.tells() {
			continue
		}
		if at, wanted := places[r.group()]; wanted {
			by[at] = append(by[at], r)
		}
	}
	var watch watcher
	all := make([][]Profile, len(of))
	for i, its := range by {
		slices.SortFunc(its, older)
		for _, r := range its[max(len(its)-most, 0):] {
			all[i] = append(all[i], o.profile(r, of[i].EP, &watch))
		}
	}
	return all
}

func (o Options) profile(r *Run, line core.EP, w *watcher) Profile {
	observed := w.observed(r)
	coarse := seen{run: r, ep: joined(observed, o.shortest(r.End-r.Start))}
	if len(observed) > drawn {
		observed = coarse.ep
	}
	return Profile{ID: r.ID, EP: profile(observed), Kept: len(line) > 0 && coarse.onTime(line)}
}
