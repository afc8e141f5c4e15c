package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"accordion/adapter"
	"accordion/adapter/connlimit"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
)

// mostExplained is the largest number of jobs that are explained at the same time. Each explanation
// reads the journal, and takes longer if the queue is longer.
const mostExplained = 2

// asking limits how many requests wait for an explanation, so that a client with many requests does not
// block other clients.
var asking = connlimit.Limits{Total: 64, PerClient: 16}

// jobPage has what the page of a job shows.
type jobPage struct {
	Number   int64
	Title    string
	Kind     string
	Phase    string
	User     string // "" if private or not known
	Cluster  string
	Private  bool
	Lead     []line
	Facts    []fact
	Wide     *drawing // nil if there is nothing to draw
	Narrow   *drawing
	Sections []section
	Missing  string // why there is no drawing
}

// fact is a short text with a name, in a table of facts about the job.
type fact struct{ Name, Text string }

// section is a status.Section. Lines with columns are shown as preformatted text.
type section struct {
	Title string
	Lines []line
}

// line is a line of text in which the numbers of other jobs are links.
type line struct {
	Dated bool // the line begins with a time
	Words []word
}

type word struct {
	Text string
	Job  string // number of the job to whose page the text is a link; "" means no link
}

var dated = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d  `)

var numbered = regexp.MustCompile(`\b[jJ]ob ([1-9][0-9]{0,17})\b`)

// linked turns the numbers of jobs in texts into links, except the number `own` of the page's own job.
func linked(texts []string, own int64) []line {
	lines := make([]line, len(texts))
	for i, text := range texts {
		lines[i].Dated = dated.MatchString(text)
		add := func(w word) { lines[i].Words = append(lines[i].Words, w) }
		at := 0
		for _, m := range numbered.FindAllStringSubmatchIndex(text, -1) {
			if number := text[m[2]:m[3]]; number != strconv.FormatInt(own, 10) {
				add(word{Text: text[at:m[0]]})
				add(word{text[m[0]:m[1]], number})
				at = m[1]
			}
		}
		add(word{Text: text[at:]})
	}
	return lines
}

var jobForm = template.Must(template.New("job.html").ParseFS(files, "assets/job.html"))

// job serves the page of a job.
func (h *Server) job(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id < 1 {
		http.Error(w, "say which job: job?id=4711", http.StatusBadRequest)
		return
	}
	busy := func() {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many ask at once: try again in a moment", http.StatusServiceUnavailable)
	}
	ctx, evict := context.WithCancel(r.Context())
	defer evict()
	leave, err := h.asking.Enter(clientOf(r), evict)
	if err != nil {
		busy()
		return
	}
	defer leave()
	select {
	case h.explainer <- struct{}{}:
		defer func() { <-h.explainer }()
	case <-ctx.Done():
		busy()
		return
	case <-time.After(slowest):
		busy()
		return
	}
	page, code := h.explain(id)
	var b bytes.Buffer
	if err := jobForm.Execute(&b, page); err != nil {
		http.Error(w, "the page of the job could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(b.Bytes())
}

// explain returns the page of a job, and the HTTP status of the answer.
func (h *Server) explain(id int64) (*jobPage, int) {
	p := &jobPage{Number: id, Title: fmt.Sprintf("Job %d", id), Private: h.options.Private}
	e := h.newest()
	if e == nil {
		p.Missing = "The sidecar has not read the batch system yet."
		return p, http.StatusServiceUnavailable
	}
	hidden := e.snapshot.Hidden
	p.Cluster, p.Private = e.state.Cluster, hidden.Jobs
	x, err := status.ExplainIn(h.report(e), h.remembered(hidden), id)
	switch unknown := (*status.UnknownJob)(nil); {
	case errors.As(err, &unknown):
		p.Missing = "No such job waits for nodes of the pool or has some. It may be over, or was submitted only just now."
		return p, http.StatusNotFound
	case err != nil:
		p.Missing = "The journal cannot be read now."
		return p, http.StatusServiceUnavailable
	}
	x.Application = h.application(x.Job, hidden)
	x.Failed, x.LastFailure = 0, "" // only administrators should see failures of the sidecar
	for i, s := range x.Sections(h.options.Clock(), time.Local) {
		if i == 0 {
			p.Lead = linked(s.Lines[1:], id) // the page itself shows the cluster and the time
			continue
		}
		p.Sections = append(p.Sections, section{s.Title, linked(s.Lines, id)})
	}
	if x.Job != nil && x.Job.Kind == view.Delegated && x.Application == nil {
		p.Lead = linked([]string{fmt.Sprintf("This job is a part of an application of accordion launch: accordion explain %d says where that stands.", id)}, id)
	}
	p.describe(x.Job)
	p.Wide, p.Narrow = drawJob(e, x.Job, id, wide), drawJob(e, x.Job, id, narrow)
	return p, http.StatusOK
}

// application returns the application of which the job is a part. It returns nil if there is none, or it may not be shown.
func (h *Server) application(e *view.Entry, hidden adapter.Hidden) *status.ApplicationExplanation {
	if e == nil || e.Kind != view.Delegated || h.options.Application == nil || hidden.Jobs {
		return nil
	}
	a, err := h.options.Application(e.ID, e.Request)
	if err != nil { // without the application, the page names the command that shows it
		return nil
	}
	return a
}

// remembered returns the journal if its entries may be shown, and nil otherwise. The texts of entries
// may name users, accounts and reservations.
func (h *Server) remembered(hidden adapter.Hidden) journal.Reader {
	if hidden.Jobs || hidden.Accounts || hidden.Reservations || h.options.Journal == nil {
		return nil
	}
	return h.options.Journal
}

// describe fills in a short description of the job.
func (p *jobPage) describe(e *view.Entry) {
	if e == nil {
		return
	}
	p.Kind, p.Phase = e.Kind, e.Phase
	if !p.Private {
		p.User = short(e.User)
		if e.Name != "" {
			p.Title += " · " + short(e.Name)
		}
	}
	add := func(name, text string) {
		if text != "" {
			p.Facts = append(p.Facts, fact{name, text})
		}
	}
	add("asked for", short(e.Request))
	if e.Holds() {
		add("nodes", fmt.Sprintf("%d: %s", e.Size, e.Nodes))
	} else if e.Rank > 0 {
		add("rank", fmt.Sprint(e.Rank))
	}
	if why := short(e.Why); why != "None" && !(e.Holds() && e.Request == "") {
		add("waits for", why)
	}
}
