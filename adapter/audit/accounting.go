package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/hostlist"
)

// accounting compares accounting with the journal, and with itself.
func (j *judge) accounting() {
	j.twoJobs()
	j.unclosed()
	for _, b := range j.Accounting.Jobs {
		if b.Expands == 0 && b.Lost > j.byOthers(b) {
			j.find(Finding{Kind: Lost, Job: int64(b.ID), At: began(b), Do: seeAccounting(b.ID),
				Text: fmt.Sprintf("its size changed twice within one second, %d times: accounting has lost what came after", b.Lost)})
		}
		if len(b.Twice) > 0 {
			j.find(Finding{Kind: Twice, Job: int64(b.ID), At: began(b), Do: seeAccounting(b.ID),
				Text: "accounting has steps of it twice: " + strings.Join(b.Twice, ", ")})
		}
	}
	for _, r := range j.history.runs {
		j.compare(r)
	}
	j.hours()
}

// byOthers returns how many changes of a job's nodes were not made by the sidecar. A node may be
// lost in the second in which the job began or grew.
func (j *judge) byOthers(b adapter.AccountedRun) (count int) {
	for _, r := range j.history.runs {
		if r.key.ID != b.ID {
			continue
		}
		for _, c := range r.changes {
			if c.verb == "changed" {
				count++
			}
		}
	}
	return count
}

// seeAccounting returns the command that shows what accounting recorded about a job.
func seeAccounting(job core.JobID) string {
	return fmt.Sprintf("compare `accordion journal --job %d` with `sacct -D -j %d`, under OAR with oarstat -fj %[1]d; only the database's administrator can correct it", job, job)
}

// settling is the number of seconds that accounting may take to record an event.
const settling = 10

// lingers is the number of seconds for which a companion may hold nodes after the end of its job. The sidecar ends the companion after its
// next reading.
const lingers = 60

// began returns the first second at which a job held nodes according to accounting, and 0 if it held
// none.
func began(b adapter.AccountedRun) core.Time {
	if len(b.Holds) == 0 {
		return 0
	}
	return b.Holds[0].From
}

// unclosed finds accounting rows without an end time whose job has ended.
func (j *judge) unclosed() {
	if j.Current == nil {
		return
	}
	live := map[core.JobID]bool{}
	for _, job := range j.Current.Jobs {
		live[job.ID] = job.State != adapter.Done
	}
	for _, b := range j.Accounting.Jobs {
		switch f := (Finding{Kind: Open, Job: int64(b.ID), At: b.Submitted, Do: "`sacctmgr show runawayjobs` closes such rows"}); {
		case live[b.ID]:
		case b.Dangling: // Slurm 20.11 to 24.11 never close the row of a merged expander; the row adds no node-seconds
			j.report.Dangling++
		case b.Open:
			f.Text = fmt.Sprintf("accounting has it as %s without an end, and it has ended", b.State)
			j.find(f)
		case b.State == "RESIZING" && (b.Expands == 0 || b.Stays):
			f.Text = "its last row in accounting reads RESIZING, and it has ended"
			j.find(f)
		}
	}
}

// booked returns the run in accounting that began at the same time as the journal's run r. It
// returns nil if there is no such run.
func (j *judge) booked(r *run) *adapter.AccountedRun {
	if j.Accounting == nil {
		return nil
	}
	for _, b := range j.index.byID[r.key.ID] {
		if b.Expands == 0 && len(b.Holds) > 0 && abs(b.Holds[0].From-r.began) <= grain+j.Accounting.Grain {
			return b
		}
	}
	return nil
}

// endedAtOnce reports whether the run held nodes for less than a second according to accounting.
func (j *judge) endedAtOnce(r *run) bool {
	return r.ended.Unix()-r.began <= settling && slices.ContainsFunc(j.index.byID[r.key.ID], func(b *adapter.AccountedRun) bool {
		return b.Submitted == r.key.Submitted && len(b.Holds) == 0 && !b.Open
	})
}

