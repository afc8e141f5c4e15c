package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/sched"
	"accordion/shim/wire"
)

const now = 1000

// pool is a reading of eight nodes, all idle but those that the jobs hold.
func pool(jobs ...adapter.Job) *adapter.Snapshot {
	held := map[string]bool{}
	for _, j := range jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	s := &adapter.Snapshot{At: time.Unix(now, 0), Jobs: jobs}
	for i := range 8 {
		name := fmt.Sprintf("n%d", i+1)
		s.Nodes = append(s.Nodes, adapter.Node{Name: name, Usable: true, Idle: !held[name]})
	}
	return s
}

// about decides about a job in that pool.
func about(r *managed.Job, snapshot *adapter.Snapshot, change func(*Situation)) Decision {
	s := Situation{
		Now: time.Unix(now, 0), Awaited: func(core.JobID) bool { return false }, Tending: func(string) bool { return false },
		Reserved: func(string) (adapter.Reservation, bool) { return adapter.Reservation{}, false },
		World: plan.Make(plan.Input{
			Now: now, Instant: time.Unix(now, 0), Snapshot: snapshot, Jobs: []*managed.Job{r}, Settled: true,
			OutOfService: func(adapter.Node) bool { return false }, Fresh: func(*managed.Job) bool { return true },
			Settings: managed.Settings{Policy: sched.Repeated{}, StartLead: 4, Overrun: managed.Overrun{Least: 30, Grace: 10, Signal: "B:TERM"}},
		}),
	}
	s.World.Apply()
	if change != nil {
		change(&s)
	}
	return About(r, s)
}

// text is a decision in short: what is done, or what it waits for, and the kinds of its events.
func text(d Decision) string {
	text := "nothing"
	switch {
	case d.Do != nil:
		text = d.Do.Verb
	case d.AtOnce != nil:
		text = "at once"
	case d.Waits != "":
		text = "waits: " + d.Waits
	}
	for _, e := range d.Events {
		text += ", " + e.Kind
	}
	return text
}

var profile = []core.EP{{{Duration: 100, Nodes: 2}, {Duration: 100, Nodes: 5}, {Duration: 100, Nodes: 1}}}

// waits is a job that was adopted, and is held.
func waits() *managed.Job {
	return managed.New(&adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending, Held: true, Mark: "accordion:ep"}, "ep=", profile)
}

// starts returns a job that was released to start.
func starts() *managed.Job {
	r := waits()
	r.Seen.Held = false
	r.Phase, r.Decided, r.Planned, r.Nodes, r.Attached, r.Released = managed.Starting, true, now-1, []string{"n1", "n2"}, true, time.Unix(now-1, 0)
	r.Promise = []core.Time{now + 99, now + 199, now + 299}
	return r
}

// runs is a job in its step, which is promised to end at a second, and whose application speaks.
func runs(step int, end core.Time) *managed.Job {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}[:profile[0][step].Nodes]
	r := managed.New(&adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Running, Mark: "accordion:ep", Nodes: nodes}, "ep=", profile)
	r.Phase, r.Step, r.Target, r.Began, r.Planned, r.Voice, r.Nodes = managed.Running, step, step, end-100, end-100, managed.SpeakingVoice, nodes
	r.Promise = []core.Time{end, end + 100, end + 200}
	r.Meant = r.Due()
	return r
}

// A shrink needs no act where the job has lost as many nodes.
func TestNodesThatAStepLacksAreNotTakenBackInTheNextOne(t *testing.T) {
	r := runs(1, now-100)
	r.Nodes, r.Again, r.Since = []string{"n1"}, []string{"n1", "n2", "n3", "n4", "n5"}, now
	r.Seen.Nodes = r.Nodes
	r.Asks = &managed.Question{At: time.Unix(now, 0), Request: wire.Request{}}
	d := about(r, pool(*r.Seen), nil)
	if d.AtOnce == nil {
		t.Fatalf("decided %s, want the next step at once", text(d))
	}
	if r.Apply(d.AtOnce.Changes); r.Step != 2 || r.Again != nil {
		t.Errorf("in step %d it waits for %v, want nothing in step 3", r.Step+1, r.Again)
	}
}

