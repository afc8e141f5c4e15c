package sidecar

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/queue"
)

// phase is where a managed job stands with the sidecar.
type phase string

const (
	waiting  phase = "waiting"
	starting phase = "starting" // its start was decided; it may run at any second
	running  phase = "running"
	ending   phase = "ending" // we are ending it
)

// voice is whether a job asks for its next step itself.
type voice string

const (
	unheard  voice = ""
	speaking voice = "step"
	silent   voice = "silent"
)

// record is what the sidecar knows of one managed job. The exported fields are its durable memory, written to the
// journal before what they say is true outside.
type record struct {
	adapter.Key
	User    string
	UID     uint32
	Name    string
	Request string // as accepted: "ep=2x20s,5x20s", "mold=4x2h|8x70m"

	Phase    phase
	Decided  bool        // its start was decided, once at least
	Choice   int         // of the request's configurations, once started
	Promise  []core.Time // planned end of each step, Unix seconds; set when the start is decided
	Planned  core.Time   // second for which its start was decided; 0 before
	Began    core.Time   // second it began to run; 0 before
	Limit    core.Time   // seconds, as it began; 0 before
	Step     int         // index of the step it is in
	Target   int         // index of the step a resize is under way to; equal to Step when there is none
	Meant    core.Time   // planned end of the present step when it began: lateness counts from it
	Overran  core.Time   // seconds of its overrun allowance used at past boundaries
	Warned   core.Time   // second of the warning that its present step should be over; 0 without one
	Voice    voice       // whether it asks for its steps itself
	Noticed  bool        // a silent one was told of the shrink to come
	Told     int         // the generation in its hosts file, plus one; 0: it has none yet
	Nodes    []string    // what it holds: the ones that leave last come first
	Resizes  int         // how many there were
	Before   []string    // what it held before the last of them
	Resized  core.Time   // second of the last of them
	Again    []string    // what it held until the batch system forgot the last of them; nil: it has not
	Since    core.Time   // second at which that was seen
	Why      string      // why we end it
	Attached bool        // it may still be tied to its start reservation
	Expected core.Time   // planned start that its user was told of last, Unix seconds; 0: none
	Vowed    core.Time   // the best end that it was promised, Unix seconds; 0: none
	Slipped  core.Time   // seconds by which the promised end is later than that, as last said
	Broke    string      // the cause said then

	choices   []core.EP
	seen      *adapter.Job   // as last read
	touched   int            // readings that had begun when we last did something to it: they are stale
	busy      string         // the operation under way
	parts     []adapter.Part // the allocations that hold its nodes, where they are several
	parted    parted         // what left it last, and when
	next      []string       // what it will hold when the resize under way is done; nil without one
	tried     core.Time      // second at which going on early was last looked at
	retry     time.Time      // no new operation before
	failures  int            // of operations in a row, for reasons that have no name
	mover     mover          // why its planned start moved, while that is still to be told
	frozen    core.Time      // second since when the batch system does not change it; 0: it does
	ask       *question      // the application stands at the end of its step
	course    *course        // its place in the present plan; nil without one
	named     *course        // its last place: nodes named there stay where they can
	dirty     bool           // it changed since it was saved
	refused   []string       // what a growth would have held that the batch system refused
	late      bool           // its step should be over
	ready     time.Time      // when all nodes of a due growth were seen free
	released  time.Time      // when we had released it to start; zero after a restart
	blocked   string         // what the next operation waits for, for status
	unwritten int            // times in a row that its hosts file could not be written
	obstacle  obstacle       // what a due growth waited for
	hindered  core.Time      // second since which it waits for that
	hindrance obstacle       // what moved the promise last
}

// hinder notes what a due growth waits for.
func (r *record) hinder(o obstacle, now core.Time) {
	if r.obstacle != o {
		r.hindered = now
	}
	r.obstacle = o
}

// remainder is the rest of a running job, to be fitted again.
func (r *record) remainder(now core.Time) queue.Remainder {
	ep := r.remaining(now)
	return queue.Remainder{Job: r.ID, Nodes: ep[0].Nodes, Left: ep[0].Duration, Next: r.ep()[r.current()+1:]}
}

