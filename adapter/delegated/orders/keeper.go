package orders

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/sidecar"
	"accordion/core"
)

// Keeper carries out the orders for the parts of applications on one cluster. It implements sidecar.Parts. One goroutine owns the Keeper.
// What a Keeper remembers is lost when the process ends. The next Keeper finds out from readings and orders what has been done.
type Keeper struct {
	sidecar.PartsHost
	mailbox   *mailbox.Mailbox
	hasOrders bool // orders have arrived
	parts     map[name]*entry
	due       map[core.JobID]core.Time // for plan.World.Local
	read      core.Time                // Unix second of the last state
	begun     time.Time                // when Look was called first
	nodes     []adapter.Node           // nodes in the newest reading
}

// name identifies an order.
type name struct {
	application int64
	job         core.JobID // 0 if the batch system makes the job
}

// entry is an order with its job, or a job that no order names.
type entry struct {
	order   mailbox.Order
	ordered bool // the newest message has the order
	memory  Memory
	step    Step        // the step that was last decided
	plan    managed.Job // the part as the plan sees it
	planned bool

	job      *adapter.Job // the job in the newest reading; nil if there is none
	uid      uint32       // ID of the job's user, from the last reading that had the user's name; 0 if not known
	since    managed.Epoch
	touched  managed.Epoch // epoch of the last call
	busy     bool
	at       core.Time // when the part was prepared
	writing  []string  // nodes that are just being reserved
	wrote    int       // the try for which these nodes are being reserved
	retry    time.Time
	fails    int
	unsure   time.Time     // time until which a release that timed out may still be carried out; zero if there is no such release
	settled  managed.Epoch // the last reading that had begun when that time had passed; 0 if the time has not passed
	lastVerb Verb          // the last step that succeeded; Nothing if a later reading needed no call
	repeats  int           // how often that step was repeated, and succeeded, without another step in between
	logged   mailbox.Stand // the stand that was last written to the journal
}

var _ sidecar.Parts = (*Keeper)(nil)

// New returns a Keeper that has no orders yet.
func New(m *mailbox.Mailbox, h sidecar.PartsHost) *Keeper {
	return &Keeper{PartsHost: h, mailbox: m, parts: map[name]*entry{}, due: map[core.JobID]core.Time{}}
}

// Ordered implements sidecar.Parts.
func (k *Keeper) Ordered() <-chan struct{} { return k.mailbox.Ordered() }

// Look implements sidecar.Parts.
func (k *Keeper) Look(now core.Time, snapshot *adapter.Snapshot) []*managed.Job {
	if k.begun.IsZero() {
		k.begun = k.Clock.Now()
	}
	k.nodes = snapshot.Nodes
	k.takeOrders()
	jobs := map[int64][]*adapter.Job{}
	for i := range snapshot.Jobs {
		j := &snapshot.Jobs[i]
		if application, ok := adapter.LaunchOf(j); ok && j.Expands == 0 && j.State != adapter.Done {
			jobs[application] = append(jobs[application], j)
		}
	}
	k.findJobs(now, jobs)
	var all []*managed.Job
	for _, e := range k.sorted() {
		if e.planned = e.ordered && k.planOf(e, now); e.planned {
			all = append(all, &e.plan)
		}
	}
	return all
}

// takeOrders stores the newest orders.
func (k *Keeper) takeOrders() {
	orders := k.mailbox.Orders()
	if orders == nil {
		return
	}
	k.hasOrders = true
	for _, e := range k.parts {
		e.ordered = false
	}
	for _, o := range orders {
		e := k.parts[name{o.Application, o.Job}]
		if e == nil {
			_, begun := k.Epochs()
			e = &entry{since: begun, logged: -1}
			k.parts[name{o.Application, o.Job}] = e
		}
		if e.order.Want != o.Want || e.order.Try != o.Try {
			e.retry, e.fails, e.lastVerb, e.repeats = time.Time{}, 0, Nothing, 0
		}
		e.order, e.ordered = o, true
		e.recall()
	}
}

// recall takes the nodes that were prepared for a start from the order, if this sidecar was started after the preparation. The
// reservation may have other nodes, if a late call of a killed sidecar wrote it, and other jobs may have those nodes.
func (e *entry) recall() {
	if e.order.Want == mailbox.Start && e.order.On != "" && e.memory.Prepared != e.order.Try {
		e.memory.Prepared, e.memory.Nodes = e.order.Try, strings.Fields(e.order.On)
	}
}