// compare compares one run of the journal with its rows in accounting.
func (j *judge) compare(r *run) {
	if r.rigid || r.began < j.From || len(r.changes) == 0 {
		return
	}
	b := j.booked(r)
	switch {
	case b == nil && (r.ended.IsZero() || r.ended.Unix()-r.began <= 2*grain || j.endedAtOnce(r) || j.troubled(r.began, r.ended.Unix())):
		return // accounting does not have the run yet, the run ended immediately, or the batch system forgot the run after a crash
	case b == nil:
		j.find(Finding{Kind: Missing, Job: int64(r.key.ID), At: r.began, Do: "see slurmdbd's log for lost messages, and `sacctmgr show stats`",
			Text: fmt.Sprintf("it ran from then for %s, and accounting has no row of it", lasted(r.ended.Unix()-r.began))})
		return
	case r.ended.IsZero() || b.Open:
		return
	}
	held := j.all(b)
	end := b.Holds[len(b.Holds)-1].To // companions end a moment after their job
	if saw := r.ended.Unix(); saw > end+patience && !j.troubled(end-grain, saw) || saw < end-settling && !r.again {
		j.find(Finding{Kind: End, Job: int64(r.key.ID), At: end, Do: seeAccounting(r.key.ID),
			Text: "accounting ends it then, and the sidecar saw its end " + apart(saw-end)})
		return
	}
	j.outlives(b, end)
	j.unbooked(r, held, end)
	if j.unannounced(r, b, held, end) {
		return // the other comparisons would fail for the same reason
	}
	j.sizes(r, held, end)
	j.sum(r, b, end)
}

// all returns which nodes were held at which times, sorted by time, by a job and by the allocations
// made for the job.
func (j *judge) all(b *adapter.AccountedRun) []adapter.Hold {
	held := slices.Clone(b.Holds)
	for _, other := range j.index.made[b] {
		if other.Stays || other.Merged {
			held = append(held, other.Holds...)
		}
	}
	slices.SortStableFunc(held, func(a, b adapter.Hold) int { return int(a.From - b.From) })
	return held
}

// unannounced finds the first second at which the nodes of a job changed without an explanation in the journal. An explanation is an
// action of the sidecar at about that second, or an event that someone else changed the nodes.
func (j *judge) unannounced(r *run, b *adapter.AccountedRun, held []adapter.Hold, end core.Time) bool {
	var seconds []core.Time
	for _, h := range held {
		seconds = append(seconds, h.From, h.To)
	}
	slices.Sort(seconds)
	stated := 0 // number of changes in the journal that were already matched with accounting
	for _, at := range slices.Compact(seconds) {
		before, after := nodesAt(held, at-1), nodesAt(held, at)
		switch {
		case at >= end-grain || slices.Equal(before, after):
		case within(after, slices.Concat(before, j.nodesAround(r, at))) && !j.states(r, at, after, &stated) && !j.lookedAfter(r, at, end):
			r.unseen = true // the job's owner may shrink the job, even at the same time as a change by the sidecar
		case at <= r.began+grain || j.intended(r, at) || j.starts(b, at):
		default:
			j.find(Finding{Kind: NoIntent, Job: int64(r.key.ID), At: at, Do: seeAccounting(r.key.ID),
				Text: fmt.Sprintf("accounting has it on %s from then on, and the journal has no act that changed it", shown(after))})
			r.unannounced = true
			return true
		}
	}
	return false
}

// starts reports whether an allocation that was made for the job's start began at the second `at`. In OAR a job may start as several
// allocations, which begin some seconds apart.
func (j *judge) starts(b *adapter.AccountedRun, at core.Time) bool {
	return slices.ContainsFunc(j.index.made[b], func(other *adapter.AccountedRun) bool {
		return other.Starts && len(other.Holds) > 0 && other.Holds[0].From == at
	})
}

// unbooked sets r.unseen if accounting never recorded a change in the journal, and the sidecar did not check the nodes after that change.
// The job's owner may have shrunk the job within the same second.
func (j *judge) unbooked(r *run, held []adapter.Hold, end core.Time) {
	for _, c := range r.changes {
		about := c.slack + float64(j.Accounting.Grain)
		first, last := second(c.at-about), min(second(c.at+about), end-1)
		booked := false
		for at := first; at <= last && !booked; at++ {
			booked = within(c.nodes, nodesAt(held, at))
		}
		if !booked && !j.lookedAfter(r, second(c.at), end) {
			r.unseen = true
		}
	}
}

// within reports whether `others` contains all of the nodes.
func within(nodes, others []string) bool {
	return len(hostlist.Within(nodes, hostlist.Set(others))) == len(nodes)
}

// around reports whether the second `at` may be the time that accounting recorded for the change c.
func (j *judge) around(c change, at core.Time) bool {
	slack := c.slack + float64(j.Accounting.Grain)
	return c.at-slack <= float64(at) && float64(at) <= max(c.at+slack, seconds(c.entry.At)+float64(j.Accounting.Grain))
}

// nodesAround returns all nodes that a job had after any of the changes for which accounting may have
// recorded the second `at`.
func (j *judge) nodesAround(r *run, at core.Time) (nodes []string) {
	for _, c := range r.changes {
		if j.around(c, at) {
			nodes = append(nodes, c.nodes...)
		}
	}
	return nodes
}

