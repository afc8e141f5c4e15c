package decide

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/sched"
	"accordion/shim/wire"
)

// `now` is the second at which these tests make all decisions: 2026-01-05 12:00:00 UTC.
const now core.Time = 1_767_614_400

// `at` returns the instant a number of seconds after now.
func at(seconds core.Time) time.Time { return time.Unix(now+seconds, 0) }

func init() { time.Local = time.UTC } // because decisions contain times of day

// A scene is a job, and everything on which the decision about the job depends. The pool has eight
// nodes, n1 to n8. The options of a row change the scene.
type scene struct {
	job      *managed.Job
	snapshot adapter.Snapshot
	others   []*managed.Job // more managed jobs
	settings managed.Settings
	s        Situation
	ends     *end // how the decided operation ends; nil if the row does not say how
}

// end is how an operation ended.
type end struct {
	got   actions.Result
	err   error
	after core.Time // seconds
}

func (e *end) String() string {
	if e.err != nil {
		return "failure"
	}
	return "success"
}

type option func(*scene)

// profile is the profile of most jobs in these tests.
var profile = []core.EP{{{Duration: 100, Nodes: 2}, {Duration: 100, Nodes: 5}, {Duration: 100, Nodes: 1}}}

// `set` returns a scene with the job in an idle pool, and applies the options.
func set(job *managed.Job, options ...option) *scene {
	c := &scene{
		job:      job,
		snapshot: adapter.Snapshot{At: at(0)},
		settings: managed.Settings{
			Policy: sched.Repeated{}, StartLead: 4, Overrun: managed.Overrun{Least: 30, Grace: 10, Signal: "B:TERM"},
			Silent: managed.Silent{Notice: 10, Signal: "B:USR1"},
		},
		s: Situation{
			Now: at(0), Tending: func(string) bool { return false },
			Reserved: func(string) (adapter.Reservation, bool) { return adapter.Reservation{}, false },
		},
	}
	for i := range 8 {
		c.snapshot.Nodes = append(c.snapshot.Nodes, adapter.Node{Name: fmt.Sprintf("n%d", i+1), Usable: true, Idle: true})
	}
	for _, o := range options {
		o(c)
	}
	return c
}

// decide plans for the scene and decides about its job.
func (c *scene) decide() Decision {
	held := map[string]bool{}
	c.snapshot.Jobs = append(c.snapshot.Jobs, *c.job.Seen)
	jobs := []*managed.Job{c.job}
	for _, r := range c.others {
		c.snapshot.Jobs, jobs = append(c.snapshot.Jobs, *r.Seen), append(jobs, r)
	}
	for _, j := range c.snapshot.Jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	for i := range c.snapshot.Nodes {
		if held[c.snapshot.Nodes[i].Name] {
			c.snapshot.Nodes[i].Idle = false
		}
	}
	c.s.World = plan.Make(plan.Input{
		Now: now, Instant: at(0), Snapshot: &c.snapshot, Jobs: jobs, Settled: true, Settings: c.settings,
		OutOfService: func(n adapter.Node) bool { return n.Away }, Fresh: func(*managed.Job) bool { return true },
		OverLimit: func(user string) bool { return user == "wasteful" },
	})
	c.s.World.Apply()
	return About(c.job, c.s)
}

// follows returns the outcome of the operation's end.
func (c *scene) follows(op *Operation) Outcome {
	if c.ends.err != nil {
		return Failed(c.job, op, c.ends.got, c.ends.err, c.snapshot.Nodes, at(c.ends.after))
	}
	return Succeeded(c.job, op, c.ends.got, c.settings, at(c.ends.after))
}

// Builders of jobs. Each job has the ID 7.

// `waiting` returns a job that was adopted and is held.
func waiting() *managed.Job {
	return managed.New(&adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending, Held: true, Mark: "accordion:ep"}, "ep=2x100s,5x100s,1x100s", profile)
}

// `starting` returns a job that was released a second ago, to start on n1 and n2.
func starting() *managed.Job {
	r := waiting()
	r.Seen.Held = false
	r.Phase, r.Decided, r.Planned, r.Nodes, r.Attached, r.ReleasedAt = managed.Starting, true, now-1, []string{"n1", "n2"}, true, at(-1)
	r.Promise = []core.Time{now + 99, now + 199, now + 299}
	return r
}

// `running` returns a job in the given step (0 to 2), which is promised to end in `left` seconds.
// Its application calls `accordion step`.
func running(step int, left core.Time) *managed.Job {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}[:profile[0][step].Nodes]
	r := managed.New(&adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Running, Mark: "accordion:ep", Nodes: nodes}, "ep=2x100s,5x100s,1x100s", profile)
	began := now + left - 100*core.Time(step+1)
	r.Phase, r.Step, r.Target, r.Began, r.Planned, r.StepCalls, r.Nodes = managed.Running, step, step, began, began, managed.StepCallsMade, nodes
	r.Promise = []core.Time{began + 100, began + 200, began + 300}
	r.PlannedEnd = r.Due()
	return r
}

// `asking` returns a running job whose application has waited for the next step for `since`
// seconds.
func asking(r *managed.Job, since core.Time) *managed.Job {
	r.Question = &managed.Question{At: at(-since), Request: wire.Request{}}
	return r
}

