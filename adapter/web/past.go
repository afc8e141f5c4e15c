package web

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

// Limits of what past keeps.
const (
	pastKept   = 12 * time.Hour
	mostPieces = 5_000
	mostBroken = 100
	mostEvents = 20_000 // largest number of the journal's events that are read when the server starts
)

// piece is a set of nodes that a job held from one second until another.
type piece struct {
	ID    core.JobID `json:"id"`
	User  string     `json:"user,omitempty"`
	Name  string     `json:"name,omitempty"`
	Kind  string     `json:"kind"`
	Nodes string     `json:"nodes"`
	From  core.Time  `json:"from"`
	To    core.Time  `json:"to"`
}

// broken is a broken promise.
type broken struct {
	At      core.Time  `json:"at"`
	ID      core.JobID `json:"id"`
	User    string     `json:"user,omitempty"`
	Name    string     `json:"name,omitempty"`
	Seconds core.Time  `json:"seconds"`
	Cause   string     `json:"cause"`
}

// past has the nodes that jobs held in the past, and the broken promises. For the time before the server started, it has only managed
// jobs, which it reads from the journal's events.
type past struct {
	holds    map[adapter.Key]piece     // the nodes that jobs hold now; To is 0
	pieces   []piece                   // earlier holdings, ordered by their end
	broken   []broken                  // broken promises, ordered by time
	recorded map[adapter.Key]core.Time // for each broken promise, the number of seconds that was last recorded
	who      map[adapter.Key]piece     // the user and name of each job, while the journal is read

	looked core.Time // Unix second of the previous snapshot
	begins core.Time // Unix second before which nothing is known about ordinary jobs
	added  int       // pieces added since the last version
}

func newPast(j *journal.Journal, now time.Time) *past {
	p := &past{holds: map[adapter.Key]piece{}, recorded: map[adapter.Key]core.Time{}, who: map[adapter.Key]piece{}, begins: now.Unix()}
	if j == nil {
		return p
	}
	events, err := j.EventsSince(now.Add(-pastKept), mostEvents)
	if err != nil {
		return p // without events, the past begins now
	}
	for _, e := range events {
		p.readEvent(e)
	}
	clear(p.who)
	p.added = 0
	return p
}

// readEvent records an event of the journal.
func (p *past) readEvent(e journal.Entry) {
	key := adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
	switch e.Verb {
	case "accepted":
		user, _ := e.Args["user"].(string)
		p.who[key] = piece{ID: key.ID, User: user, Kind: kindOf(e.Text)}
	case "started", "grew", "shrank":
		nodes, _ := e.Args["nodes"].(string)
		p.close(key, e.At.Unix())
		if nodes != "" {
			h, known := p.who[key]
			if !known {
				h = piece{ID: key.ID, Kind: "evolving"}
			}
			h.Nodes, h.From = nodes, e.At.Unix()
			p.holds[key] = h
		}
	case "ended", "requeued":
		p.close(key, e.At.Unix())
	case "promise broken":
		seconds, _ := e.Args["seconds"].(json.Number)
		n, _ := seconds.Int64()
		cause, _ := e.Args["cause"].(string)
		p.breach(key, broken{At: e.At.Unix(), ID: key.ID, User: p.who[key].User, Seconds: n, Cause: cause})
	}
}

// kindOf returns the kind of a job with the given request.
func kindOf(request string) string {
	switch {
	case strings.HasPrefix(request, "mold="):
		return "moldable"
	case strings.HasPrefix(request, "ep="):
		return "evolving"
	case strings.HasPrefix(request, "launch="):
		return view.Delegated
	}
	return "rigid"
}

func (p *past) close(key adapter.Key, at core.Time) {
	if h, open := p.holds[key]; open {
		delete(p.holds, key)
		if h.To = at; h.To > h.From {
			p.pieces = append(p.pieces, h)
			p.added++
		}
	}
}

// observe records which jobs hold other nodes in the snapshot than in the previous one.
func (p *past) observe(s *view.Snapshot) {
	p.added = 0
	here := make(map[adapter.Key]bool, len(p.holds))
	for i := range s.Queue.Jobs {
		e := &s.Queue.Jobs[i]
		if !e.Holds() || e.Nodes == "" {
			continue
		}
		key := e.Key()
		here[key] = true
		h, open := p.holds[key]
		if open && h.Nodes == e.Nodes {
			h.User, h.Name, h.Kind = e.User, e.Name, e.Kind
			p.holds[key] = h
			continue
		}
		from := s.Now
		if !open { // the job started after the previous snapshot: assume that it has held these nodes since its start, or since its current step began
			from = min(e.Start, s.Now)
			if len(e.Plan) > 1 && e.Step > 1 {
				from = max(from, e.Start+startOf(e.Plan, e.Step-1))
			}
		}
		p.close(key, from)
		p.holds[key] = piece{ID: e.ID, User: e.User, Name: e.Name, Kind: e.Kind, Nodes: e.Nodes, From: min(from, s.Now)}
	}
	over := p.lastEnd(s)
	for key := range p.holds {
		if !here[key] {
			p.close(key, over)
		}
	}
	p.looked = s.Now
	p.lookAtPromises(s)
	p.forget(s.Now)
}

// lastEnd returns the end to assume for jobs that have ended since the previous snapshot. It is not after the start of any job that has
// started since then, because that job may use their nodes.
func (p *past) lastEnd(s *view.Snapshot) core.Time {
	over := s.Now
	for i := range s.Queue.Jobs {
		if e := &s.Queue.Jobs[i]; e.Holds() && e.Start > p.looked {
			over = min(over, e.Start)
		}
	}
	return over
}

// startOf returns the number of seconds between the start of the profile and the start of the step.
// Steps count from 0.
func startOf(ep core.EP, step int) (at core.Time) {
	for _, s := range ep[:min(step, len(ep))] {
		at += s.Duration
	}
	return at
}

func (p *past) lookAtPromises(s *view.Snapshot) {
	for i := range s.Queue.Jobs {
		e := &s.Queue.Jobs[i]
		b, is := s.Broken[e.Key()]
		if !is || p.recorded[e.Key()] >= b.Slipped {
			continue
		}
		p.breach(e.Key(), broken{At: s.Now, ID: e.ID, User: e.User, Name: e.Name, Seconds: b.Slipped, Cause: b.Cause})
	}
}

// breach records a broken promise. If the promise of the same job was recorded before, breach replaces that record.
func (p *past) breach(key adapter.Key, b broken) {
	if _, again := p.recorded[key]; again {
		p.broken = slices.DeleteFunc(p.broken, func(o broken) bool { return o.ID == b.ID })
	}
	p.recorded[key] = b.Seconds
	p.broken = append(p.broken, b)
}

// forget removes entries that are too old or too many.
func (p *past) forget(now core.Time) {
	old := now - core.Time(pastKept/time.Second)
	p.pieces = slices.DeleteFunc(p.pieces, func(h piece) bool { return h.To < old })
	p.pieces = p.pieces[max(0, len(p.pieces)-mostPieces):]
	p.broken = slices.DeleteFunc(p.broken, func(b broken) bool { return b.At < old })
	p.broken = p.broken[max(0, len(p.broken)-mostBroken):]
	if len(p.recorded) > 2*mostPieces {
		clear(p.recorded)
	}
}

// since returns when the job received the nodes that it holds now.
func (p *past) since(key adapter.Key) core.Time { return p.holds[key].From }
