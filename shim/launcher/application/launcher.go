package application

import (
	"fmt"
	"slices"
	"time"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// Place is where a part of the application may run.
type Place struct {
	Cluster string // its name; "" if the only cluster there is
	Batch   bool   // a batch job is submitted there; otherwise the sidecar makes the part
}

// Settings are the user's settings. With the zero value, the application's work is a command on this host, and any cluster may be used.
type Settings struct {
	Most   core.Time // the longest walltime to request, in seconds; 0 means any
	Places []Place
}

// phase is the progress of an application as its launcher knows it.
type phase int

const (
	greeting    phase = iota // no welcome has come yet
	looking                  // the list of clusters was requested
	submitting               // batch jobs are being submitted
	subscribing              // the sidecar was sent the numbers of the batch jobs
	waiting                  // the launcher receives views and sends requests
	started                  // the request was granted, and the parts come up
	running                  // all parts run
	leaving                  // the end was reported, and the answer is awaited
	over
)

// Launcher makes the decisions for one application. It does no input or output: Handle returns the actions that follow from an event.
type Launcher struct {
	settings   Settings
	phase      phase
	app        int64
	names      map[int]string // names of clusters, by number
	places     []*place
	view       launcher.View
	sight      selector.Sight
	unanswered bool             // the newest view is not answered yet
	tag        int64            // tag of the last request; −1 if there is none
	wants      *selector.Answer // the last request
	unsure     bool             // the sidecar may not have received the last request
	estimate   core.Time
	parts      []launcher.Names // the hosts that were granted
	works      bool             // the command on this host was started
	reporting  bool             // a Parts message was sent, and is not answered yet
	listings   int              // how often the list of clusters did not contain the clusters that are needed
	noCluster  bool             // there was no cluster at the subscription, and no view has come since
	code       int              // the exit status, in phase leaving
	said       string           // the last complaint, which is not repeated
}

// place is a Place with the batch job that waits or runs there.
type place struct {
	Place
	job         int64
	submitting  bool
	unconfirmed bool // the sidecar has not confirmed this job
}

// NewLauncher returns a Launcher for a new application.
func NewLauncher(s Settings) *Launcher {
	l := &Launcher{settings: s, tag: -1, names: map[int]string{}}
	for _, p := range s.Places {
		l.places = append(l.places, &place{Place: p})
	}
	return l
}

// Hello returns the first message of a new link for the same application.
func (l *Launcher) Hello(name string) launcher.Hello {
	return launcher.Hello{Name: name, App: l.app, Have: l.view.Number}
}

// Runs reports whether the application has started. A started application is not given up if no sidecar can be reached for a long time.
func (l *Launcher) Runs() bool { return l.phase == started || l.phase == running }

// Handle returns the acts that follow from an event, in their order.
func (l *Launcher) Handle(e Event) []Act {
	if l.phase == over {
		return nil
	}
	switch e := e.(type) {
	case Heard:
		return l.heard(e.Message)
	case Answered:
		return l.answered(e)
	case Submitted:
		return l.submitted(e)
	case Selected:
		return l.selected(e)
	case Worked:
		return l.leave(e.Code)
	case Interrupted:
		return l.interrupted()
	case Expired:
		switch l.phase {
		case leaving:
			return l.exit(l.code)
		case looking:
			return []Act{Send{&launcher.List{}}}
		case subscribing, waiting:
			if l.noCluster {
				return l.fail(fmt.Sprintf("the sidecar has no cluster for applications: there was none during %s", mostLooks*lookPeriod))
			}
		}
	case Lost:
		return append(l.stop(), append([]Act{Say{e.Err.Error()}}, l.exit(1)...)...)
	}
	return nil
}

// heard handles a message that is not an answer.
func (l *Launcher) heard(m launcher.Message) []Act {
	switch m := m.(type) {
	case *launcher.Welcome:
		return l.welcome(m)
	case *launcher.Clusters:
		return l.clusters(m)
	case *launcher.Done: // all parts have ended
		return l.over(m.Code)
	case *launcher.End:
		return append(l.stop(), append([]Act{Say{ends(m)}}, l.exit(max(l.code, 1))...)...)
	}
	if l.phase < subscribing || l.phase == leaving {
		return nil
	}
	switch m := m.(type) {
	case *launcher.Change:
		return l.change(m)
	case *launcher.Start:
		return l.start(m)
	case *launcher.Go:
		return l.letThrough(m)
	case *launcher.Abort:
		return l.abort(m)
	case *launcher.Lost:
		return l.lost(m)
	}
	return nil
}

// over handles the end of all parts. A command on this host that still runs has lost its hosts.
func (l *Launcher) over(code int) []Act {
	acts := l.stop()
	if len(acts) > 0 {
		acts, code = append(acts, Say{"its parts were over before its work was: that is ended"}), max(code, 1)
	}
	return append(acts, l.exit(code)...)
}

func (l *Launcher) welcome(w *launcher.Welcome) []Act {
	if l.phase == greeting {
		l.app = w.App
		l.tag = w.Tag
		if len(l.places) == 0 { // any cluster may be used, so the launcher subscribes without the list
			l.phase = subscribing
			return []Act{Print{fmt.Sprintf("application %d", w.App)}, l.subscribe()}
		}
		l.phase = looking
		return []Act{Print{fmt.Sprintf("application %d", w.App)}, Send{&launcher.List{}}}
	}
	// The connection is restored. Unanswered messages may not have arrived.
	acts := []Act{Say{"the sidecar is there again"}}
	switch l.phase {
	case looking:
		return append(acts, Send{&launcher.List{}})
	case subscribing:
		return append(acts, l.subscribe())
	case leaving:
		return append(acts, Send{&launcher.Done{Code: l.code}})
	}
	if w.Tag != l.tag && l.wants != nil && l.phase == waiting {
		acts = append(acts, l.request())
	}
	l.reporting = false
	return append(acts, l.reportParts()...)
}

// clusters handles the list of clusters, and submits the batch jobs if that was not done.
func (l *Launcher) clusters(all *launcher.Clusters) []Act {
	for _, c := range all.All {
		l.names[c.C] = c.Name
	}
	l.view.Know(all)
	if (l.phase == subscribing || l.phase == waiting) && l.view.Number == 0 && len(all.All) == 0 {
		l.noCluster = true
		return append(l.complain("the sidecar has no cluster for applications at present: its first view comes with one"), Expect{mostLooks * lookPeriod})
	}
	if l.phase != looking {
		return nil
	}
	if len(all.All) == 0 {
		return l.lookAgain("the sidecar has no cluster for applications at present")
	}
	for _, p := range l.places {
		if p.Cluster == "" && len(all.All) == 1 {
			p.Cluster = all.All[0].Name
		}
		switch known := slices.ContainsFunc(all.All, func(c launcher.Cluster) bool { return c.Name == p.Cluster }); {
		case p.Cluster == "":
			return l.fail(fmt.Sprintf("there are several clusters: say which one, with --on %s='sbatch …'", all.All[0].Name))
		case !known:
			return l.lookAgain(fmt.Sprintf("--on %s: the sidecar sees no such cluster; it sees %s", p.Cluster, nameList(all.All)))
		}
	}
	var acts []Act
	for _, p := range l.places {
		if p.Batch {
			p.submitting = true
			acts = append(acts, Submit{Cluster: p.Cluster, Application: l.app})
		}
	}
	l.phase = submitting
	if acts == nil {
		l.phase = subscribing
		acts = []Act{l.subscribe()}
	}
	return acts
}

// A sidecar that has just started has not read all of its clusters. The list is requested mostLooks times, with pauses of lookPeriod.
const (
	mostLooks  = 30
	lookPeriod = time.Second
)

// lookAgain requests the list again after a pause. After mostLooks requests it gives the application up.
func (l *Launcher) lookAgain(why string) []Act {
	why += ". A cluster that was not read yet is not seen"
	if l.listings++; l.listings > mostLooks {
		return l.fail(why + fmt.Sprintf(": it was asked for during %s", lookPeriod*mostLooks))
	}
	return append(l.complain(why+": it is asked for again"), Expect{lookPeriod})
}

// subscribe returns the subscription, with the clusters and the batch jobs.
func (l *Launcher) subscribe() Act {
	s := &launcher.Subscribe{Most: l.settings.Most, Jobs: []launcher.Part{}}
	for _, p := range l.places {
		s.Filter.Clusters = append(s.Filter.Clusters, p.Cluster)
		if p.Batch {
			s.Jobs = append(s.Jobs, launcher.Part{Cluster: p.Cluster, Job: p.job})
		}
	}
	return Send{s}
}

// submitted handles a batch job that was submitted.
func (l *Launcher) submitted(e Submitted) []Act {
	p := l.at(e.Cluster)
	if p == nil || !p.submitting || l.phase == leaving {
		return nil
	}
	p.submitting = false
	if e.Err != nil {
		return l.fail(e.Err.Error())
	}
	p.job = e.Job
	acts := []Act{Print{fmt.Sprintf("job %d on %s", e.Job, e.Cluster)}}
	if l.phase != submitting {
		p.unconfirmed = true
		return append(acts, l.reportParts()...)
	}
	if slices.ContainsFunc(l.places, func(p *place) bool { return p.submitting }) {
		return acts
	}
	l.phase = subscribing
	return append(acts, l.subscribe())
}

func (l *Launcher) at(cluster string) *place {
	for _, p := range l.places {
		if p.Cluster == cluster {
			return p
		}
	}
	return nil
}

// reportParts reports jobs that the sidecar does not know. Only one message is unanswered at a time.
func (l *Launcher) reportParts() []Act {
	m := &launcher.Parts{}
	for _, p := range l.places {
		if p.unconfirmed && !p.submitting {
			m.Jobs = append(m.Jobs, launcher.Part{Cluster: p.Cluster, Job: p.job})
		}
	}
	if l.reporting || len(m.Jobs) == 0 {
		return nil
	}
	l.reporting = true
	return []Act{Send{m}}
}

// lost submits a batch job again, after the sidecar has reported that the job is lost. The message may come twice.
func (l *Launcher) lost(m *launcher.Lost) []Act {
	p := l.at(l.names[m.C])
	switch {
	case p == nil || !p.Batch || p.submitting || p.job == 0:
		return nil
	case p.job != m.Job: // the job was replaced already
		p.unconfirmed = true
		return l.reportParts()
	}
	p.submitting = true
	l.again()
	return []Act{
		Say{fmt.Sprintf("job %d on %s is lost (%s): it is submitted again", m.Job, p.Cluster, m.Why)},
		Submit{Cluster: p.Cluster, Application: l.app},
	}
}

// again returns to the phase before the start.
func (l *Launcher) again() {
	if l.phase == started || l.phase == running {
		l.phase = waiting
		l.parts = nil
	}
}

// change handles a view.
func (l *Launcher) change(c *launcher.Change) []Act {
	if err := l.view.Apply(c); err != nil {
		l.view.Number = 0
		return []Act{Reconnect{err}}
	}
	l.again()
	l.noCluster = false
	if l.phase == subscribing { // the answer to the subscription has not come yet, or was lost
		l.phase = waiting
	}
	l.sight, l.unanswered = selector.Of(&l.view), true
	return append(append(l.tell(), l.reportParts()...), Ask{l.sight})
}

// tell reports the estimated start to the user if it has changed.
func (l *Launcher) tell() []Act {
	e := l.sight.Estimate
	if e == l.estimate || l.wants == nil {
		return nil
	}
	l.estimate = e
	if e == 0 {
		return []Act{Say{"when it starts is not known any more"}}
	}
	return []Act{Say{fmt.Sprintf("starts %s, in %s: %s", clock(e), span(e-l.sight.Now), l.wanted())}}
}

// selected answers a view.
func (l *Launcher) selected(e Selected) []Act {
	if l.phase != waiting || e.View != l.sight.View {
		return nil // an answer to an old view, or no longer needed
	}
	if e.Err == nil && !e.Keep {
		e.Err = l.possible(e.Answer)
	}
	switch {
	case e.Err != nil && l.wants == nil:
		return l.fail(e.Err.Error())
	case e.Err != nil:
		return append(l.complain(e.Err.Error()+": the last request stands"), l.acknowledge()...)
	case e.Keep || l.wants != nil && !l.unsure && l.wants.Same(e.Answer):
		return l.acknowledge()
	}
	answer := e.Answer
	answer.Hosts = slices.Clone(e.Hosts)
	l.wants, l.unsure, l.said = &answer, false, ""
	l.tag++
	return []Act{l.request()}
}

// possible returns an error if the sidecar would refuse a request with this answer.
func (l *Launcher) possible(a selector.Answer) error {
	if len(a.Hosts) == 0 {
		return fmt.Errorf("the model asks for no hosts")
	}
	for _, h := range a.Hosts {
		c := l.sight.Cluster(h.Cluster)
		if c == nil {
			return fmt.Errorf("the model asks for hosts of a cluster that is not in sight")
		}
		if h.Hosts < 1 || h.Hosts > c.Hosts {
			return fmt.Errorf("the model asks for %d hosts of %s, which has %d", h.Hosts, c.Name, c.Hosts)
		}
	}
	if most := selector.Longest(l.settings.Most); a.Walltime < 1 || a.Walltime > most {
		return fmt.Errorf("the model asks for %d s: 1 to %d s are possible", a.Walltime, most)
	}
	return nil
}

// request sends the request, which also answers the view.
func (l *Launcher) request() Act {
	l.unanswered = false
	r := &launcher.Request{View: l.sight.View, Tag: l.tag, Walltime: l.wants.Walltime}
	for _, h := range l.wants.Hosts {
		r.Hosts = append(r.Hosts, launcher.Hosts{C: h.Cluster, N: h.Hosts})
	}
	return Send{r}
}

func (l *Launcher) acknowledge() []Act {
	if !l.unanswered {
		return nil
	}
	l.unanswered = false
	return []Act{Send{&launcher.Ack{View: l.sight.View}}}
}

// wanted describes the request in force.
func (l *Launcher) wanted() string {
	return fmt.Sprintf("%s, for %s", l.hosts(l.wants.Hosts), span(l.wants.Walltime))
}

func (l *Launcher) hosts(parts []moldable.Part) string {
	text := ""
	for i, p := range parts {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d hosts of %s", p.Hosts, l.names[p.Cluster])
	}
	return text
}
