package decide

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/core"
)

var write = flag.Bool("accordion.write", false, "write the decisions of all situations into testdata/decisions; read the difference before you commit it")

// A row is a named situation.
type row struct {
	name string
	*scene
}

var (
	errTimeout = context.DeadlineExceeded
	errOther   = errors.New("slurm_update error: Unspecified error")
)

// `all` has the names of the nodes of the pool.
var all = []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"}

// decisions maps each file in testdata/decisions to the situations whose decisions it lists. Those
// files show best how the package decides.
var decisions = map[string]func() []row{
	"adoption":  adoption,
	"waiting":   waitingRows,
	"deadlines": deadlines,
	"starting":  startingRows,
	"growing":   growing,
	"shrinking": shrinking,
	"refused":   refused,
	"early":     early,
	"late":      lateRows,
	"outages":   outages,
	"silent":    silentRows,
	"lost":      lost,
	"rigid":     rigidRows,
	"ending":    endingRows,
}

func adoption() []row {
	return []row{
		{"a new job that its user submitted held", set(waiting(), seen(func(j *adapter.Job) { j.Mark = "" }))},
		{"… and the call succeeds", set(waiting(), seen(func(j *adapter.Job) { j.Mark = "" }), ok(1, actions.Result{}))},
		{"… and the call fails", set(waiting(), seen(func(j *adapter.Job) { j.Mark = "" }), fails(errOther))},
		{"a job that the batch system cannot resize", set(waiting(), seen(func(j *adapter.Job) { j.Unfit = "it is an array" }))},
		{"a job that needs more nodes than there are", set(waiting(), with(func(r *managed.Job) { r.Choices = []core.EP{{{Duration: 100, Nodes: 9}}} }))},
		{"a job that needs more nodes than its account may have", set(waiting(), seen(func(j *adapter.Job) { j.Most = adapter.NodeLimit{Nodes: 4, Why: "GrpTRES of account bio"} }))},
		{"a job with a step shorter than [limits] allows", set(waiting(), with(func(r *managed.Job) { r.StepLengthChecked = true }), limits(managed.Limits{ShortestStep: 101}))},
		{"… that was accepted before the limit was set", set(waiting(), limits(managed.Limits{ShortestStep: 101}))},
		{"a job that its user released before it was held", set(waiting(), seen(func(j *adapter.Job) { j.Held = false }))},
		{"a job that its user holds, too", set(waiting(), seen(func(j *adapter.Job) { j.HeldByUser = true }))},
		{"a job whose adoption was interrupted", set(waiting(), seen(func(j *adapter.Job) { j.Adopted, j.HeldBy = true, "an operator" }))},
		{"an adopted job that an operator holds", set(waiting(), with(func(r *managed.Job) { r.Adopted, r.Seen.Adopted, r.Seen.HeldBy = true, true, "an operator" }))},
		{"a job that was requeued and is held by others", set(waiting(), seen(func(j *adapter.Job) { j.HeldBy = "its owner or an operator" }))},
	}
}

