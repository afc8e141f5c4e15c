package applications

import (
	"encoding/json"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Record is an application as the journal keeps it.
type Record struct {
	ID   int64
	Data []byte // JSON
}

// phase is where an application is on its way: finer than the states that launchers are told.
type phase string

const (
	fresh      phase = "fresh"      // it said hello; it has not subscribed
	subscribed phase = "subscribed" // without a request
	waiting    phase = "waiting"    // with one
	preparing  phase = "preparing"  // a try: its clusters reserve
	starting   phase = "starting"   // committed: its parts come up
	running    phase = "running"    // they were let through
	ending     phase = "ending"     // it is being ended, or over; ghosts may be left
)

// holds says whether an application's parts hold hosts.
func (p phase) holds() bool { return p == preparing || p == starting || p == running || p == ending }

// started says whether its launcher was told of its start.
func (p phase) started() bool { return p == starting || p == running }

// durable is what must not be forgotten of an application: what a Record holds.
type durable struct {
	ID       int64           `json:"id"`
	User     string          `json:"user"`
	Name     string          `json:"name,omitempty"`
	Phase    phase           `json:"phase"`
	Rank     core.Time       `json:"rank,omitempty"` // the second of its subscription
	Filter   launcher.Filter `json:"filter"`
	Most     core.Time       `json:"most,omitempty"`
	Parts    []*piece        `json:"parts,omitempty"` // by cluster, those that the request does not use among them
	Tag      int64           `json:"tag"`             // of the request in force; -1: none
	Walltime core.Time       `json:"walltime,omitempty"`
	View     int64           `json:"view"`  // the last that was shown
	Acked    int64           `json:"acked"` // the last that was acknowledged

	Try    int         `json:"try,omitempty"`   // the newest
	Tries  []core.Time `json:"tries,omitempty"` // the seconds of the last failed ones, at most perMinute
	Slow   bool        `json:"slow,omitempty"`  // they were too many: one a minute
	Failed string      `json:"failed,omitempty"`

	At    core.Time `json:"at,omitempty"` // the second of the decision to start
	By    core.Time `json:"by,omitempty"` // its latest end
	Went  core.Time `json:"went,omitempty"`
	Since core.Time `json:"since,omitempty"` // of its phase

	Reason string    `json:"reason,omitempty"` // ending: launcher.Why…; "": it is over by itself, or was withdrawn
	Why    string    `json:"why,omitempty"`    // ending: a line for its jobs' user
	EndAt  core.Time `json:"end_at,omitempty"` // ending: when its jobs are ended
}

// piece is an application's part on one cluster, or what may become one.
type piece struct {
	Cluster int        `json:"-"`
	Name    string     `json:"cluster"`
	Job     core.JobID `json:"job,omitempty"`   // its batch job; 0: none, or the cluster makes it
	Hosts   int        `json:"hosts,omitempty"` // that the request in force asks for; 0: it does not use this cluster
	Nodes   []string   `json:"nodes,omitempty"` // of the try
	Drop    int        `json:"drop,omitempty"`  // this try is given up, and not seen undone yet
	Kept    int        `json:"kept,omitempty"`  // hosts that it may still hold
	Lost    core.Time  `json:"lost,omitempty"`  // since when its job is gone; the launcher is to submit another
	Done    bool       `json:"done,omitempty"`  // it said so, or its launcher did
	Code    int        `json:"code,omitempty"`
	Ghost   core.Time  `json:"ghost,omitempty"` // until when its nodes are kept; 0: no ghost
	Over    bool       `json:"over,omitempty"`  // its job is gone

	prepared bool      // in this try, as the boards say
	runs     bool      // the same
	there    core.Time // the reading that showed it last
	owed     *debt     // its session waits for the ghost
}

// debt is an okay that waits for a ghost.
type debt struct {
	session uint64
	seq     int64
	by      core.Time
}

// perMinute is how many tries to start an application fail in a minute before there is one a minute.
const perMinute = 5

func (d *durable) record() Record {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("application %d has no JSON: %v", d.ID, err)) // numbers and texts always have
	}
	return Record{ID: d.ID, Data: data}
}

// counter is the record of the last number given: numbers are not used again.
const counter = 0

// read makes a record an application again. What it had on clusters that are no longer there is gone: a request that used them, too.
func (m *Machine) read(r Record) (*application, error) {
	a := &application{durable: durable{Tag: -1}}
	if err := json.Unmarshal(r.Data, &a.durable); err != nil {
		return nil, fmt.Errorf("the record of application %d: %w", r.ID, err)
	}
	gone := false
	a.Parts = slices.DeleteFunc(a.Parts, func(p *piece) bool {
		p.Cluster = slices.IndexFunc(m.clusters, func(c *cluster) bool { return c.Name == p.Name })
		gone = gone || p.Cluster < 0 && p.Hosts > 0
		return p.Cluster < 0
	})
	slices.SortFunc(a.Parts, func(p, q *piece) int { return p.Cluster - q.Cluster })
	a.View += unsaid
	switch {
	case gone && (a.Phase == starting || a.Phase == running):
		m.end(a, launcher.WhyLost, "a cluster of it was taken out of the configuration", 0)
	case gone && a.Phase != ending:
		a.drop(a.Try)
		a.Phase, a.Tag, a.Walltime = subscribed, -1, 0
		for _, p := range a.Parts {
			p.Hosts = 0
		}
	case a.Phase == preparing: // presumed abort
		a.drop(a.Try)
		a.Phase = waiting
	}
	return a, nil
}

// unsaid is how many views may have been shown that the journal does not know of: their numbers are not used again.
const unsaid = 1 << 20
