package audit

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/release"
	"accordion/core"
)

// hostsFilesStay is the number of seconds for which a hosts file may exist after the end of its job. Files that are a month old are
// removed by the next job of the same user on the host (adapter/hostfile).
const hostsFilesStay core.Time = 31 * 24 * 3600

// left finds what still exists of jobs that have ended.
func (j *judge) left() {
	live := map[core.JobID]*adapter.Job{}
	for i := range j.Current.Jobs {
		if job := &j.Current.Jobs[i]; job.State != adapter.Done {
			live[job.ID] = job
		}
	}
	j.leftReservations(live)
	j.leftAllocations(live)
	j.leftNodes()
	j.leftRecords(live)
	j.leftKept(live)
}

func (j *judge) leftReservations(live map[core.JobID]*adapter.Job) {
	dead := map[string]bool{}
	if !j.Alive && j.Now >= j.KeptUntil {
		for _, l := range release.Leftovers(j.Current.Reservations, j.Current.Jobs, release.Options{Now: j.Now}) {
			dead[l.Name] = true
		}
	}
	for _, r := range j.Current.Reservations {
		job, ours := release.Owner(r.Name)
		f := Finding{Kind: Reservation, Job: int64(job), At: r.Start, Do: j.deletes(r.Name)}
		switch of := live[job]; {
		case !ours:
			continue
		case job != 0 && of == nil:
			f.Text = fmt.Sprintf("reservation %s is left, and its job has ended", r.Name)
		case job != 0 && adapter.RequestOf(of) == "":
			f.Text = fmt.Sprintf("reservation %s is left, and the job of that number is no managed one", r.Name)
		case dead[r.Name]:
			f.Text = fmt.Sprintf("reservation %s keeps nodes, and no sidecar lives", r.Name)
		default:
			continue
		}
		j.find(f)
	}
}

// deletes returns advice on how to delete a reservation.
func (j *judge) deletes(name string) string {
	if j.Alive {
		return "look in the sidecar's log for why it does not delete it; `scontrol delete ReservationName=" + name + "` does"
	}
	return "`accordion release-all` deletes it"
}

// leftAllocations finds companions and expanders whose job has ended.
func (j *judge) leftAllocations(live map[core.JobID]*adapter.Job) {
	for i := range j.Current.Jobs {
		job := &j.Current.Jobs[i]
		if job.Expands == 0 || job.State != adapter.Pending && job.State != adapter.Running {
			continue
		}
		kind, what := Expander, "expander"
		if slices.Contains(j.Current.Companions, job.ID) {
			kind, what = Companion, "companion"
		}
		if parent := live[job.Expands]; parent == nil || parent.State != adapter.Running && parent.State != adapter.Pending {
			j.find(Finding{Kind: kind, Job: int64(job.ID), At: job.Started, Do: fmt.Sprintf("end it: scancel %d, under OAR oardel %[1]d", job.ID),
				Text: fmt.Sprintf("%s of job %d is left, and that one has ended", what, job.Expands)})
		}
	}
}

// leftNodes finds nodes that are allocated to no job.
func (j *judge) leftNodes() {
	held := map[string]bool{}
	for _, job := range j.Current.Jobs {
		for _, n := range job.Nodes {
			held[n] = true
		}
	}
	for _, n := range j.Current.Nodes {
		if n.Usable && !n.Idle && !held[n.Name] {
			j.find(Finding{Kind: Node, Node: n.Name, Do: "`scontrol reconfigure` frees it; the sidecar does so by itself within a minute",
				Text: fmt.Sprintf("it is %s, and no job has it", n.Why)})
		}
	}
}

// leftRecords finds records of jobs that have ended, marked jobs that no sidecar manages, and actions without an outcome.
func (j *judge) leftRecords(live map[core.JobID]*adapter.Job) {
	known := map[adapter.Key]bool{}
	for _, r := range j.Records {
		key := adapter.Key{ID: core.JobID(r.Job), Submitted: r.Submitted}
		known[key] = true
		if job := live[key.ID]; j.Alive && (job == nil || job.Submitted != key.Submitted) {
			j.find(Finding{Kind: Remembered, Job: r.Job, Text: "the journal remembers it as one that waits or runs, and it has ended",
				Do: "look in the sidecar's log for why it does not read the batch system"})
		}
	}
	for _, job := range j.Current.Jobs {
		if j.Alive && job.State == adapter.Pending && strings.HasPrefix(job.Mark, adapter.MarkPrefix) && !adapter.Delegated(&job) && !known[job.Key] && job.Unfit == "" {
			j.find(Finding{Kind: Mark, Job: int64(job.ID), Text: "it waits with the sidecar's mark, and the sidecar does not know it",
				Do: "look in the sidecar's log for this job; if nothing helps, cancel it and submit it again"})
		}
	}
	for _, e := range j.history.entries {
		if e.Unfinished() && (!j.Alive || j.Now-e.At.Unix() > 300) {
			j.find(Finding{Kind: Unfinished, Job: e.Job, At: e.At.Unix(), Text: fmt.Sprintf("the outcome of %q is not known", e.Verb), Do: unfinishedDo(j.Alive)})
		}
	}
}

