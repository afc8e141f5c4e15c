package advise

import (
	"slices"

	"accordion/core"
)

// Profile has the nodes that one run used over time, for a drawing together with the line of its group.
type Profile struct {
	ID   string
	EP   core.EP
	Kept bool // the run would have kept to the line in each step, in nodes and in time
}

// maxProfileSteps is the maximum number of steps of a profile. In a profile with more steps, short steps are joined.
const maxProfileSteps = 200

// Profiles returns for each advice the profiles of its latest runs, at most `most`, the oldest first.
func Profiles(runs []Run, of []Advice, o Options, most int) [][]Profile {
	o = o.filled(runs)
	places := map[part]int{}
	groups := map[Group]bool{}
	for i := range of {
		places[part{of[i].Group, of[i].shape}] = i
		groups[of[i].Group] = true
	}
	by := map[Group][]*Run{}
	for i := range runs {
		r := &runs[i]
		if g := r.group(); groups[g] && r.useKnown() {
			by[g] = append(by[g], r)
		}
	}
	var watch watcher
	all := make([][]Profile, len(of))
	for g, its := range by {
		slices.SortFunc(its, compareStarts)
		for _, r := range its {
			coarse := sample{run: r, ep: joinShort(watch.observed(r), o.shortest(r.End-r.Start))}
			at, wanted := places[part{g, shape(coarse.ep)}]
			if !wanted {
				at, wanted = places[part{g, ""}]
			}
			if wanted {
				all[at] = append(all[at], coarse.profile(of[at].EP, &watch))
			}
		}
	}
	for i := range all {
		all[i] = all[i][max(len(all[i])-most, 0):]
	}
	return all
}

// part is a sequence of sizes of a group.
type part struct {
	Group
	shape string
}

func (s *sample) profile(line core.EP, w *watcher) Profile {
	observed := w.observed(s.run)
	if len(observed) > maxProfileSteps {
		observed = s.ep
	}
	return Profile{ID: s.run.ID, EP: profile(observed), Kept: len(line) > 0 && s.onTime(line)}
}