// restore makes a record whole again after it was read from the journal.
func restore(data []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("journal: a job's record: %w", err)
	}
	var err error
	if r.choices, err = adapter.ParseRequest(r.Request); err != nil {
		return nil, fmt.Errorf("journal: record of job %d: %w", r.ID, err)
	}
	return r, nil
}

func (r *record) ep() core.EP      { return r.choices[r.Choice] }
func (r *record) evolving() bool   { return strings.HasPrefix(r.Request, "ep=") }
func (r *record) end() core.Time   { return r.Promise[len(r.Promise)-1] }
func (r *record) resizing() bool   { return r.Target != r.Step }
func (r *record) due() core.Time   { return r.Promise[r.Step] }
func (r *record) final() bool      { return r.Step == len(r.ep())-1 }
func (r *record) total() core.Time { return r.ep().Total() }

// kind is the word of DESIGN.md for what the job is.
func (r *record) kind() string {
	if r.evolving() {
		return "evolving"
	}
	return "moldable"
}

// reservation names the reservation for the job's step (0: its start).
func (r *record) reservation(step int) string {
	return fmt.Sprintf("%s%d-%d", adapter.Prefix, r.ID, step)
}

// current is the index of the step that a plan begins with: a resize under way is taken to succeed.
func (r *record) current() int {
	if r.next != nil {
		return r.Target
	}
	return r.Step
}

// holds is the nodes that a plan begins with.
func (r *record) holds() []string {
	switch {
	case r.next != nil:
		return r.next
	case r.Again != nil:
		return r.Again
	}
	return r.Nodes
}

// remaining is what the job will occupy from now on: as promised, and where it is late, for as long as its steps to come
// were asked for. A step that should be over lasts another second. A resize under way ends every wait that was promised
// for the step before it: what follows is what goOn will write.
func (r *record) remaining(now core.Time) core.EP {
	ep := make(core.EP, 0, len(r.Promise)-r.Step)
	from := now
	for i := r.current(); i < len(r.Promise); i++ {
		to := max(r.Promise[i], from+1)
		switch {
		case r.next != nil:
			to = r.follow(i, from)
		case i > r.Step:
			to = max(to, from+r.ep()[i].Duration)
		}
		n := r.ep()[i].Nodes
		if i == r.current() {
			n = len(r.holds())
		}
		ep = append(ep, core.Step{Duration: to - from, Nodes: n})
		from = to
	}
	return ep
}

// promise writes the scheduled profile, which begins with the job's present step at now, as the planned end of each
// step to come.
func (r *record) promise(now core.Time, ep core.EP) {
	for i, s := range ep {
		now += s.Duration
		r.Promise[r.Step+i] = now
	}
}

// goOn makes the target step the present one, from now on. A promise that was moved while the step before was late has the
// delay in it already.
func (r *record) goOn(now core.Time) {
	r.Promise[r.Step] = max(r.Promise[r.Step], now)
	r.Step = r.Target
	for i := r.Step; i < len(r.Promise); i++ {
		now = r.follow(i, now)
		r.Promise[i] = now
	}
}

// follow is the end of a step that begins at an instant: it lasts as long as was asked for; before a growth longer, where
// that is promised for later.
func (r *record) follow(step int, begin core.Time) core.Time {
	ep, end := r.ep(), begin+r.ep()[step].Duration
	if step+1 < len(ep) && ep[step+1].Nodes > ep[step].Nodes {
		end = max(end, r.Promise[step])
	}
	return end
}

// tardy says whether the application itself is late, by more than a resize takes: its step should be over, and it neither
// waits for the next one nor is being resized.
func (r *record) tardy(now core.Time) bool {
	return r.Phase == running && r.busy == "" && r.ask == nil && r.Voice != silent && now > r.due()+tolerance
}

// putOff says whether the application stands at the end of its step while the next one's second, which it was promised
// when the step began, was moved to later.
func (r *record) putOff(now core.Time) bool { return r.ask != nil && r.Meant <= now && now < r.due() }