// states reports whether a change in the journal explains that a job had only the nodes `left` from
// the second `at` on. Such a change is a change to exactly these nodes, a shrink in progress that
// ends with fewer nodes, or a change that the sidecar found later. Changes before index *first
// already explain earlier changes in accounting.
func (j *judge) states(r *run, at core.Time, left []string, first *int) bool {
	for i, c := range r.changes[*first:] {
		found := !c.sure && at <= c.entry.At.Unix()+grain+j.Accounting.Grain
		switch near := j.around(c, at); {
		case (near || found) && slices.Equal(c.nodes, left):
			*first += i + 1
			return true
		case near && within(c.nodes, left):
			return true
		case !near && c.entry.At.Unix() >= at:
			return false // the nodes had already changed before the sidecar found this change
		}
	}
	return false
}

// lookedAfter reports whether the sidecar must have noticed which nodes a job had after the second
// `at`. It must have noticed if the job kept these nodes for some time while both the sidecar and
// the batch system worked.
func (j *judge) lookedAfter(r *run, at, end core.Time) bool {
	known, over, next := at, end, r.ended.Unix()
	for _, c := range r.changes {
		switch seen := c.entry.At.Unix(); {
		case j.around(c, at):
			known = max(known, seen)
		case seen > at:
			over, next = min(over, seen), min(next, seen)
		}
	}
	return over > known+settling && !j.troubled(at, next)
}

// intended reports whether the journal explains that a job's nodes changed at the second `at`.
func (j *judge) intended(r *run, at core.Time) bool {
	about := grain + j.Accounting.Grain
	for _, c := range r.changes {
		if !c.sure && (resizes[c.verb] == nil || c.entry.Args["after"] != nil) && at <= c.entry.At.Unix()+about {
			return true
		}
	}
	return slices.ContainsFunc(r.entries, func(e journal.Entry) bool {
		begun, over := e.At.Unix()-about, e.At.Add(e.Took).Unix()+about
		return e.Kind == journal.KindIntent && slices.Contains([]string{"expand", "merge", "shrink", "end"}, e.Verb) && begun <= at && (at <= over || e.Outcome != journal.Done)
	})
}

// nodesAt returns the nodes that were held at the second `at`, sorted.
func nodesAt(held []adapter.Hold, at core.Time) []string {
	has := map[string]bool{}
	for _, h := range held {
		if h.From <= at && at < h.To {
			for _, n := range h.Nodes {
				has[n] = true
			}
		}
	}
	nodes := slices.Collect(maps.Keys(has))
	hostlist.Sort(nodes)
	return nodes
}

// sizes compares the nodes in the journal with the nodes in accounting. It compares them once between
// each two changes of the job's nodes, in the middle of that time.
func (j *judge) sizes(r *run, held []adapter.Hold, end core.Time) {
	if r.unseen {
		return
	}
	for i, c := range r.changes {
		from, to := c.at+c.slack+float64(j.Accounting.Grain), float64(end)-grain
		if !c.sure && j.troubled(c.entry.At.Unix(), r.next(c.entry.At.Unix())) { // the sidecar may not have noticed that the nodes changed again
			continue
		} else if !c.sure {
			from = max(from, seconds(c.entry.At))
		}
		if i+1 < len(r.changes) {
			next := r.changes[i+1]
			if !next.sure { // it is not known how long before this the nodes changed
				continue
			}
			to = next.at - next.slack - float64(j.Accounting.Grain)
		} else if lost, ok := r.unreported(); ok {
			to = min(to, lost-float64(j.Accounting.Grain))
		}
		if from >= to {
			continue
		}
		middle := second((from + to) / 2)
		booked := nodesAt(held, middle)
		has := len(hostlist.Within(c.nodes, hostlist.Set(booked))) == len(c.nodes)
		lost := has && (c.verb == "changed" || r.failed()) // OAR's accounting still counts lost nodes, and a failed growth may have been half done
		if !slices.Equal(booked, c.nodes) && !lost {
			j.find(Finding{Kind: Size, Job: int64(r.key.ID), At: middle, Do: seeAccounting(r.key.ID),
				Text: fmt.Sprintf("accounting has it on %s, and the journal on %s", shown(booked), shown(c.nodes))})
		}
	}
}

func shown(nodes []string) string {
	if len(nodes) == 0 {
		return "no node"
	}
	return hostlist.Compact(nodes)
}