// findJobs finds the job of each order. It also adds entries for jobs that no order names.
func (k *Keeper) findJobs(now core.Time, jobs map[int64][]*adapter.Job) {
	for n, e := range k.parts {
		had := e.job
		if e.job = e.find(n, jobs[n.application]); e.job != nil && !e.job.Nameless() {
			e.uid = e.job.UID
		}
		switch {
		case e.job == nil:
			if had != nil && e.memory.Ended == 0 {
				e.memory.Ended = now
				if had.State == adapter.Running {
					e.memory.Gone = had.Key
				}
			} else if k.missed(e) {
				e.memory.Ended, e.memory.Gone = now, cmp.Or(e.memory.Gone, adapter.Key{ID: e.order.Job, Submitted: e.order.Submitted})
			}
		case e.job.State == adapter.Running:
			e.memory.Ran, e.memory.Began, e.memory.Ended, e.memory.Gone = e.job.Nodes, e.job.Started, 0, adapter.Key{}
		case e.job.State == adapter.Pending:
			if had == nil || had.Key != e.job.Key {
				e.memory.Failed, e.memory.Frozen, e.memory.Stiff = false, 0, false
			}
			e.memory.Ran, e.memory.Began, e.memory.Ended, e.memory.Gone = nil, 0, 0, adapter.Key{}
			if had == nil && e.job.Held && mayStart(e.job, n.application) {
				k.inherit(e)
			}
		default:
			if e.memory.Ended == 0 {
				e.memory.Ended, e.memory.Gone = now, e.job.Key
			}
			e.memory.Failed = e.memory.Failed || failed(e.job.Why)
		}
		if !e.ordered && e.job == nil && !e.busy {
			delete(k.parts, n)
		}
	}
	if !k.hasOrders {
		return
	}
	for application, all := range jobs {
		for _, j := range all {
			n := name{application, j.ID}
			if adapter.MadeByBatchSystem(j) {
				n.job = 0
			}
			if k.parts[n] == nil && Left(j) != Nothing {
				e := &entry{order: mailbox.Order{Application: application, Job: n.job, User: j.User}, job: j, uid: j.UID, logged: -1}
				if k.parts[n] = e; j.Held {
					k.inherit(e)
				}
			}
		}
	}
}

// inherit marks a part as unsure if its job is held and tied to its reservation when the sidecar starts. The previous sidecar may have
// been releasing the job when it died.
func (k *Keeper) inherit(e *entry) {
	if until := k.begun.Add(k.Settings.Deadline + managed.LateCall); k.Clock.Now().Before(until) {
		e.unsure, e.settled, e.memory.Unsure = until, 0, true
	}
}

// settle finds out whether a release that timed out may still be carried out. The answer is known only after a reading that began when
// the batch system could no longer carry out the release.
func (k *Keeper) settle(e *entry) {
	taken, begun := k.Epochs()
	switch {
	case e.unsure.IsZero() || k.Clock.Now().Before(e.unsure):
	case e.settled == 0:
		e.settled = begun
		k.Refresh()
	case taken.Shows(e.settled):
		e.unsure, e.settled, e.memory.Unsure = time.Time{}, 0, false
	}
}

// missed reports whether a running part ended while no sidecar read the batch system.
func (k *Keeper) missed(e *entry) bool {
	taken, _ := k.Epochs()
	return e.ordered && e.memory.Ended == 0 && (e.order.Want == mailbox.Run || e.order.Want == mailbox.Ghost) && e.order.Submitted > 0 && taken.Shows(e.since)
}

// find returns the job of the order with the name, if the job belongs to the order's user. If the batch system made several such jobs,
// find prefers one that has not ended.
func (e *entry) find(n name, jobs []*adapter.Job) (found *adapter.Job) {
	for _, j := range jobs {
		switch {
		case !e.owns(n, j):
		case n.job != 0 && j.ID == n.job:
			return j
		case n.job == 0 && adapter.MadeByBatchSystem(j) && (found == nil || found.State == adapter.Ending):
			found = j
		}
	}
	return found
}

// owns reports whether a job belongs to the order's user. After a crash, the batch system may use job numbers again, so another user's
// job may have the number in the order and the mark of the application. While the user directory does not answer, jobs have no user
// names. In that case the job must have the user ID that belonged to the name in an earlier reading. If that is not known, the job must
// have the number and the submission time in the order.
func (e *entry) owns(n name, j *adapter.Job) bool {
	switch {
	case !j.Nameless():
		return j.User == e.order.User
	case e.uid != 0:
		return j.UID == e.uid
	case e.job != nil && j.Key == e.job.Key:
		return true
	}
	return n.job != 0 && j.Key == adapter.Key{ID: n.job, Submitted: e.order.Submitted}
}