func waitingRows() []row {
	down := func(n *adapter.Node) { n.Usable, n.Idle, n.Away, n.Why = false, false, true, "DOWN" }
	sentBack := with(func(r *managed.Job) { r.Reject("BadConstraints", now-5, "") })
	return []row{
		{"a job whose nodes are free", set(waiting())},
		{"a job of a user who left too many reserved nodes unused", set(waiting(), with(func(r *managed.Job) { r.User = "wasteful" }))},
		{"a moldable job, which starts with the size that ends first", set(waiting(), with(func(r *managed.Job) {
			r.Request, r.Choices = "mold=2x200s|4x110s", []core.EP{{{Duration: 200, Nodes: 2}}, {{Duration: 110, Nodes: 4}}}
		}))},
		{"a job whose reservation ahead is being written", set(waiting(), tending(0))},
		{"a job that depends on another job", set(waiting(), seen(func(j *adapter.Job) { j.Blocked, j.Why = true, "Dependency" }))},
		{"a job for which too few nodes are free", set(waiting(), ordinary(200, all...))},
		{"a job whose nodes an ordinary job holds past its limit", set(waiting(), ordinary(-10, all...))},
		{"a job whose nodes another managed job releases late", set(waiting(), ordinary(500, all[5:]...), lateShrinkerOn(all[:5]...))},
		{"a job whose nodes are powered down", set(waiting(), asleep(all...))},
		{"… and one of them is up", set(waiting(), asleep(all[1:]...))},
		{"… and one of them boots already", set(waiting(), asleep(all...), powering("n2"))},
		{"… and users may not see the states of nodes", set(waiting(), asleep(all...), hiddenNodes)},
		{"a job whose first step a limit of the site does not allow now", set(waiting(), seen(func(j *adapter.Job) { j.MostNow = adapter.NodeLimit{Nodes: 1, Why: "MaxTRES of the user"} }))},
		{"a job for which too many nodes are down", set(waiting(), node(down, all[2:]...))},
		{"a reservation of others begins in 100 s", set(waiting(), reserved(100, false, all...))},
		{"a reservation of others begins a second before the job's limit would end", set(waiting(), reserved(393, false, all...))},
		{"a reservation of others begins when the job's limit ends", set(waiting(), reserved(394, false, all...))},
		{"a reservation of others begins long after the job", set(waiting(), reserved(1000, false, all...))},
		{"maintenance begins on a node that the job would have released", set(waiting(), with(func(r *managed.Job) {
			r.Choices = []core.EP{{{Duration: 100, Nodes: 2}, {Duration: 400, Nodes: 1}}}
		}), reserved(300, true, all[1:]...))},
		{"a reservation of others comes again each day, too soon for the job", set(waiting(), with(func(r *managed.Job) {
			r.Choices = []core.EP{{{Duration: 90_000, Nodes: 2}}}
		}), func(c *scene) {
			daily := adapter.Reservation{Name: "course", User: "prof", Nodes: all, Start: now + 3600, End: now + 7200, Repeats: "DAILY"}
			for day := range core.Time(60) {
				daily.Later = append(daily.Later, adapter.Span{Start: daily.Start + (day+1)*86400, End: daily.End + (day+1)*86400})
			}
			c.snapshot.Reservations = append(c.snapshot.Reservations, daily)
		})},
		{"a job that the batch system sent back five seconds ago", set(waiting(), sentBack)},
		{"… and that is still tied to the reservation of its start", set(waiting(), sentBack, with(func(r *managed.Job) { r.Seen.Reservation = r.Reservation(0) }))},
		{"… and whose pause has ended", set(waiting(), with(func(r *managed.Job) { r.Rejected = managed.Rejection{Times: 1, Until: now} }))},
	}
}

// lateShrinkerOn adds a managed job that still holds nodes that it should have released by its
// promise.
func lateShrinkerOn(nodes ...string) option {
	return func(c *scene) {
		r := managed.New(&adapter.Job{Key: adapter.Key{ID: 8}, State: adapter.Running, Mark: "accordion:ep", Nodes: nodes}, "ep=5x100s,1x100s", []core.EP{{{Duration: 100, Nodes: 5}, {Duration: 100, Nodes: 1}}})
		r.Phase, r.Began, r.Planned, r.StepCalls, r.Nodes, r.Late = managed.Running, now-105, now-105, managed.StepCallsMade, nodes, true
		r.Promise = []core.Time{now - 5, now + 95}
		r.PlannedEnd = r.Due()
		c.others = append(c.others, r)
	}
}

// A job was planned to start after its deadline.
func deadlines() []row {
	return []row{
		{"there is room before the deadline", set(waiting(), deadline(100))},
		{"there is room at the last second", set(waiting(), deadline(4))},
		{"there is room later, and in time", set(waiting(), deadline(250), ordinary(200, all...))},
		{"there is room later, and too late", set(waiting(), deadline(150), ordinary(200, all...))},
		{"a start would take longer than is left", set(waiting(), deadline(3))},
		{"the deadline has passed by less than clocks differ", set(waiting(), deadline(-5))},
		{"the deadline has passed", set(waiting(), deadline(-6))},
		{"… and the job depends on another job", set(waiting(), deadline(-6), seen(func(j *adapter.Job) { j.Blocked, j.Why = true, "Dependency" }))},
		{"… and its owner holds it", set(waiting(), deadline(-6), seen(func(j *adapter.Job) { j.HeldByUser = true }))},
	}
}