func unfinishedDo(alive bool) string {
	if alive {
		return "look in the sidecar's log for a call that hangs"
	}
	return "start the sidecar: it reads what became of it"
}

// leftKept finds things in CurrentState.Kept whose jobs have ended.
func (j *judge) leftKept(live map[core.JobID]*adapter.Job) {
	for _, k := range j.Current.Kept {
		job := live[k.Job.ID]
		if job != nil && (k.Job.Submitted == 0 || job.Submitted == k.Job.Submitted) {
			continue
		}
		kind := Kept
		if k.What == "hosts file" {
			if kind = HostsFile; k.Age < hostsFilesStay {
				continue
			}
		}
		j.find(Finding{Kind: kind, Job: int64(k.Job.ID), Text: fmt.Sprintf("%s %s is left, and its job has ended", k.What, k.Name), Do: k.Fix})
	}
}

// acts finds actions without an intent or without the lease.
func (j *judge) acts() {
	leased, lost := true, journal.Entry{}
	var last journal.Entry
	for _, e := range j.history.entries {
		if last.At.Sub(e.At) > 5e9 && e.Verb != "ended" && // an "ended" event may be written late: its time is that of the first reading without the job
			!j.history.clockSet(e.At) {
			j.find(Finding{Kind: Order, Job: e.Job, At: e.At.Unix(), Do: "see whether the clock of the sidecar's host was set back (chronyc tracking)",
				Text: fmt.Sprintf("entry %d of the journal (%s) is %s older than the one before it", e.ID, e.Verb, core.FormatDuration(core.Time(last.At.Sub(e.At).Seconds())))})
		}
		if e.Verb != "ended" || e.At.After(last.At) {
			last = e
		}
		switch {
		case e.Kind == journal.KindEvent && e.Verb == "unleased":
			leased, lost = false, e
		case e.Kind == journal.KindEvent && (e.Verb == "leased" || e.Verb == "ready"):
			leased = true
		case e.Kind == journal.KindIntent:
			j.act(e, leased, lost)
		}
	}
	for _, r := range j.history.runs {
		j.announced(r)
	}
}

// act checks the action of one intent. leased is false if the sidecar had lost the lease, as the entry `lost` reports.
func (j *judge) act(e journal.Entry, leased bool, lost journal.Entry) {
	if e.Took < 0 && !j.history.clockSet(e.At) {
		j.find(Finding{Kind: EarlyOutcome, Job: e.Job, At: e.At.Unix(), Do: "see whether the clock of the sidecar's host was set back",
			Text: fmt.Sprintf("the outcome of %q is %.3f s older than its intent", e.Verb, -e.Took.Seconds())})
	}
	if !leased && e.At.After(lost.At) {
		j.find(Finding{Kind: NoLease, Job: e.Job, At: e.At.Unix(), Do: "see who held the lease then: `scontrol show reservation accordion-lease`, and the logs of both sidecars",
			Text: fmt.Sprintf("%q was begun %s after the lease was lost", e.Verb, lasted(core.Time(e.At.Sub(lost.At).Seconds())))})
	}
}

// anyResize lists the verbs of all actions that change a job's nodes. Any of them may precede any event of a resize. For example, if the
// user has shrunk the job before, a growth may be recorded as a shrink.
var anyResize = []string{"expand", "merge", "shrink"}

// announced finds starts and resizes of a run without a preceding intent.
func (j *judge) announced(r *run) {
	needs := map[string][]string{"started": {"release", "attach", "let in"}, "grew": anyResize, "shrank": anyResize, "resized": anyResize}
	var before []string
	since := int64(0)
	for i, c := range r.changes {
		intended := slices.ContainsFunc(r.entries, func(e journal.Entry) bool {
			return e.Kind == journal.KindIntent && e.ID > since && e.ID < c.entry.ID && slices.Contains(needs[c.verb], e.Verb)
		})
		switch verbs := needs[c.verb]; {
		case verbs == nil || intended || r.unannounced:
		case i == 0 && !r.planned, i > 0 && slices.Equal(before, c.nodes), c.entry.Args["after"] != nil && i > 0 && (r.has("changed", "forgotten") || within(c.nodes, before)):
			// The sidecar found this change when it started. The job's owner may have shrunk the job
			// earlier.
		default:
			j.find(Finding{Kind: NoIntent, Job: c.entry.Job, At: c.entry.At.Unix(), Do: "send the journal to the authors",
				Text: fmt.Sprintf("it %s, and the journal has no intent to do so before that", c.verb)})
		}
		before = c.nodes
		if c.verb != "changed" && c.verb != "forgotten" {
			since = c.entry.ID
		}
	}
}
