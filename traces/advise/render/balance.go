package render

import (
	"cmp"
	"slices"

	"accordion/charts"
	"accordion/traces/advise"
)

// share is a part of the node-seconds that the site's jobs held.
type share struct {
	Key, Name   string
	Hours       string // node-hours
	Percent     string
	From, Wide  float64 // position in a bar that is 100 wide
	Explanation string
}

// balance divides the node-seconds that all jobs held into four parts: saved by the lines, wasted without a line, unknown, and the rest.
func balance(r *advise.Report) []share {
	var saved, alone int64
	for _, a := range r.Advice {
		if a.Kind == advise.LeftAlone {
			alone += a.Saved
		} else {
			saved += a.Saved
		}
	}
	rest := r.Held - saved - alone - r.Unknown
	if r.Held <= 0 {
		return nil
	}
	var all []share
	from := 0.0
	for _, s := range []struct {
		key, name, about string
		area             int64
	}{
		{"saved", "would be free", "the lines on this page, of the jobs that fit them", saved},
		{"alone", "wasted, and left alone", "their runs differ too much for a line", alone},
		{"unknown", "not known", "jobs without steps in what was read, those that did not complete, or were run too seldom", r.Unknown},
		{"rest", "used, or not worth a line", "what the lines leave the jobs, and what is below a twentieth", rest},
	} {
		part := float64(s.area) / float64(r.Held)
		all = append(all, share{s.key, s.name, hours(float64(s.area) / 3600), percent(s.area, r.Held), charts.Round(from), charts.Round(100 * max(part, 0)), s.about})
		from += 100 * max(part, 0)
	}
	return all
}

// person is what one user would gain.
type person struct {
	Name           string
	Lines          int
	Monthly, Share string
	saved, held    int64
}

// people returns the users with lines, those who gain most first.
func people(r *advise.Report) []person {
	places := map[string]int{}
	var all []person
	for _, a := range r.Advice {
		if a.Kind == advise.LeftAlone {
			continue
		}
		at, known := places[a.User]
		if !known {
			at = len(all)
			places[a.User] = at
			all = append(all, person{Name: shortOnPage(a.User)})
		}
		all[at].Lines++
		all[at].saved += a.Saved
		all[at].held += a.Held
	}
	slices.SortStableFunc(all, func(a, b person) int { return cmp.Compare(b.saved, a.saved) })
	for i := range all {
		all[i].Monthly, all[i].Share = hours(r.Monthly(all[i].saved)), percent(all[i].saved, all[i].held)
	}
	return all
}

// shortOnPage cuts a name for the page.
func shortOnPage(name string) string {
	const most = 80
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