// sum compares the node-seconds in the journal with the node-seconds in accounting. The two may
// differ by 1 %, or by 2 s for each change of size if that is more.
func (j *judge) sum(r *run, b *adapter.AccountedRun, end core.Time) {
	held, slack := 0.0, 0.0
	_, unreported := r.unreported()
	if r.unseen || unreported || r.failed() || slices.ContainsFunc(r.changes, func(c change) bool { return !c.sure }) {
		j.report.Unjudged++
		return
	}
	for i, c := range r.changes {
		until, before := float64(end), len(c.nodes)
		if i+1 < len(r.changes) {
			until = r.changes[i+1].at
		}
		if i > 0 {
			before = len(r.changes[i-1].nodes)
		}
		held += float64(len(c.nodes)) * (until - c.at)
		slack += (c.slack + float64(j.Accounting.Grain)) * float64(max(len(c.nodes), before))
	}
	booked := j.sumOfAll(b, end)
	j.report.NodeSeconds += core.Time(booked)
	if math.Abs(booked-held) > max(held/100, slack) {
		j.find(Finding{Kind: Sum, Job: int64(r.key.ID), At: r.began, Do: seeAccounting(r.key.ID),
			Text: fmt.Sprintf("accounting has %.0f node-seconds, and by the journal it held %.0f", booked, held)})
	}
}

// sumOfAll returns the node-seconds in accounting of a job and of the allocations made for the job. It leaves out node-seconds of companions
// after the end of the job.
func (j *judge) sumOfAll(b *adapter.AccountedRun, end core.Time) (sum float64) {
	sum = sumOf(b)
	for _, other := range j.index.made[b] {
		if other.Stays || other.Merged {
			sum += sumOf(other) - float64(tail(other, end))
		}
	}
	return sum
}

// sumOf returns the node-seconds that accounting has for one allocation.
func sumOf(b *adapter.AccountedRun) float64 {
	if b.Sum > 0 {
		return b.Sum
	}
	return float64(b.NodeSeconds())
}

// tail returns the node-seconds of an allocation from the second `from` on.
func tail(b *adapter.AccountedRun, from core.Time) (sum core.Time) {
	for _, h := range b.Holds {
		sum += core.Time(len(h.Nodes)) * max(0, h.To-max(h.From, from))
	}
	return sum
}

// outlives finds companions that held nodes for too long after the end of their job.
func (j *judge) outlives(b *adapter.AccountedRun, end core.Time) {
	for _, other := range j.index.made[b] {
		if len(other.Holds) == 0 || other.Open {
			continue
		}
		if last := other.Holds[len(other.Holds)-1].To; last > end+lingers {
			j.find(Finding{Kind: Companion, Job: int64(other.ID), At: end, Do: seeAccounting(b.ID),
				Text: fmt.Sprintf("it held nodes for job %d, and ended %s after that", b.ID, lasted(last-end))})
		}
	}
}

// hours compares accounting's own hourly sums with the sums of accounting's rows, for the users of managed jobs.
func (j *judge) hours() {
	from, to := j.Accounting.HoursFrom, j.Accounting.HoursTo
	if from >= to {
		return
	}
	users := map[string]bool{}
	for _, r := range j.history.runs {
		users[r.user] = true
	}
	held, slack := map[string]float64{}, map[string]float64{}
	for _, b := range j.Accounting.Jobs {
		for _, h := range b.Holds {
			if lasted := min(h.To, to) - max(h.From, from); lasted > 0 {
				held[b.User] += float64(lasted) * float64(len(h.Nodes))
				slack[b.User] += grain * float64(len(h.Nodes))
			}
		}
	}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		has := j.Accounting.Hours[user]
		if math.Abs(has-held[user]) > max(held[user]/100, slack[user]) {
			j.find(Finding{Kind: Hours, At: from, Do: fmt.Sprintf("`TZ=UTC sacctmgr -i rollup %s %s` adds up again", hour(from), hour(to)),
				Text: fmt.Sprintf("sreport has %.0f node-seconds of user %s in the %s from then on, where sacct has %.0f", has, user, lasted(to-from), held[user])})
		}
	}
}

// hour formats a second as sacctmgr accepts it, in UTC.
func hour(at core.Time) string { return adapter.Instant(at).UTC().Format("2006-01-02T15:04:05") }

// apart formats a difference in time. by is negative if the second time is earlier.
func apart(by core.Time) string {
	if by < 0 {
		return lasted(-by) + " before"
	}
	return lasted(by) + " later"
}

func lasted(d core.Time) string { return core.FormatDuration(max(d, 0)) }

func abs(t core.Time) core.Time { return max(t, -t) }