func TestWhatIsDecidedAboutAJob(t *testing.T) {
	asks := func(r *managed.Job) *managed.Job {
		r.Asks = &managed.Question{At: time.Unix(now, 0), Request: wire.Request{}}
		return r
	}
	forgot := runs(0, now)
	forgot.Nodes, forgot.Again, forgot.Since = []string{"n1"}, []string{"n1", "n2"}, now
	forgot.Seen.Nodes = forgot.Nodes
	ordinary := adapter.Job{Key: adapter.Key{ID: 3}, State: adapter.Running, Nodes: []string{"n3", "n4", "n5", "n6", "n7"}, Limit: 50, Started: now - 60}
	for _, c := range []struct {
		name   string
		job    *managed.Job
		others []adapter.Job
		change func(*managed.Job, *Situation)
		want   string
	}{
		{"it waits, and its nodes are free", waits(), nil, nil, "start, starting"},
		{"… and its reservation ahead is just being written", waits(), nil, func(r *managed.Job, s *Situation) {
			s.Tending = func(name string) bool { return name == r.Reservation(0) }
		}, "nothing"},
		{"… and is not ours yet", waits(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Mark = "" }, "adopt"},
		{"… and the batch system would not start it", waits(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Blocked, r.Seen.Why = true, "Dependency" }, "waits: Dependency"},
		{"… and can never run", waits(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Unfit = "it is an array" }, "refuse, refused"},
		{"… and the batch system sent it back a moment ago", waits(), nil, func(r *managed.Job, _ *Situation) { r.Reject("BadConstraints", now-5, "") },
			"waits: the batch system sent it back once (BadConstraints); tried again at " + time.Unix(now+5, 0).Format(time.TimeOnly)},
		{"… and it is still tied to the reservation of its start", waits(), nil, func(r *managed.Job, _ *Situation) {
			r.Reject("BadConstraints", now-5, "")
			r.Seen.Reservation = r.Reservation(0)
		}, "hold"},
		{"… and the pause is over", waits(), nil, func(r *managed.Job, _ *Situation) { r.Rejected = managed.Rejection{Times: 1, Until: now} }, "start, starting"},
		{"… and an operator holds it", waits(), nil, func(r *managed.Job, _ *Situation) {
			r.Adopted, r.Seen.Adopted, r.Seen.HeldBy = true, true, "an operator"
		},
			"waits: held by an operator; it goes on after scontrol release 7"},
		{"… and its adoption was interrupted", waits(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Adopted, r.Seen.HeldBy = true, "an operator" }, "adopt"},
		{"… and it was requeued and is held", waits(), nil, func(r *managed.Job, _ *Situation) { r.Seen.HeldBy = "its owner or an operator" }, "hold"},
		{"it starts, and an operator holds it", starts(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Held, r.Seen.HeldBy = true, "an operator" }, "hold, held"},
		{"it starts", starts(), nil, nil, "waits: the batch system starts it"},
		{"… and is held again", starts(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Held, r.Seen.Why = true, "BadConstraints" }, "hold, sent back"},
		{"… and is held, for the sidecar ended before it released it", starts(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Held, r.Released = true, time.Time{} }, "nothing"},
		{"… and is held, for the batch system refuses to release it", starts(), nil, func(r *managed.Job, _ *Situation) { r.Seen.Held, r.Released, r.Failures = true, time.Time{}, 1 }, "hold, sent back"},
		{"… and does not begin", starts(), nil, func(r *managed.Job, _ *Situation) { r.Planned = now - 60 }, "hold, held"},
		{"it runs, in the middle of its step", runs(0, now+50), nil, nil, "nothing"},
		{"it asks, early", asks(runs(0, now+50)), nil, nil, "waits: step 1 is over; the next is planned for " + time.Unix(now+50, 0).Format(time.TimeOnly)},
		{"it asks, in time", asks(runs(0, now)), nil, nil, "resize"},
		{"… and the batch system has forgotten a node of it", asks(forgot), nil, nil, "resize"},
		{"… for fewer nodes", asks(runs(1, now-100)), nil, nil, "resize"},
		{"… and the batch system would resize wrongly", asks(runs(0, now)), nil, func(_ *managed.Job, s *Situation) { s.Trapped = s.Now.Add(time.Second) }, "waits: other resizes come first"},
		{"… and a limit of the site is in the way", asks(runs(0, now)), nil, func(r *managed.Job, _ *Situation) { r.Seen.MostNow = adapter.Most{Nodes: 3, Why: "the limit"} }, "waits: the limit"},
		{"… and an ordinary job is past its limit", asks(runs(0, now)), []adapter.Job{ordinary}, nil, "waits: nodes of ordinary job 3"},
		{"it is late", runs(0, now-5), nil, func(r *managed.Job, _ *Situation) { r.Late = true }, "waits: late by 5 s: step 1 should be over"},
		{"… and another waits for its nodes", runs(0, now-5), nil,
			func(r *managed.Job, s *Situation) { r.Late, s.Awaited = true, func(core.JobID) bool { return true } }, "warn, warned"},
		{"… and its limit is near, for much was forgiven", runs(0, now-5), nil,
			func(r *managed.Job, _ *Situation) { r.Late, r.Limit, r.Seen.Limit = true, 113, 113 }, "warn, warned"},
		{"… for longer than it may be", runs(0, now-31), nil, func(r *managed.Job, _ *Situation) { r.Late = true }, "end, ending"},
		{"… and an outage may still keep a program of it from starting", runs(0, now-31), nil, func(r *managed.Job, s *Situation) {
			r.Late, s.Outages = true, managed.Outages{Known: []managed.Outage{{From: now - 90, To: now - 80}}}
		}, "look"},
		{"… and that was seen just now", runs(0, now-31), nil, func(r *managed.Job, s *Situation) {
			r.Late, r.Looked, s.Outages = true, now-2, managed.Outages{Known: []managed.Outage{{From: now - 90, To: now - 80}}}
		}, "end, ending"},
		{"… and the outage was long before its step", runs(0, now-31), nil, func(r *managed.Job, s *Situation) {
			r.Late, s.Outages = true, managed.Outages{Known: []managed.Outage{{From: now - 190, To: now - 180}}}
		}, "end, ending"},
		{"… and an outage is why", runs(0, now-5), nil, func(r *managed.Job, s *Situation) {
			r.Stalled, s.Outages = 66, managed.Outages{Known: []managed.Outage{{From: now - 90, To: now - 80}}}
		}, "waits: its step should have ended 5 s ago: the batch system did not answer from " + clock(now-90) + " to " + clock(now-80) +
			", and what that cost it is added to its time, excused"},
		{"an operator has suspended it", asks(runs(0, now-31)), nil, func(r *managed.Job, _ *Situation) { r.Seen.Suspended = true }, "waits: suspended by an operator; it goes on after scontrol resume 7"},
		{"another has waited for its nodes for the grace", runs(0, now-15), nil, func(r *managed.Job, s *Situation) {
			r.Late, r.Warned, s.Awaited = true, now-10, func(core.JobID) bool { return true }
		}, "end, ending"},
		{"… of which the batch system was away", runs(0, now-15), nil, func(r *managed.Job, s *Situation) {
			r.Late, r.Warned, r.Looked, s.Awaited = true, now-10, now-1, func(core.JobID) bool { return true }
			s.Outages = managed.Outages{Known: []managed.Outage{{From: now - 9, To: now - 3}}}
		}, "waits: late by 15 s: step 1 should be over"},
		{"it does not begin, for the batch system was away", starts(), nil, func(r *managed.Job, s *Situation) {
			r.Planned, s.Outages = now-60, managed.Outages{Known: []managed.Outage{{From: now - 50, To: now - 20}}}
		}, "waits: the batch system starts it"},
		{"it began on its reservation", runs(0, now+50), nil, func(r *managed.Job, _ *Situation) { r.Attached = true }, "detach"},
		{"nobody knows whether it speaks", runs(0, now+50), nil, func(r *managed.Job, _ *Situation) { r.Voice = managed.UnheardVoice }, "listen"},
		{"it is silent, and was told nothing yet", runs(0, now+50), nil, func(r *managed.Job, _ *Situation) { r.Voice = managed.SilentVoice }, "publish"},
		{"it is silent, and was told in time of its shrink", runs(1, now-100), nil, toldOfShrink(0), "resize"},
		{"… and was told of it late", runs(1, now-100), nil, toldOfShrink(now + 1), "waits: it was told late which nodes it gives back"},
		{"it was told to end", runs(0, now), nil, func(r *managed.Job, _ *Situation) { r.Phase = managed.Ending }, "end"},
	} {
		snapshot := pool(append(slices.Clone(c.others), *c.job.Seen)...)
		got := about(c.job, snapshot, func(s *Situation) {
			if c.change != nil {
				c.change(c.job, s)
			}
		})
		if text(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, text(got), c.want)
		}
	}
}

