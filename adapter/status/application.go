package status

import (
	"fmt"
	"io"
	"strings"
	"time"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// ApplicationExplanation is what `accordion explain --json` prints about a launcher's application: its state, and why it waits. Times are
// Unix seconds.
type ApplicationExplanation struct {
	Sidecar Sidecar   `json:"sidecar"`
	At      core.Time `json:"at"` // when the loop of applications wrote the report
	ID      int64     `json:"id"`
	// Seen is the application in the newest report of the loop of applications; null if the
	// application has ended.
	Seen *view.Application `json:"seen"`
	// Clusters are the clusters that applications may use.
	Clusters []view.ApplicationCluster `json:"clusters"`
	// Changes are the events of the application.
	Changes []Change `json:"changes"`
}

// UnknownApplication is the error that no application ever had this number.
type UnknownApplication int64

func (u UnknownApplication) Error() string {
	return fmt.Sprintf("application %d: no launcher has begun one of that number here; accordion status lists those that there are", int64(u))
}

// ExplainApplication collects what is known about an application from the report r and from the events in the applications' journal j. It
// returns an UnknownApplication error if neither contains the application.
func ExplainApplication(r ApplicationsReport, j journal.Reader, id int64) (*ApplicationExplanation, error) {
	x := &ApplicationExplanation{Sidecar: r.Sidecar, At: r.At, ID: id, Clusters: r.Clusters, Changes: []Change{}}
	for i := range r.Applications.Applications {
		if r.Applications.Applications[i].ID == id {
			x.Seen = &r.Applications.Applications[i]
		}
	}
	for e, err := range j.JobEntries(id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Kind == journal.KindEvent {
			x.Changes = append(x.Changes, Change{e.At.Unix(), e.Verb, e.Text, e.Args})
		}
	}
	if x.Seen == nil && len(x.Changes) == 0 {
		return nil, UnknownApplication(id)
	}
	return x, nil
}

// Write writes the explanation in sentences for the application's user. Times are in the given zone. A time on another day than now has a
// date.
func (x *ApplicationExplanation) Write(w io.Writer, now time.Time, zone *time.Location) error {
	s := &sheet{page: page{now: now.In(zone), zone: zone}}
	s.line("%s", s.launchersHeadline(x.Sidecar, x.At, fmt.Sprintf("application %d", x.ID)))
	s.line("")
	x.tell(s)
	_, err := io.WriteString(w, s.text.String())
	return err
}

// tell writes everything that is known about the application.
func (x *ApplicationExplanation) tell(s *sheet) {
	a := x.Seen
	if a == nil {
		last := x.Changes[len(x.Changes)-1]
		s.line("Application %d is over. The last that is known of it, at %s (%s): %s", x.ID, s.moment(last.At), s.since(last.At), eventText(last))
	} else {
		s.line("%s", s.introduced(a))
		s.section("What was asked and shown", s.asked(a))
		s.section("Its parts", s.parts(a))
		s.section("Why it waits", s.waits(a, x.Clusters))
		s.section("Its start", s.started(a))
		s.section("Tries to start it", s.tries(a))
	}
	s.section("What happened to the application", x.changes(s))
}

// introduced returns a sentence with the application's number, name, user and state.
func (s *sheet) introduced(a *view.Application) string {
	name := ""
	if a.Name != "" {
		name = fmt.Sprintf(" %q", clean(a.Name))
	}
	text := fmt.Sprintf("Application %d%s of %s: %s.", a.ID, name, clean(a.User), stateAndPhase(a))
	if a.Rank == 0 {
		return text + " Its launcher has not subscribed yet, so it has no rank."
	}
	return text + fmt.Sprintf(" It subscribed at %s, %s, which is its rank.", s.moment(a.Rank), s.since(a.Rank))
}

// asked returns lines about the current request, about the views that were sent to the launcher, and
// about whether the launcher is connected.
func (s *sheet) asked(a *view.Application) []string {
	var lines []string
	var wants []string
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			wants = append(wants, fmt.Sprintf("%s on %s", view.NodesWord(p.Hosts), clean(p.Cluster)))
		}
	}
	if a.Tag < 0 || len(wants) == 0 {
		lines = append(lines, "It has asked for nothing yet.")
	} else {
		lines = append(lines, fmt.Sprintf("It asked last for %s, for %s (request %d).", strings.Join(wants, " and "), core.FormatDuration(a.Walltime), a.Tag))
	}
	if a.View == 0 {
		lines = append(lines, "Nothing was shown to its launcher yet.")
	} else {
		lines = append(lines, fmt.Sprintf("View %d was shown to its launcher last, and view %d is the last that it acknowledged.", a.View, a.Acked))
	}
	if a.Owes != 0 {
		lines = append(lines, fmt.Sprintf("The launcher owes an answer since %s (%s). Nobody waits for it: its last request stands.", s.moment(a.Owes), s.since(a.Owes)))
	}
	if a.Launcher {
		return append(lines, "The launcher is there.")
	}
	return append(lines, fmt.Sprintf("THE LAUNCHER IS AWAY since %s (%s). Its request and rank are kept for it for a while.", s.moment(a.Away), s.since(a.Away)))
}