func startingRows() []row {
	held := func(j *adapter.Job) { j.Held, j.Why = true, "BadConstraints" }
	return []row{
		{"a start succeeds", set(waiting(), ok(2, actions.Result{Launched: true}))},
		{"a start fails before its launch", set(waiting(), fails(errOther))},
		{"… for the second time", set(waiting(), with(func(r *managed.Job) { r.Failures = 1 }), fails(errOther))},
		{"a start fails after its launch was begun", set(waiting(), launchFails)},
		{"a released job has not started yet", set(starting(), seen(func(j *adapter.Job) { j.Why = "Resources" }))},
		{"a released job runs, and its record does not have that yet", set(starting(), seen(func(j *adapter.Job) { j.State = adapter.Running }))},
		{"a released job is held again by the batch system", set(starting(), seen(held))},
		{"a job is held because the sidecar ended before it released it", set(starting(), seen(held), with(func(r *managed.Job) { r.ReleasedAt = time.Time{} }))},
		{"a job is held because the batch system refused to release it", set(starting(), seen(held), with(func(r *managed.Job) { r.ReleasedAt, r.Failures = time.Time{}, 1 }))},
		{"an operator holds a released job", set(starting(), seen(func(j *adapter.Job) { j.Held, j.HeldBy = true, "an operator" }))},
		{"… and it was taken back", set(starting(), seen(func(j *adapter.Job) { j.Held, j.HeldBy = true, "an operator" }), ok(1, actions.Result{}))},
		{"a released job has lost a node before it started", set(starting(), node(func(n *adapter.Node) { n.Usable, n.Idle, n.Lost = false, false, true }, "n2"))},
		{"a released job has not started for a minute", set(starting(), with(func(r *managed.Job) { r.Planned = now - 60 }))},
		{"… and it was taken back", set(starting(), with(func(r *managed.Job) { r.Planned = now - 60 }), ok(1, actions.Result{}))},
		{"a released job has not started for a minute, of which the batch system was away for 30 s", set(starting(), with(func(r *managed.Job) { r.Planned = now - 60 }), outage(-50, -20))},
		{"a job has started in its reservation", set(running(0, 50), with(func(r *managed.Job) { r.Attached = true }))},
		{"… and was untied from it", set(running(0, 50), with(func(r *managed.Job) { r.Attached = true }), ok(1, actions.Result{}))},
	}
}

func growing() []row {
	asks := func() *managed.Job { return asking(running(0, 0), 0) }
	reservedAhead := func(c *scene) {
		c.s.Reserved = func(name string) (adapter.Reservation, bool) {
			return adapter.Reservation{Name: name, Nodes: all[2:5], Start: now - 10, End: now + 600}, true
		}
	}
	limited := seen(func(j *adapter.Job) { j.Started, j.Limit = now-100, 400 })
	parts := []adapter.Part{{Job: 7, Nodes: all[:2]}, {Job: 9, Nodes: all[2:5]}}
	return []row{
		{"a job asks for 3 more nodes, which are free", set(asks())},
		{"a job asks for 3 more nodes, which are reserved for it", set(asks(), reservedAhead)},
		{"a job asks for 3 more nodes and 2 are free", set(asks(), ordinary(-10, all[4:]...))},
		{"a job asks for 3 more nodes, which another managed job releases late", set(asks(), lateShrinkerOn(all[2:7]...))},
		{"a job asks for 3 more nodes, which are not idle though no job holds them", set(asks(), node(func(n *adapter.Node) { n.Idle = false }, all[2:]...))},
		{"a job asks for 3 more nodes, and there are only 4 in all", set(asks(), node(func(n *adapter.Node) { n.Usable, n.Idle, n.Away, n.Lost = false, false, true, true }, all[4:]...))},
		{"a job asks for 3 more nodes, which are powered down", set(asks(), asleep(all[2:]...))},
		{"a job asks for 3 more nodes, of which it released one in this second", set(asks(), with(func(r *managed.Job) {
			r.SetNodes([]string{"n1", "n2", "n3"}, now)
			r.SetNodes([]string{"n1", "n2"}, now)
		}))},
		{"a job asks for 3 more nodes, and a limit of the site allows 3 in all now", set(asks(), seen(func(j *adapter.Job) { j.MostNow = adapter.NodeLimit{Nodes: 3, Why: "GrpTRES of account bio"} }))},
		{"a job asks for more nodes, and has changed its size too often", set(asks(), with(func(r *managed.Job) { r.PacedUntil = now + 1000 }), limits(managed.Limits{ResizesPerHour: 10}))},
		{"maintenance begins on the new nodes before the job's limit ends", set(asks(), limited, reserved(220, true, all[1:]...))},
		{"another reservation begins on the new nodes before the job's limit ends", set(asks(), limited, reserved(220, false, all[1:]...))},
		{"maintenance begins on the new nodes after the job's limit has ended", set(asks(), limited, reserved(301, true, all[1:]...))},
		{"a call for the reservation of the growth is under way", set(asks(), tending(1))},
		{"the batch system does not resize now", set(asks(), trapped)},
		{"a growth succeeds in time", set(asks(), ok(1, actions.Result{}))},
		{"a growth succeeds late, after it waited for an ordinary job", set(asking(running(0, -20), 20), with(func(r *managed.Job) { r.WaitFor(managed.OrdinaryOverrun, now-20) }), ok(1, actions.Result{}))},
		{"a growth succeeds late, and the sidecar had stood still for most of that", set(asking(running(0, -20), 20), with(func(r *managed.Job) { r.StandstillSeconds = 15 }), ok(1, actions.Result{}))},
		{"a growth succeeds, and the new nodes are in a second allocation", set(asks(), ok(1, actions.Result{Parts: parts}))},
		{"a growth succeeds, and resizes are limited", set(asks(), limits(managed.Limits{ResizesPerHour: 10}), ok(1, actions.Result{}))},
		{"a growth succeeds, after the application asked late", set(asking(running(0, -20), 3), ok(1, actions.Result{}))},
	}
}