// toldOfShrink is a silent job that knows of the shrink to come, before which it has until a second.
func toldOfShrink(heeds core.Time) func(*managed.Job, *Situation) {
	return func(r *managed.Job, _ *Situation) {
		r.Voice, r.Told, r.Noticed, r.Heeds = managed.SilentVoice, r.Resizes+1, true, heeds
	}
}

// What failed is as if it had not been begun: the job stands at the end of the same step, or waits again.
func TestADecisionThatFailsLeavesTheJobAsItWas(t *testing.T) {
	r := runs(0, now)
	r.Asks = &managed.Question{At: time.Unix(now, 0)}
	grow := about(r, pool(*r.Seen), nil)
	r.Apply(grow.Changes)
	if !r.Resizing() || len(r.NextNodes) != 5 {
		t.Fatalf("it is to have %v", r.NextNodes)
	}
	r.Apply(Failed(r, grow.Do, actions.Result{}, adapter.ErrTrap, nil, time.Unix(now, 0)).Changes)
	if r.Resizing() || r.NextNodes != nil || len(r.Nodes) != 2 {
		t.Errorf("after a growth that failed it has %v and is to have %v", r.Nodes, r.NextNodes)
	}
	w := waits()
	start := about(w, pool(*w.Seen), nil)
	w.Apply(start.Changes)
	if w.Phase != managed.Starting || len(w.Nodes) != 2 || w.End() != w.Planned+300 {
		t.Fatalf("it starts on %v and ends at %d", w.Nodes, w.End())
	}
	w.Apply(Failed(w, start.Do, actions.Result{}, adapter.ErrTrap, nil, time.Unix(now, 0)).Changes)
	if w.Phase != managed.Waiting || w.Nodes != nil || w.Promise != nil {
		t.Errorf("after a start that failed it is %s on %v", w.Phase, w.Nodes)
	}
}

