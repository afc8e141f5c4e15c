package status

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

// listed is the largest number of jobs in each list of an explanation, and the largest number of events.
const listed = 12

// Write writes the explanation in sentences for the job's user. Times are in the given zone. A time on another day than now has a date.
func (x Explanation) Write(w io.Writer, now time.Time, zone *time.Location) error {
	_, err := io.WriteString(w, x.explain(now, zone).text.String())
	return err
}

// Section is a part of an explanation with a title. Its lines may have columns that are aligned by spaces.
type Section struct {
	Title string
	Lines []string
}

// Sections returns the text that Write writes, in sections. The first section has no title. It contains the headline, what the job is,
// and the job's state.
func (x Explanation) Sections(now time.Time, zone *time.Location) []Section {
	t := x.explain(now, zone)
	return append([]Section{{Lines: t.opening}}, t.sections...)
}

func (x Explanation) explain(now time.Time, zone *time.Location) *explainer {
	t := &explainer{Explanation: x, sheet: sheet{page: page{now: now.In(zone), zone: zone}}}
	t.line("%s", t.headline(x.Sidecar, x.Read, x.Cluster, fmt.Sprintf("job %d", x.ID)))
	t.line("")
	t.introduce()
	if x.Application != nil {
		t.line("")
		x.Application.tell(&t.sheet)
		t.partOf()
	} else {
		t.alone()
	}
	return t
}

// alone writes the sections of a job that is not a part of an application.
func (t *explainer) alone() {
	if e := t.Job; e != nil {
		title := "Why it waits"
		if e.Holds() {
			title = "What it waits for"
		}
		t.section(title, t.reasons())
		t.section(fmt.Sprintf("Why on %s", view.NodesWord(e.Size)), t.size())
		t.section(t.planTitle(), t.plan())
		if e.Rank > 0 {
			t.section("Who has nodes now", t.holders())
			t.section("Who is before it", t.before())
		}
	}
	t.section("What happened to it", t.changes())
}

// explainer writes one explanation.
type explainer struct {
	Explanation
	sheet
}

// sheet collects the text and the sections of an explanation.
type sheet struct {
	page
	text     strings.Builder
	opening  []string // lines before the first section
	sections []Section
}

func (s *sheet) line(format string, args ...any) {
	text := short(fmt.Sprintf(format, args...), widestLine)
	s.text.WriteString(text + "\n")
	if text != "" && len(s.sections) == 0 {
		s.opening = append(s.opening, text)
	}
}

// section adds a section, unless it would have no lines.
func (s *sheet) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	for i := range lines {
		lines[i] = short(lines[i], widestLine)
	}
	s.sections = append(s.sections, Section{title, lines})
	s.line("\n%s", title)
	for _, l := range lines {
		s.line("  %s", l)
	}
}

// introduce writes what the job is, and which state it is in.
func (t *explainer) introduce() {
	e := t.Job
	switch {
	case e == nil && len(t.Changes) == 0:
		t.line("Job %d is a part of application %d; the sidecar has not seen it yet, or not any more.", t.ID, t.Application.ID)
		return
	case e == nil:
		last := t.Changes[len(t.Changes)-1]
		t.line("Job %d is not in the queue any more. The last that is known of it, at %s (%s): %s", t.ID, t.moment(last.At), t.since(last.At), t.change(last))
		return
	}
	name := ""
	if e.Name != "" {
		name = fmt.Sprintf(" %q", clean(e.Name))
	}
	t.line("Job %d%s of %s is %s.", e.ID, name, clean(e.User), t.kind(e))
	t.line("It was submitted at %s, %s. %s", t.moment(e.Submitted), t.since(e.Submitted), t.standing(e))
	if e.Rank > 0 && len(e.Parts) > 0 {
		t.line("The site ranks it by %d points: %s.", e.Priority, points(e.Parts))
	}
}

// points formats the parts of a priority: "10000 for its fair share, 375 for …".
func points(parts []adapter.RankPart) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = fmt.Sprintf("%d for %s", p.Points, clean(p.Name))
	}
	return strings.Join(all, ", ")
}

// kind describes what the job requested.
func (t *explainer) kind(e *view.Entry) string {
	if e.Kind == view.Delegated {
		return t.whose()
	}
	if e.Request == "" && e.Choices == "" {
		return fmt.Sprintf("an ordinary job of %s", view.NodesWord(e.Size))
	}
	choices, err := adapter.ParseRequest(requestOf(e))
	if err != nil || len(choices) > 4 {
		return e.Kind + ": " + clean(requestOf(e))
	}
	all := make([]string, len(choices))
	for i, ep := range choices {
		all[i] = inWords(ep)
	}
	return e.Kind + ": " + strings.Join(all, "; or ")
}