func shrinking() []row {
	asks := func() *managed.Job { return asking(running(1, 0), 0) }
	script := seen(func(j *adapter.Job) { j.Nodes = []string{"n3", "n1", "n2", "n4", "n5"} })
	return []row{
		{"a job asks to give back 4 of its 5 nodes", set(asks())},
		{"… and the batch system takes another node for the one that runs the script", set(asks(), script)},
		{"… and the batch system does not resize now", set(asks(), trapped)},
		{"… and has changed its size too often, which does not matter", set(asks(), with(func(r *managed.Job) { r.PacedUntil = now + 1000 }), limits(managed.Limits{ResizesPerHour: 10}))},
		{"… and the shrink succeeds", set(asks(), ok(1, actions.Result{}))},
		{"… and the shrink fails", set(asks(), fails(errOther))},
		{"a job asks to give back nodes that it has lost already", set(asks(), with(func(r *managed.Job) { r.Nodes, r.Seen.Nodes = all[:1], all[:1] }))},
	}
}

func refused() []row {
	asks := func() *managed.Job { return asking(running(0, 0), 0) }
	frozen := func(since core.Time) option { return with(func(r *managed.Job) { r.FrozenSince = now - since }) }
	return []row{
		{"a growth is refused because its nodes are busy", set(asks(), fails(adapter.ErrBusy))},
		{"a growth is refused because its nodes are reserved for others", set(asks(), fails(adapter.ErrReserved))},
		{"a growth is refused because a resize would go wrong now", set(asks(), fails(adapter.ErrTrap))},
		{"a growth is refused by a limit of the site", set(asks(), fails(adapter.ErrLimit))},
		{"a growth is refused because the partition takes no jobs", set(asks(), fails(adapter.ErrShut))},
		{"a growth fails because the job is gone", set(asks(), fails(adapter.ErrGone))},
		{"a growth is refused because the job cannot be changed", set(asks(), fails(adapter.ErrFrozen))},
		{"… for 30 s now", set(asks(), frozen(30), fails(adapter.ErrFrozen))},
		{"… for 30 s, and now it fails for another reason", set(asks(), frozen(30), fails(errOther))},
		{"a growth fails for the first time", set(asks(), fails(errOther))},
		{"a growth fails for the fifth time", set(asks(), with(func(r *managed.Job) { r.Failures = 4 }), fails(errOther))},
		{"a growth fails for the hundredth time", set(asks(), with(func(r *managed.Job) { r.Failures = 99 }), fails(errOther))},
	}
}

