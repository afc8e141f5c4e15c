package status

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"accordion/adapter/journal"
	"accordion/adapter/view"
)

// ApplicationsReport is what `accordion status --json` prints about applications, after the objects about clusters. It has what the loop of
// applications last wrote, and whether a sidecar still runs that loop.
type ApplicationsReport struct {
	Sidecar Sidecar `json:"sidecar"`
	view.Applications
}

// NewApplicationsReport returns a report with the contents of s. s is nil if the loop of applications has written nothing yet.
func NewApplicationsReport(s *view.Applications, sidecar Sidecar) ApplicationsReport {
	r := ApplicationsReport{Sidecar: sidecar}
	if s != nil {
		r.Applications = *s
	}
	if r.Clusters == nil {
		r.Clusters = []view.ApplicationCluster{} // JSON [] instead of null
	}
	if r.Applications.Applications == nil {
		r.Applications.Applications = []view.Application{}
	}
	return r
}

// ReadApplications reads the report from the journal of applications. If the journal has no view, At is 0 and there are no applications.
func ReadApplications(j journal.Reader) (ApplicationsReport, error) {
	var snapshot *view.Applications
	data, err := j.View()
	if err == nil && data != nil {
		if err = json.Unmarshal(data, &snapshot); err != nil {
			err = fmt.Errorf("read applications in the journal %s: %w; was it written by another version?", j.Path(), err)
		}
	}
	if err != nil {
		return ApplicationsReport{}, err
	}
	pid, running, err := j.Writer()
	return NewApplicationsReport(snapshot, Sidecar{PID: pid, Running: running}), err
}

// On returns a copy of the report with only the applications that have or request a part on the given cluster.
func (r ApplicationsReport) On(cluster string) ApplicationsReport {
	r.Applications.Applications = slices.DeleteFunc(slices.Clone(r.Applications.Applications), func(a view.Application) bool {
		return !slices.ContainsFunc(a.Parts, func(p view.ApplicationPart) bool { return p.Cluster == cluster })
	})
	return r
}

// Table writes the report as text: a line about the loop of applications, one line for each cluster on
// which nothing can start, and one line for each application.
func (r ApplicationsReport) Table(w io.Writer, now time.Time, zone *time.Location) error {
	p := page{now: now.In(zone), zone: zone}
	var b strings.Builder
	b.WriteString(p.launchersHeadline(r.Sidecar, r.At, counted(len(r.Applications.Applications), "application")) + "\n")
	for _, c := range r.Clusters {
		if text := unread(c); text != "" {
			b.WriteString(text + "\n")
		}
	}
	if len(r.Applications.Applications) > 0 {
		t := plain("APPLICATION", "USER", "NAME", "STATE", "PARTS", "START", "LAUNCHER", "WHY")
		for i := range r.Applications.Applications {
			a := &r.Applications.Applications[i]
			t.AppendRow([]any{a.ID, clean(a.User), dash(clean(a.Name)), stateAndPhase(a), partsWord(a.Parts), p.begins(a), p.launcher(a), dash(clean(a.Why))})
		}
		b.WriteString(t.Render() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// launchersHeadline returns the line with `what` the report shows, the time of the report, and whether
// the loop of applications runs. The loop writes only when something changes, so an old time does not
// mean that the loop has stopped.
func (p page) launchersHeadline(s Sidecar, at int64, what string) string {
	switch {
	case s.Running && at == 0:
		return "Launchers: no application yet"
	case s.Running:
		return fmt.Sprintf("Launchers: %s, last changed at %s%s", what, p.moment(at), p.ago(at))
	case at == 0:
		return "Launchers: none was served yet"
	}
	return fmt.Sprintf("Launchers: THE SIDECAR IS NOT RUNNING, and wrote last at %s (%s); then: %s", p.moment(at), p.since(at), what)
}

// unread returns a warning if nothing starts on a cluster because its sidecar cannot read the batch
// system. Otherwise it returns "".
func unread(c view.ApplicationCluster) string {
	switch {
	case c.Never:
		return fmt.Sprintf("Cluster %s was not read yet: launchers do not see it.", clean(c.Name))
	case c.Lost:
		return fmt.Sprintf("CLUSTER %s IS NOT READ, for a minute or longer: to launchers it is all busy, and nothing starts there.", clean(c.Name))
	}
	return ""
}

// stateAndPhase returns the state of an application as launchers see it. It adds the phase if the phase
// is more precise than the state.
func stateAndPhase(a *view.Application) string {
	if a.Phase == "preparing" || a.Phase == "starting" {
		return fmt.Sprintf("%s (%s)", clean(a.State), a.Phase)
	}
	return clean(a.State)
}

// partsWord formats an application's parts: "a:4711 64 waiting, b:12 -".
func partsWord(parts []view.ApplicationPart) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = clean(p.Cluster)
		if p.Job != 0 {
			all[i] += fmt.Sprintf(":%d", p.Job)
		}
		if p.Hosts > 0 {
			all[i] += fmt.Sprintf(" %d", p.Hosts)
		}
		if p.Stand != "" {
			all[i] += " " + clean(p.Stand)
		} else if p.Hosts == 0 {
			all[i] += " -"
		}
	}
	return dash(strings.Join(all, ", "))
}

// begins returns the time when an application started, or else the estimated start with a leading ~.
func (p page) begins(a *view.Application) string {
	switch {
	case a.At != 0:
		return p.moment(a.At)
	case a.Estimate != 0:
		return "~" + p.moment(a.Estimate)
	}
	return "-"
}

// launcher returns whether an application's launcher is connected, and since when its answer is overdue.
func (p page) launcher(a *view.Application) string {
	text := "there"
	if !a.Launcher {
		text = "away since " + p.moment(a.Away)
	}
	if a.Owes != 0 {
		text += ", owes since " + p.moment(a.Owes)
	}
	return text
}
