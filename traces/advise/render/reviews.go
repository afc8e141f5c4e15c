package render

import (
	"fmt"
	"io"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/traces/advise"
)

// Reviews returns text for a terminal that compares jobs with their #EP and #MOLD lines, for at most `top` lines. `jobs` is the number of all
// jobs. `quantile` is Options.Quantile of the reviews.
func Reviews(all []advise.Review, jobs, top int, quantile float64) string {
	var b strings.Builder
	for i := range all {
		if i == top {
			fmt.Fprintf(&b, "… and %s (--top)\n\n", count(len(all)-top, "more line"))
			break
		}
		b.WriteString(reviewText(&all[i], quantile))
	}
	if jobs == 0 {
		b.WriteString("No job that carried a line is over.\n")
	} else {
		fmt.Fprintf(&b, "%s with %s. A step lasts from when its nodes are there until the script says that it is over; the last one, until the sidecar sees the job's end.\n",
			count(jobs, "job"), count(len(all), "line"))
	}
	return b.String()
}

func reviewText(r *advise.Review, quantile float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.User, r.Line)
	if strings.HasPrefix(r.Line, "mold=") || strings.Contains(r.Line, "|") {
		fmt.Fprintf(&b, ", on %s", nodes(r.Declared[0].Nodes))
	}
	fmt.Fprintf(&b, ": %s", count(r.Runs, "run"))
	if r.Others > 0 {
		fmt.Fprintf(&b, ", and %d that did not come to their own end, or did not say when a step was over", r.Others)
	}
	b.WriteByte('\n')
	for i, s := range r.Steps {
		declared := r.Declared[i]
		fmt.Fprintf(&b, "  step %d, %s: told %s, took %s, and up to %s in %.0f %%", i+1, nodes(declared.Nodes), core.FormatDuration(declared.Duration), core.FormatDuration(s.Median), core.FormatDuration(s.Quantile), 100*quantile)
		if s.Late > 0 {
			fmt.Fprintf(&b, "; late in %d, by up to %s", s.Late, core.FormatDuration(s.Delay))
		}
		b.WriteByte('\n')
	}
	switch {
	case r.Better != nil:
		fmt.Fprintf(&b, "  better: %s", lineOf(r))
		if r.Checked > 0 {
			fmt.Fprintf(&b, "   on time in %d of the last %d, as it is in %d", r.OnTime, r.Checked, r.Before)
		}
		b.WriteByte('\n')
	case r.Checked > 0:
		b.WriteString("  the line is as good as one made of these runs\n")
	}
	b.WriteByte('\n')
	return b.String()
}

// lineOf returns the better line. For a line that lists sizes it returns the better time for one size.
func lineOf(r *advise.Review) string {
	if len(r.Better) == 1 {
		return fmt.Sprintf("%s on %s", core.FormatDuration(r.Better[0].Duration), nodes(r.Better[0].Nodes))
	}
	return "#EP " + ep.Format(r.Better)
}

// reviewJSON is the JSON of a review.
type reviewJSON struct {
	User    string     `json:"user"`
	Line    string     `json:"line"`
	Told    core.EP    `json:"told"`
	Runs    int        `json:"runs"`
	Others  int        `json:"others"`
	Steps   []stepJSON `json:"steps"`
	Better  core.EP    `json:"better,omitempty"`
	Checked int        `json:"checked"`
	Before  int        `json:"on_time_before"`
	OnTime  int        `json:"on_time"`
	Latest  string     `json:"latest,omitempty"`
}

type stepJSON struct {
	Told     core.Time `json:"told"`
	Median   core.Time `json:"median"`
	Quantile core.Time `json:"quantile"`
	Late     int       `json:"late"`
	By       core.Time `json:"late_by"`
}

// ReviewsJSON writes reviews.
func ReviewsJSON(w io.Writer, all []advise.Review) error {
	out := struct {
		Managed []reviewJSON `json:"managed"`
	}{[]reviewJSON{}}
	for _, r := range all {
		one := reviewJSON{User: r.User, Line: r.Line, Told: r.Declared, Runs: r.Runs, Others: r.Others, Steps: []stepJSON{}, Better: r.Better, Checked: r.Checked, Before: r.Before, OnTime: r.OnTime, Latest: r.Latest}
		for i, s := range r.Steps {
			one.Steps = append(one.Steps, stepJSON{r.Declared[i].Duration, s.Median, s.Quantile, s.Late, s.Delay})
		}
		out.Managed = append(out.Managed, one)
	}
	return encode(w, out)
}