func early() []row {
	return []row{
		{"a job is in the middle of its step", set(running(0, 50))},
		{"a job asks 50 s early", set(asking(running(0, 50), 0))},
		{"a job in its last step asks", set(asking(running(2, 0), 0))},
		{"a job's limit is to be lengthened", set(running(0, 50), with(func(r *managed.Job) { r.WantedLimit = 600 }))},
		{"an operator has suspended a job", set(asking(running(0, -31), 0), seen(func(j *adapter.Job) { j.Suspended = true }))},
		{"a job is to read something in its output", set(running(0, 50), with(func(r *managed.Job) { r.Message = "the limit of this job was shortened" }))},
		{"… and has read it", set(running(0, 50), with(func(r *managed.Job) { r.Message = "the limit of this job was shortened" }), ok(1, actions.Result{}))},
		{"a job with a hosts file is to read something in its output", set(running(0, 50), with(func(r *managed.Job) { r.Message, r.HostsWritten = "the limit of this job was shortened", 1 }))},
		{"it is not known whether a job asks for its steps", set(running(0, 50), with(func(r *managed.Job) { r.StepCalls = managed.StepCallsUnknown }))},
		{"… and its script does", set(running(0, 50), with(func(r *managed.Job) { r.StepCalls = managed.StepCallsUnknown }), ok(1, actions.Result{}))},
		{"… and its script does not", set(running(0, 50), with(func(r *managed.Job) { r.StepCalls = managed.StepCallsUnknown }), ok(1, actions.Result{Silent: true}))},
	}
}

func lateRows() []row {
	warned := func(ago core.Time) option { return with(func(r *managed.Job) { r.WarnedAt = now - ago }) }
	return []row{
		{"a job is 5 s late", set(late(5))},
		{"… and another job waits for its nodes", set(late(5), awaited)},
		{"… and its limit is near", set(late(5), with(func(r *managed.Job) { r.Limit, r.Seen.Limit = 113, 113 }))},
		{"… and it has used most of its allowance before", set(late(5), with(func(r *managed.Job) { r.OverrunUsed = 20 }))},
		{"a job has used up its allowance", set(late(31))},
		{"another job has waited for the nodes for the grace", set(late(15), awaited, warned(10))},
		{"… of which the batch system was away for a while", set(late(15), awaited, warned(10), outage(-9, -3), with(func(r *managed.Job) { r.ProgramsReadAt = now - 1 }))},
	}
}

func outages() []row {
	looked := func(ago core.Time) option { return with(func(r *managed.Job) { r.ProgramsReadAt = now - ago }) }
	stalled := with(func(r *managed.Job) { r.Late, r.OutageCost = false, 66 })
	return []row{
		{"a job has used up its allowance, and an outage may still keep a program of it from starting", set(late(31), outage(-90, -80))},
		{"… and its programs were read", set(late(31), outage(-90, -80), ok(1, actions.Result{Programs: &adapter.Programs{Begun: []core.Time{now - 85}}}))},
		{"… and its programs were read 2 s ago", set(late(31), outage(-90, -80), looked(2))},
		{"… and the outage was long before its step", set(late(31), outage(-190, -180))},
		{"a job is late because of an outage", set(late(5), stalled, outage(-90, -80))},
		{"… and its user was told so", set(late(5), stalled, outage(-90, -80), with(func(r *managed.Job) { r.OutageTold = true }))},
		{"a job grows after an outage kept it from asking in time", set(asking(running(0, -20), 3), with(func(r *managed.Job) { r.OutageCost = 40 }), outage(-90, -80), ok(1, actions.Result{}))},
	}
}