// whose names the application of which a job is a part.
func (t *explainer) whose() string {
	if t.Application == nil {
		return "delegated: a part of an application that does not know it"
	}
	return fmt.Sprintf("delegated: a part of application %d", t.Application.ID)
}

// inWords formats a profile: "5 nodes for 8m20s, then 10 for 1h".
func inWords(ep core.EP) string {
	all := make([]string, len(ep))
	for i, s := range ep {
		all[i] = fmt.Sprintf("%d for %s", s.Nodes, core.FormatDuration(s.Duration))
		if i == 0 {
			all[i] = fmt.Sprintf("%s for %s", view.NodesWord(s.Nodes), core.FormatDuration(s.Duration))
		}
	}
	if len(all) > 8 {
		all = append(all[:7], fmt.Sprintf("and so on, %d steps in all", len(ep)))
	}
	return strings.Join(all, ", then ")
}

// standing describes the state of the job now.
func (t *explainer) standing(e *view.Entry) string {
	on := fmt.Sprintf("on %s (%s)", view.NodesWord(e.Size), clean(e.Nodes))
	since := "It has run since " + t.moment(e.Start)
	if e.Step > 0 && len(e.Plan) > 1 {
		on += fmt.Sprintf(", in step %d of %d", e.Step, len(e.Plan))
	}
	switch e.Phase {
	case "waiting", "held", "blocked":
		if e.Rank > 0 {
			return fmt.Sprintf("It waits, %s in the queue.", nth(e.Rank))
		}
		return "It waits, and is not in the queue yet."
	case "starting":
		return "It is being started " + on + "."
	case "late":
		return since + ", " + on + ", and is late."
	case "growing", "shrinking":
		return since + ", " + on + ", and is " + e.Phase + " now."
	case "ending":
		return "It is ending."
	}
	return since + ", " + on + "."
}