// A job's output says why it ends, also where that could not be written at first. It ends without
// that when the batch system answers and still does not write it.
func TestAJobThatEndsIsToldWhyUntilTheBatchSystemHadTimeForIt(t *testing.T) {
	for _, c := range []struct {
		name     string
		decided  core.Time
		failures int
		outage   core.Time // seconds of the time since
		want     string
	}{
		{"at first", now - 1, 0, 0, "late"},
		{"it failed", now - 20, 3, 0, "late"},
		{"it fails for long", now - 40, 6, 0, ""},
		{"the batch system was away for most of that", now - 40, 6, 30, "late"},
		{"it was told, and did not end", now - 40, 0, 0, "late"},
		{"an earlier release decided it", 0, 6, 0, "late"},
	} {
		r := runs(0, now)
		r.Phase, r.Why, r.Ends, r.Failures = managed.Ending, "late", c.decided, c.failures
		d := about(r, pool(*r.Seen), func(s *Situation) {
			if c.outage > 0 {
				s.Outages.Known = []managed.Outage{{From: now - 5 - c.outage, To: now - 5}}
			}
		})
		why := d.Do.Calls[0].(actions.End).Why
		if untold := len(d.Do.Then.Events) > 0; why != c.want || untold != (c.want == "") {
			t.Errorf("%s: it is ended with %q, event %t, want %q", c.name, why, untold, c.want)
		}
	}
}