// `late` returns a job whose first step should have ended `seconds` ago.
func late(seconds core.Time) *managed.Job {
	r := running(0, -seconds)
	r.Late = true
	return r
}

// `silent` returns a running job that never calls `accordion step`, and whose hosts file is up to
// date.
func silent(r *managed.Job) *managed.Job {
	r.StepCalls, r.HostsWritten = managed.StepCallsNever, r.Generation+1
	return r
}

// `ending` returns a late job. The sidecar decided `since` seconds ago to end it, and `failures`
// calls to end it have failed.
func ending(since core.Time, failures int) *managed.Job {
	r := running(0, 0)
	r.Phase, r.EndReason, r.EndDecidedAt, r.Failures = managed.Ending, "it was late", now-since, failures
	return r
}

// rigid returns a rigid job of 60 seconds on the given number of nodes, which waits at the gate.
func rigid(nodes int) *managed.Job {
	j := &adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending, Rigid: true, Held: true, Priority: 5, Want: nodes, Limit: 60}
	return managed.New(j, adapter.RequestOfRigid(j), []core.EP{{{Nodes: nodes, Duration: 60}}})
}

// forgetful returns a job whose last resize the batch system forgot `since` seconds ago. The job
// now has the nodes `holds`, and had the nodes `held` after the resize.
func forgetful(r *managed.Job, since core.Time, holds, held []string) *managed.Job {
	r.Nodes, r.Seen.Nodes, r.NodesForgotten, r.ForgottenAt = holds, holds, held, now-since
	return r
}

// Options, which change a scene.

// `with` changes the job.
func with(change func(r *managed.Job)) option { return func(c *scene) { change(c.job) } }

// seen changes the job as the batch system shows it.
func seen(change func(j *adapter.Job)) option { return func(c *scene) { change(c.job.Seen) } }

// ordinary adds an ordinary job that holds the nodes, and reaches its time limit in `left` seconds.
func ordinary(left core.Time, nodes ...string) option {
	return func(c *scene) {
		c.snapshot.Jobs = append(c.snapshot.Jobs, adapter.Job{Key: adapter.Key{ID: 3}, State: adapter.Running, Nodes: nodes, Started: now - 60, Limit: 60 + left})
	}
}

// reserved adds a reservation of others on the nodes, which begins in `in` seconds and lasts 600
// seconds.
func reserved(in core.Time, strict bool, nodes ...string) option {
	return func(c *scene) {
		c.snapshot.Reservations = append(c.snapshot.Reservations, adapter.Reservation{
			Name: "repair", User: "root", Nodes: nodes, Start: now + in, End: now + in + 600, Strict: strict,
		})
	}
}

// node changes some nodes.
func node(change func(n *adapter.Node), names ...string) option {
	return func(c *scene) {
		for i := range c.snapshot.Nodes {
			if contains(names, c.snapshot.Nodes[i].Name) {
				change(&c.snapshot.Nodes[i])
			}
		}
	}
}

// asleep powers nodes down.
func asleep(names ...string) option {
	return node(func(n *adapter.Node) { n.Asleep, n.Why = true, "IDLE+POWERED_DOWN" }, names...)
}

// powering boots nodes that were powered down.
func powering(names ...string) option {
	return node(func(n *adapter.Node) { n.Asleep, n.Why = true, "IDLE+POWERING_UP" }, names...)
}

// hiddenNodes hides the states of nodes from users.
func hiddenNodes(c *scene) { c.snapshot.Hidden.Nodes = true }

// outage makes the batch system unreachable between two seconds.
func outage(from, to core.Time) option {
	return func(c *scene) {
		c.s.Outages.Known = append(c.s.Outages.Known, managed.Outage{From: now + from, To: now + to})
	}
}

// tending adds a call under way for the job's reservation for the given step.
func tending(step int) option {
	return func(c *scene) { c.s.Tending = func(name string) bool { return name == c.job.Reservation(step) } }
}

// `trapped` forbids resizes for the next second.
func trapped(c *scene) { c.s.Trapped = at(1) }

// `awaited` adds another job that waits for nodes of the job.
func awaited(c *scene) { c.s.Awaited = map[core.JobID]uint32{c.job.ID: 1000} }

// limits sets the values of the [limits] section.
func limits(l managed.Limits) option { return func(c *scene) { c.settings.Limits = l } }

// deadline sets the latest second at which the job may start, and a deadline 300 s after that
// second.
func deadline(latest core.Time) option {
	return seen(func(j *adapter.Job) { j.Latest, j.Deadline = now+latest, now+latest+300 })
}

// `ok` ends the operation with the result `got` after `after` seconds.
func ok(after core.Time, got actions.Result) option {
	return func(c *scene) { c.ends = &end{got: got, after: after} }
}

// fails ends the operation with an error after one second.
func fails(err error) option {
	return func(c *scene) { c.ends = &end{err: err, after: 1} }
}

// launchFails ends a start with an error, although the call Launch was begun.
func launchFails(c *scene) {
	c.ends = &end{err: fmt.Errorf("release: %w", errTimeout), got: actions.Result{Launched: true}, after: 1}
}