// sorted returns all entries by rank.
func (k *Keeper) sorted() []*entry {
	all := make([]*entry, 0, len(k.parts))
	for _, e := range k.parts {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.order.Rank, b.order.Rank), cmp.Compare(a.order.Application, b.order.Application), cmp.Compare(a.order.Job, b.order.Job))
	})
	return all
}

// Carry implements sidecar.Parts. For each part, at most one step is in progress.
func (k *Keeper) Carry(ctx context.Context, v *plan.World) error {
	for _, e := range k.sorted() {
		if e.busy {
			continue
		}
		k.settle(e)
		if !e.ordered {
			k.leave(ctx, e)
			continue
		}
		e.step = Next(e.order, k.observe(e, v), e.memory)
		if e.step.Refuse != "" {
			e.memory.Refused, e.memory.Why = e.order.Try, e.step.Refuse
		}
		if err := k.logProgress(e); err != nil {
			return err
		}
		switch {
		case e.step.Verb == Nothing:
			e.lastVerb, e.repeats = Nothing, 0
		case e.step.Verb == Prepare && k.Tending(managed.PartReservation(e.order.Application)): // wait, because the part's reservation is just being written or deleted
		case k.fresh(e):
			k.do(ctx, e, v)
		}
	}
	return nil
}

// leave handles a job that no order names.
func (k *Keeper) leave(ctx context.Context, e *entry) {
	e.step = Step{Keep: e.memory.Unsure && e.job != nil}
	if e.job == nil || !k.fresh(e) || e.memory.Unsure && e.job.State == adapter.Pending && !adapter.MadeByBatchSystem(e.job) {
		return
	}
	if e.step.Verb = Left(e.job); e.step.Verb != Nothing {
		e.step.Why = "its application is over"
		k.do(ctx, e, nil)
	}
}

// fresh reports whether the newest reading began after the last call for the part, and the pause after a failure has ended.
func (k *Keeper) fresh(e *entry) bool {
	taken, _ := k.Epochs()
	return taken.Shows(e.touched) && !k.Clock.Now().Before(e.retry)
}

// observe returns what is now known about a part.
func (k *Keeper) observe(e *entry, v *plan.World) Observation {
	taken, _ := k.Epochs()
	s := Observation{Now: v.Now, Job: e.job}
	if e.job != nil && e.job.State != adapter.Pending && e.job.State != adapter.Running {
		s.Job, s.Gone, s.Ends = nil, true, true
	}
	s.Gone = s.Gone || s.Job == nil && taken.Shows(e.since) && taken.Shows(e.touched)
	if r, there := k.Reserved(managed.PartReservation(e.order.Application)); there {
		s.Reservation = &r
	}
	if r, there := k.Reserved(managed.GhostReservation(e.order.Application)); there {
		s.Ghost = &r
	}
	if e.order.Want == mailbox.Prepare {
		s.Nodes, s.Why = k.nodesFor(e, v, s.Reservation)
	}
	return s
}

// nodesFor returns the nodes on which a part may be prepared now, or why there are none. It returns the nodes that the plan gives the
// part, unless a growth or a start in this cycle has taken them. If nodes are already reserved for the part, it returns the reserved
// nodes.
func (k *Keeper) nodesFor(e *entry, v *plan.World, have *adapter.Reservation) (nodes []string, why string) {
	c := e.plan.Course
	switch {
	case !e.planned || c == nil:
		return nil, "it has no place in the plan"
	case c.Err != nil:
		return nil, c.Err.Error()
	case c.Start > v.Now+v.Settings.StartLead:
		return nil, "the nodes are wanted for others"
	case e.job != nil && !e.job.MostNow.Allows(e.order.Hosts):
		return nil, e.job.MostNow.Why
	}
	if nodes = c.Added(0); have != nil && len(have.Nodes) == e.order.Hosts && have.Start <= v.Now {
		if free, _ := v.Free(have.Nodes); free {
			nodes = have.Nodes
		}
	}
	if free, who := v.Free(nodes); !free {
		return nil, who.String()
	}
	for _, n := range v.Snapshot.Nodes {
		if n.Asleep && slices.Contains(nodes, n.Name) {
			return nil, "nodes that boot"
		}
	}
	return nodes, ""
}