func silentRows() []row {
	grown := func() *managed.Job { return silent(running(1, 50)) }
	untold := with(func(r *managed.Job) { r.HostsWritten = r.Generation })
	unwritten := func(before int) option { return with(func(r *managed.Job) { r.HostsFailures = before }) }
	cannot := ok(1, actions.Result{Unwritten: "disk full"})
	shrinkTold := func(notBefore core.Time) option {
		return with(func(r *managed.Job) { r.ShrinkTold, r.NoShrinkBefore = true, notBefore })
	}
	return []row{
		{"a silent job has no hosts file yet", set(silent(running(0, 50)), untold)},
		{"… and it was written", set(silent(running(0, 50)), untold, ok(1, actions.Result{}))},
		{"… and it was written elsewhere", set(silent(running(0, 50)), untold, ok(1, actions.Result{Elsewhere: "/tmp/accordion-1000/hosts.7"}))},
		{"… and it could not be written", set(silent(running(0, 50)), untold, cannot)},
		{"a hosts file that could not be written twice is tried again", set(silent(running(0, 50)), untold, unwritten(2))},
		{"… in vain", set(silent(running(0, 50)), untold, unwritten(2), cannot)},
		{"… and its user was told before", set(silent(running(0, 50)), untold, unwritten(3))},
		{"a silent job has grown", set(grown(), with(func(r *managed.Job) { r.Generation, r.HostsWritten = 1, 1 }))},
		{"a silent job grows at its planned second", set(silent(running(0, 0)))},
		{"a silent job is to shrink in more than 10 s", set(silent(running(1, 11)))},
		{"a silent job is to shrink in 10 s", set(silent(running(1, 10)))},
		{"… and it was told in time", set(silent(running(1, 10)), ok(1, actions.Result{}))},
		{"… and it was told a second before", set(silent(running(1, 10)), ok(9, actions.Result{}))},
		{"… and it could not be told", set(silent(running(1, 10)), unwritten(2), cannot)},
		{"a silent job shrinks at its planned second", set(silent(running(1, 0)), shrinkTold(0))},
		{"… and was told late", set(silent(running(1, 0)), shrinkTold(now+1))},
		{"a silent job in its last step", set(silent(running(2, 50)))},
	}
}

func lost() []row {
	lostOne := with(func(r *managed.Job) { r.Nodes, r.Seen.Nodes = all[:1], all[:1]; r.LoseNodes(all[1:2]) })
	regrow := func(since core.Time) *managed.Job { return forgetful(running(0, 50), since, all[:1], all[:2]) }
	reshrink := func() *managed.Job { return forgetful(running(0, 50), 1, all[:5], all[:2]) }
	return []row{
		{"a job that asks for its steps has lost a node", set(running(0, 50), lostOne)},
		{"… and was told", set(running(0, 50), lostOne, ok(1, actions.Result{}))},
		{"a silent job has lost a node", set(silent(running(0, 50)), lostOne)},
		{"the batch system forgot a growth", set(regrow(1))},
		{"… and it was done again", set(regrow(1), ok(1, actions.Result{}))},
		{"… and doing it again fails", set(regrow(1), fails(errOther))},
		{"… and the node is not idle", set(regrow(1), node(func(n *adapter.Node) { n.Idle = false }, "n2"))},
		{"… and the node is down", set(regrow(1), node(func(n *adapter.Node) { n.Usable, n.Idle, n.Lost = false, false, true }, "n2"))},
		{"… more than a minute ago", set(regrow(61))},
		{"… more than a minute ago, of which the batch system was away for 30 s", set(regrow(61), outage(-50, -20))},
		{"… and the batch system does not resize now", set(regrow(1), trapped)},
		{"… and a call for the reservation is under way", set(regrow(1), tending(0))},
		{"the batch system forgot a shrink", set(reshrink())},
		{"… and it was done again", set(reshrink(), ok(1, actions.Result{}))},
		{"the batch system forgot a growth, and the job asks for its next step, which needs more nodes", set(asking(forgetful(running(0, 0), 0, all[:1], all[:2]), 0))},
		{"the batch system forgot a growth, and the job asks for its next step, which needs the nodes that it has", set(asking(forgetful(running(1, 0), 0, all[:1], all[:5]), 0))},
	}
}

func rigidRows() []row {
	six := ordinary(90, all[:6]...)
	first := func(c *scene) { // an ordinary job ahead of the job in the queue
		c.snapshot.Jobs = append(c.snapshot.Jobs, adapter.Job{Key: adapter.Key{ID: 2}, State: adapter.Pending, Want: 8, Limit: 60, Priority: 9})
	}
	inQueue := func(why string) option { return seen(func(j *adapter.Job) { j.Held, j.Why = false, why }) }
	return []row{
		{"a rigid job that fits", set(rigid(2), six)},
		{"… and was let in", set(rigid(2), six, ok(1, actions.Result{}))},
		{"a rigid job that is the next, and has to wait", set(rigid(8), six)},
		{"a rigid job that fits before an ordinary one", set(rigid(2), six, first)},
		{"a rigid job that is in the batch system's queue", set(rigid(2), six, inQueue("Resources"))},
		{"a rigid job that was let in 50 s ago", set(rigid(8), six, inQueue(""), with(func(r *managed.Job) { r.AdmittedAt = now - 50 }))},
		{"a rigid job that is in the batch system's queue before its turn", set(rigid(9), six, inQueue(""))},
		{"a rigid job that depends on another", set(rigid(2), six, seen(func(j *adapter.Job) { j.Blocked, j.Why = true, "Dependency" }))},
		{"a rigid job in the queue that a limit of the site keeps from starting", set(rigid(2), six, inQueue("AssocGrpNodeLimit"), seen(func(j *adapter.Job) { j.Blocked = true }))},
		{"a rigid job that its owner holds", set(rigid(2), six, seen(func(j *adapter.Job) { j.HeldByUser, j.Priority = true, 0 }))},
		{"a rigid job that an operator holds", set(rigid(2), six, seen(func(j *adapter.Job) { j.Priority = 0 }))},
		{"a rigid job that needs more nodes than there are", set(rigid(9), six)},
	}
}