func sentence(text string) string { return strings.TrimSuffix(clean(text), ".") + "." }

// parts returns one line for each cluster on which the application has a job or a requested part.
func (s *sheet) parts(a *view.Application) []string {
	if len(a.Parts) == 0 {
		return nil
	}
	var names, jobs, wants []string
	for _, p := range a.Parts {
		job, want := "no job", "not used by the request"
		if p.Job != 0 {
			job = fmt.Sprintf("job %d", p.Job)
		}
		if p.Hosts > 0 {
			want = view.NodesWord(p.Hosts)
		}
		if p.Stand != "" {
			want += ", " + clean(p.Stand)
		}
		if len(p.Nodes) > 0 {
			want += " on " + clean(hostlist.Compact(p.Nodes))
		}
		names, jobs, wants = append(names, clean(p.Cluster)), append(jobs, job), append(wants, want)
	}
	return columns(names, jobs, wants)
}

// waits returns lines about why the application waits and on which cluster, about its estimated start,
// and about what last changed the estimate.
func (s *sheet) waits(a *view.Application, clusters []view.ApplicationCluster) []string {
	if a.At != 0 {
		return nil
	}
	var lines []string
	if a.Why != "" {
		lines = append(lines, strings.ToUpper(a.Why[:1])+sentence(a.Why[1:]))
	}
	for _, c := range clusters {
		for _, p := range a.Parts {
			if text := unread(c); p.Cluster == c.Name && p.Hosts > 0 && text != "" {
				lines = append(lines, text)
			}
		}
	}
	switch {
	case a.Tag < 0:
	case a.Estimate == 0:
		lines = append(lines, "There is no estimate of its start: as it is now it would never start, or it was not planned yet.")
	case a.Estimate <= s.now.Unix():
		lines = append(lines, "There is room for it now.")
	default:
		lines = append(lines, fmt.Sprintf("Its start is estimated for %s (in %s).", s.moment(a.Estimate), span(a.Estimate-s.now.Unix())))
	}
	if a.Moved != "" {
		lines = append(lines, "What moved that last: "+sentence(a.Moved))
	}
	return lines
}

// started returns lines about when the application started and how long it may run.
func (s *sheet) started(a *view.Application) []string {
	if a.At == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("It was decided at %s, %s.", s.moment(a.At), s.since(a.At))}
	switch {
	case a.Went != 0:
		lines = append(lines, fmt.Sprintf("All parts were up, and let through, at %s.", s.moment(a.Went)))
	case a.Phase == "starting":
		lines = append(lines, "Its parts come up; none of its own lines runs before all are there.")
	}
	if a.By != 0 {
		lines = append(lines, fmt.Sprintf("It is over at %s at the latest.", s.moment(a.By)))
	}
	if a.Why != "" {
		lines = append(lines, sentence(a.Why))
	}
	return lines
}

// tries returns lines about how often the sidecar tried to start the application, and why the last try
// failed.
func (s *sheet) tries(a *view.Application) []string {
	if a.Tries == 0 || a.Tries == 1 && a.Failed == "" {
		return nil
	}
	lines := []string{fmt.Sprintf("Tries: %d.", a.Tries)}
	if a.Failed != "" {
		lines = append(lines, "The last failure: "+sentence(a.Failed))
	}
	return lines
}

// changes returns the application's events, one line for each.
func (x *ApplicationExplanation) changes(s *sheet) []string {
	var lines []string
	if more := len(x.Changes) - listed; more > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier ones: --json)", more))
	}
	for _, c := range x.Changes[max(0, len(x.Changes)-listed):] {
		lines = append(lines, fmt.Sprintf("%s  %s", s.moment(c.At), eventText(c)))
	}
	return lines
}

// eventText returns the kind and the text of an event.
func eventText(c Change) string {
	if c.Text == "" {
		return clean(c.Kind)
	}
	return clean(c.Kind + ": " + c.Text)
}

// partOf writes the sections of a job that is a part of an application. They have only what the sidecar
// of the part's cluster knows about the job.
func (t *explainer) partOf() {
	if e := t.Job; e != nil && e.Rank > 0 && e.Start > 0 {
		t.section(fmt.Sprintf("What job %d waits for on this cluster", t.ID), t.shortage())
		t.section("Who has nodes now", t.holders())
		t.section("Who is before it", t.before())
	}
	t.section(fmt.Sprintf("What happened to job %d", t.ID), t.changes())
}