// nth returns "first", "second", "3rd", "11th" or "22nd" for 1, 2, 3, 11 or 22.
func nth(n int) string {
	switch {
	case n == 1:
		return "first"
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// in describes how long it is from now until the second `at`, or how long ago that was.
func (t *explainer) in(at core.Time) string {
	if d := at - t.now.Unix(); d > 0 {
		return "in " + span(d)
	}
	return t.since(at)
}

func (t *explainer) planTitle() string {
	switch e := t.Job; {
	case e.Rank > 0 && e.Request == "":
		return "When it would start"
	case e.Rank > 0:
		return "The plan"
	case e.Request == "":
		return "Until when"
	}
	return "What it was promised"
}

// mostChanges is the largest number of changes of a job's size that an explanation lists.
const mostChanges = 40

// plan returns lines about when the job starts, changes its size and ends, and about how reliable these
// times are.
func (t *explainer) plan() []string {
	e := t.Job
	if e.Start == 0 {
		return nil
	}
	var moments, distances, whats []string
	tell := func(at core.Time, what string) {
		moments, distances, whats = append(moments, t.moment(at)), append(distances, t.in(at)), append(whats, what)
	}
	if e.Rank > 0 {
		tell(e.Start, "starts on "+view.NodesWord(e.Size))
	}
	second, told := e.Start, 0
	for i, s := range e.Plan {
		if second += s.Duration; i+1 == len(e.Plan) || i+1 < e.Step {
			continue
		}
		if told++; told <= mostChanges {
			tell(second, resized(s.Nodes, e.Plan[i+1].Nodes))
		}
	}
	if left := told - mostChanges; left > 0 {
		tell(second-e.Plan[len(e.Plan)-1].Duration, fmt.Sprintf("has changed its size %d times more", left))
	}
	switch {
	case e.End == 0:
	case e.Request == "":
		tell(e.End, "is over at the latest (its time limit)")
	default:
		tell(e.End, "is over")
	}
	lines := append(columns(moments, distances, whats), growthLines(e)...)
	if e.End == 0 {
		lines = append(lines, "It has no time limit.")
	}
	switch {
	case e.Rank == 0 && e.Request == "":
		return lines
	case e.Rank == 0:
		return append(lines, "The nodes are kept for it at these seconds. Lost nodes and late applications alone can put them off, and it is told why.",
			"If it needs longer itself, it is late: it goes on while no promise to another is in the way, and is warned before it is ended.")
	}
	if e.Request == "" {
		return append(lines, "This is an estimate: the batch system starts ordinary jobs itself, and sooner where it finds room.",
			"Managed jobs that are submitted later do not delay it.")
	}
	return append(lines, "It becomes a promise when the job starts. Until then it gets better when others end before their time, and worse",
		"only when nodes are lost or drained, or when a job that runs or is before it needs longer than planned. What is",
		"submitted later, and is not before it in the queue, does not delay it.")
}

// growthLines returns lines about how a managed job grows, and about what limits its growth.
func growthLines(e *view.Entry) []string {
	var lines []string
	if e.Grows != "" {
		lines = append(lines, fmt.Sprintf("It grows by %s.", clean(e.Grows)))
	}
	if e.Limit != nil {
		lines = append(lines, fmt.Sprintf("It may have %s now, and a step that needs more waits: %s.", view.NodesWord(e.Limit.Nodes), clean(e.Limit.Why)))
	}
	if e.Unreserved {
		lines = append(lines, fmt.Sprintf("No nodes are reserved ahead for its later steps, and one may begin late: jobs of %s ended before steps for which nodes were", clean(e.User)),
			"reserved, beyond [limits] unused (accordion queue --usage). It ends by itself, or with: accordion limits reset "+clean(e.User))
	}
	return lines
}

// columns joins columns of texts into lines. Each column is as wide as its widest text.
func columns(all ...[]string) []string {
	lines := make([]string, len(all[0]))
	for _, column := range all {
		width := 0
		for _, text := range column {
			width = max(width, utf8.RuneCountInString(text))
		}
		for i, text := range column {
			lines[i] += fmt.Sprintf("%-*s  ", width, text)
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// changes returns the job's events, one line for each.
func (t *explainer) changes() []string {
	var lines []string
	if e := t.Job; e != nil && e.Rank > 0 && e.Start > 0 {
		if first, ok := t.firstPlan(); ok {
			switch later := e.Start - first; {
			case later >= 60:
				lines = append(lines, fmt.Sprintf("At first its start was planned for %s; now it is %s later.", t.moment(first), core.FormatDuration(later)))
			case later <= -60:
				lines = append(lines, fmt.Sprintf("At first its start was planned for %s; now it is %s earlier.", t.moment(first), core.FormatDuration(-later)))
			}
		}
	}
	changes := t.Changes
	if more := len(changes) - listed; more > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier ones: accordion journal --job %d)", more, t.ID))
		changes = changes[more:]
	}
	moved := false
	for _, c := range changes {
		moved = moved || c.Kind == "replanned"
		lines = append(lines, fmt.Sprintf("%s  %s", t.moment(c.At), t.change(c)))
	}
	if moved {
		lines = append(lines, "(Small moves of its start are not told one by one, but with the next large one.)")
	}
	if t.Failed > 0 {
		what := "1 action of the sidecar for it failed"
		if t.Failed > 1 {
			what = fmt.Sprintf("%d actions of the sidecar for it failed, the last one", t.Failed)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", what, clean(t.LastFailure)), fmt.Sprintf("(all of them: accordion journal --job %d)", t.ID))
	}
	if len(lines) == 0 && t.Job != nil && t.Job.Request == "" && t.Job.Kind != view.Delegated {
		return []string{"Accordion keeps no history of ordinary jobs."}
	}
	return lines
}

// change describes one event.
func (t *explainer) change(c Change) string {
	start, known := number(c.Fields["start"])
	switch {
	case c.Kind == "planned" && known:
		return "planned to start at " + t.moment(start)
	case c.Kind == "replanned" && known:
		_, why, _ := strings.Cut(c.Text, ": ")
		before, _ := number(c.Fields["before"])
		if start > before {
			return fmt.Sprintf("start put off by %s to %s: %s", core.FormatDuration(start-before), t.moment(start), clean(why))
		}
		return fmt.Sprintf("start brought forward by %s to %s: %s", core.FormatDuration(before-start), t.moment(start), clean(why))
	}
	return eventText(c)
}

// firstPlan returns the first planned start of the job.
func (t *explainer) firstPlan() (core.Time, bool) {
	for _, c := range t.Changes {
		if c.Kind == "planned" {
			return number(c.Fields["start"])
		}
	}
	return 0, false
}

// number returns the whole number in an event's field. It returns false if the field is no whole number.
func number(field any) (core.Time, bool) {
	n, ok := field.(json.Number)
	if !ok {
		return 0, false
	}
	value, err := n.Int64()
	return value, err == nil
}
