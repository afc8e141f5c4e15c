package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// run is a stretch of one row, in pixels.
type run struct{ from, to float64 }

// shape is what a job covers: for each row its runs, from left to right, none touching the next.
type shape [][]run

// cover collects the holds of a job, row by row.
func cover(j Job, rows map[string]int, x func(time.Time) float64) shape {
	s := make(shape, len(rows))
	holds := slices.Clone(j.Holds)
	slices.SortFunc(holds, func(a, b Hold) int { return a.From.Compare(b.From) })
	for _, h := range holds {
		r := rows[h.Node]
		next := run{x(h.From), x(h.To)}
		if last := len(s[r]) - 1; last >= 0 && next.from <= s[r][last].to {
			s[r][last].to = max(s[r][last].to, next.to)
			continue
		}
		s[r] = append(s[r], next)
	}
	return s
}

// fill is the shape as an SVG path of rectangles; rows are height pixels high, the first begins at top.
func (s shape) fill(top, height float64) string {
	var b strings.Builder
	for r, runs := range s {
		for _, u := range runs {
			fmt.Fprintf(&b, "M%s %sh%sv%sh%sz", px(u.from), px(top+float64(r)*height), px(u.to-u.from), px(height), px(u.from-u.to))
		}
	}
	return b.String()
}

// outline is the border of the shape as an SVG path: the ends of the runs, and between rows what only one of them
// covers. Rectangles that touch have no line between them; so an evolving job is seen as one staircase.
func (s shape) outline(top, height float64) string {
	var b strings.Builder
	for r := 0; r <= len(s); r++ {
		y := top + float64(r)*height
		var above, below []run
		if r > 0 {
			above = s[r-1]
		}
		if r < len(s) {
			below = s[r]
		}
		for _, u := range onlyOne(above, below) {
			fmt.Fprintf(&b, "M%s %sH%s", px(u.from), px(y), px(u.to))
		}
		for _, u := range below {
			fmt.Fprintf(&b, "M%s %sv%sM%s %sv%s", px(u.from), px(y), px(height), px(u.to), px(y), px(height))
		}
	}
	return b.String()
}

// onlyOne is what one of two rows covers and the other does not.
func onlyOne(a, b []run) []run {
	type edge struct {
		at   float64
		flip int // which of the two changes
	}
	var edges []edge
	for i, runs := range [][]run{a, b} {
		for _, u := range runs {
			edges = append(edges, edge{u.from, i}, edge{u.to, i})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var out []run
	inside := [2]bool{}
	for i, e := range edges {
		inside[e.flip] = !inside[e.flip]
		if i+1 == len(edges) || edges[i+1].at == e.at || inside[0] == inside[1] {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].to == e.at {
			out[last].to = edges[i+1].at
			continue
		}
		out = append(out, run{e.at, edges[i+1].at})
	}
	return out
}

// block is a rectangle of neighbouring rows in which a label may stand.
type block struct {
	run
	row, rows int
}

// widest finds, for one stretch of time, the largest block of neighbouring rows that the job covers all along it.
func (s shape) widest(u run) block {
	best, now := block{run: u}, block{run: u}
	for r, runs := range s {
		covered := slices.ContainsFunc(runs, func(v run) bool { return v.from <= u.from+0.01 && v.to >= u.to-0.01 })
		if !covered {
			now.rows = 0
			continue
		}
		if now.rows == 0 {
			now.row = r
		}
		now.rows++
		if now.rows > best.rows {
			best = now
		}
	}
	return best
}

// px writes a coordinate with at most two digits after the point.
func px(v float64) string {
	out := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	if out == "-0" {
		return "0"
	}
	return out
}

// ticks chooses some ten round instants between 0 and span, the distance between them included.
func ticks(span time.Duration) (at []time.Duration, every time.Duration) {
	day := 24 * time.Hour
	for _, every = range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day, 30 * day, 90 * day, 365 * day,
	} {
		if span/every <= 12 {
			break
		}
	}
	for span/every > 12 {
		every *= 2
	}
	for t := time.Duration(0); t <= span; t += every {
		at = append(at, t)
	}
	return at, every
}

// span writes a length of time as people say it: 45s, 3m20s, 2h5m, 3d4h.
func span(d time.Duration) string {
	if d < 0 {
		return "-" + span(-d)
	}
	if d < 10*time.Second && d%time.Second != 0 {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	parts := []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for i, p := range parts {
		if d < p.unit {
			continue
		}
		out := fmt.Sprintf("%d%s", d/p.unit, p.name)
		if i+1 < len(parts) {
			if rest := d % p.unit / parts[i+1].unit; rest > 0 {
				out += fmt.Sprintf("%d%s", rest, parts[i+1].name)
			}
		}
		return out
	}
	return "0s"
}