// logProgress writes an event to the journal if the stand of a part has changed.
func (k *Keeper) logProgress(e *entry) error {
	if e.logged == e.step.Stand {
		return nil
	}
	e.logged = e.step.Stand
	var key adapter.Key
	if e.job != nil {
		key = e.job.Key
	}
	how := stands[e.logged]
	if e.order.Want == mailbox.End && e.logged != mailbox.Over { // the newest reading may be from before the job's end
		how = "is being ended"
	}
	text := "the part of " + describe(e.order) + ": " + how
	if e.step.Note != "" {
		text += ": " + e.step.Note
	}
	return k.Tell(key, "part", text, map[string]any{"application": e.order.Application, "try": e.order.Try, "nodes": names(e.step.On)})
}

// Wanted implements sidecar.Parts.
func (k *Keeper) Wanted(now core.Time, ours []string, wants []adapter.Reservation, keep map[string]bool) []adapter.Reservation {
	if !k.hasOrders {
		for _, name := range ours {
			keep[name] = keep[name] || managed.IsPartReservation(name)
		}
	}
	for _, e := range k.sorted() {
		if e.step.Keep {
			keep[managed.PartReservation(e.order.Application)] = true
		}
		if e.ordered && e.step.Ghost != nil && e.order.Until > now {
			wants = append(wants, adapter.Reservation{
				Name: managed.GhostReservation(e.order.Application), Nodes: e.step.Ghost, Start: now, End: e.order.Until, User: "root", OverManaged: true,
			})
		}
	}
	return wants
}

// Soon implements sidecar.Parts.
func (k *Keeper) Soon() bool {
	for _, e := range k.parts {
		switch {
		case e.busy || e.step.Verb != Nothing && !k.Clock.Now().Before(e.retry): // a step that is delayed needs no early reading
			return true
		case !e.ordered:
		case e.order.Want == mailbox.Prepare || e.order.Want == mailbox.Start && e.step.Stand != mailbox.Running:
			return true
		case (e.order.Want == mailbox.Drop || e.order.Want == mailbox.End) && e.step.Stand != mailbox.Over && e.step.Stand != mailbox.Waiting:
			return true
		case e.order.Want == mailbox.Ghost && e.step.Stand == mailbox.Running:
			return true
		}
	}
	return false
}

// ClockSet implements sidecar.Parts. It ends the delays of steps, and lets later states have the times of the clock as it was set.
func (k *Keeper) ClockSet() {
	k.read = 0
	clear(k.due)
	for _, e := range k.parts {
		e.retry = time.Time{}
		if !e.unsure.IsZero() {
			e.unsure = k.Clock.Now().Add(managed.LateCall)
		}
	}
}

// Show implements sidecar.Parts.
func (k *Keeper) Show(v *plan.World) {
	b := mailbox.ClusterState{}
	b.Local, b.Hosts = v.Local(k.due)
	b.HostResources = v.Weakest()
	k.read = max(k.read, v.Snapshot.At.Unix())
	b.Read = k.read
	b.Jobs = k.partJobs(v.Snapshot.Jobs)
	for _, e := range k.sorted() {
		if e.ordered {
			b.Parts = append(b.Parts, e.standing())
		}
	}
	k.mailbox.Show(b)
}

// partJobs returns those jobs of a reading that are parts. If the reading does not have the name of a part's user, it uses the name in
// the order.
func (k *Keeper) partJobs(jobs []adapter.Job) (all []mailbox.Job) {
	users := map[adapter.Key]string{}
	for _, e := range k.parts {
		if e.ordered && e.job != nil {
			users[e.job.Key] = e.order.User
		}
	}
	for i := range jobs {
		j := &jobs[i]
		application, ok := adapter.LaunchOf(j)
		if !ok || !adapter.IsPart(j) || j.Expands != 0 {
			continue
		}
		user := j.User
		if known, ok := users[j.Key]; ok && j.Nameless() {
			user = known
		}
		all = append(all, mailbox.Job{Key: j.Key, ID: j.ID, Application: application, User: user, State: j.State, Submitted: j.Submitted})
	}
	return all
}

// standing returns how far the order of an entry has been carried out.
func (e *entry) standing() mailbox.Standing {
	s := mailbox.Standing{
		Application: e.order.Application, Job: e.order.Job, Try: e.order.Try, Stand: e.step.Stand, Nodes: slices.Clone(e.step.On), Why: e.step.Note,
	}
	switch s.Stand {
	case mailbox.Running, mailbox.Ghosted:
		s.Since = e.memory.Began
	case mailbox.Over:
		s.Since, s.Failed = e.memory.Ended, e.memory.Failed
	}
	return s
}