func endingRows() []row {
	return []row{
		{"a job that is to end", set(ending(1, 0))},
		{"… and was told so, and has not ended", set(ending(40, 0))},
		{"… and the call has succeeded", set(ending(1, 0), ok(1, actions.Result{}))},
		{"… and the call fails", set(ending(1, 0), fails(errOther))},
		{"… and could not be told why for 20 s", set(ending(20, 3))},
		{"… and could not be told why for 40 s", set(ending(40, 6))},
		{"… and could not be told why for 40 s, of which the batch system was away for 30", set(ending(40, 6), outage(-35, -5))},
		{"a job whose end an earlier release of the sidecar decided", set(ending(now, 6))},
	}
}

// TestDecisions compares what is decided in each situation with testdata/decisions. If a row says
// how the operation ends, the file also has the outcome, and the job's state after it.
func TestDecisions(t *testing.T) {
	rows := 0
	for file, situations := range decisions {
		rows += len(situations())
		t.Run(file, func(t *testing.T) {
			name := "testdata/decisions/" + file + ".golden"
			got := written(t, situations())
			if *write {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
				t.Errorf("%v; -accordion.write writes it again (-file +decided):\n%s", err, diff)
			}
		})
	}
	if rows < 80 {
		t.Errorf("there are %d situations", rows)
	}
}

// written returns the text of a file of testdata/decisions.
func written(t *testing.T, rows []row) string {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s\n", row.name)
		d := row.decide()
		switch {
		case row.ends == nil && cmp.Equal(d, Decision{}):
			line(&b, "nothing", "is done")
		case row.ends == nil:
			d.print(&b)
		case d.Do == nil:
			t.Errorf("%s: there is no operation that could end", row.name)
		default:
			line(&b, "ended", fmt.Sprintf("%s: %s", d.Do.Verb, row.ends))
			row.job.Apply(d.Changes)
			o := row.follows(d.Do)
			o.print(&b, "")
			row.job.Apply(o.Changes)
			line(&b, "the job", stands(row.job))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stands describes the state of a job.
func stands(r *managed.Job) string {
	if r.Phase != managed.Running {
		return strings.TrimSuffix(fmt.Sprintf("%s on %s", r.Phase, nodesOf(r.Nodes)), " on ")
	}
	return fmt.Sprintf("runs in step %d of %d until %s on %s", r.Step+1, len(r.EP()), value(r.Due()), nodesOf(r.Nodes))
}

// A decision is plain data. The same situation gives the same decision, and About, Succeeded and
// Failed do not change the job.
func TestADecisionIsDataAndChangesNothing(t *testing.T) {
	for file, situations := range decisions {
		again := situations()
		for i, row := range situations() {
			d := row.decide()
			before, record := *row.job, encoded(t, row.job)
			if other := again[i].decide(); !cmp.Equal(d, other) {
				t.Errorf("%s: %s: decided twice:\n%s", file, row.name, cmp.Diff(d, other))
			}
			if About(row.job, row.s); row.ends != nil && d.Do != nil {
				row.follows(d.Do)
			}
			everything := cmp.Exporter(func(reflect.Type) bool { return true })
			if diff := cmp.Diff(before, *row.job, everything, cmpopts.IgnoreTypes(&managed.Question{})); diff != "" || encoded(t, row.job) != record {
				t.Errorf("%s: %s: the job is changed:\n%s", file, row.name, diff)
			}
		}
	}
}

func encoded(t *testing.T, r *managed.Job) string {
	t.Helper()
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
