package plan

import (
	"cmp"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
	"accordion/core/policy"
	"accordion/core/sched"
)

// Applications of launchers see the plan without the applications' own parts. That view must not
// change while nothing happens. So everything without a known end is assumed to end at a full half
// minute of the clock, and not at a time that moves each second. The pool is one machine here, even
// if jobs distinguish its nodes.

// Stale is the age, in seconds, up to which a Local may be used to plan requests of launchers.
const Stale core.Time = 10

// HalfMinute returns the first full half minute of the clock at which a Local that is made now is
// stale. For applications of launchers, everything without a known end lasts until then. An end
// that moves each second would give each launcher a new view each second. An end before that half
// minute could pass while the Local is still in use, and launchers would then see nodes that are
// not free.
func HalfMinute(now core.Time) core.Time {
	now += Stale
	return now - now%30 + 30
}

// unnamed is the first ID of allocations that belong to no job. core/delegated uses IDs below 0.
const unnamed core.JobID = 1 << 41

// Local returns what the cluster has without the parts of applications, and how many nodes are in
// service. Local is called after Apply. `due` maps the ID of each waiting job to the second since
// which the job has been due. Local updates `due` for its next call.
func (v *World) Local(due map[core.JobID]core.Time) (l sched.Local, hosts int) {
	for _, lost := range v.lost {
		if !lost {
			hosts++
		}
	}
	machine := core.Machine{Nodes: hosts}
	state, views := policy.Unsized(v.Settings.Policy).New(machine).(sched.Viewer)
	if !views {
		state = sched.Repeated{}.New(machine).(sched.Viewer)
	}
	claims := v.quietClaims()
	for i, a := range v.occupied(claims) {
		a.Job = unnamed + core.JobID(i)
		state.Running(v.Now, a)
	}
	for _, r := range v.Running {
		if r.Part == nil && r.Phase != managed.Waiting { // the start may have been taken back in the meantime
			state.Running(v.Now, core.Allocation{Job: r.ID, Start: v.Now, EP: v.quietProfile(r)})
		}
	}
	return sched.Local{State: state, Waiting: v.ranked(due), Windows: v.windows(claims)}, hosts
}

// windows returns the times in which each node is free, given the claims and the nodes that running
// jobs have and will have. It returns nil if no free node is wanted later, because then counts of
// free nodes are sufficient. A node that is powered down counts as free from the next half minute
// on, because it is not known when the node will have booted.
func (v *World) windows(claims []place.Claim) []sched.Window {
	busy := make(spans, len(v.Nodes))
	for _, c := range claims {
		busy.add(c.Node, c.From, c.To)
	}
	for _, r := range v.Running {
		if r.Phase == managed.Waiting || r.Course == nil { // the start may have been taken back in the meantime
			continue
		}
		for _, l := range r.Course.Layers {
			for _, name := range l.Nodes {
				if n, ok := v.Index[name]; ok {
					busy.add(n, l.From, l.To)
				}
			}
		}
	}
	free, gaps := map[sched.Window]int{}, false
	for n, all := range busy {
		if v.lost[n] {
			continue
		}
		slices.SortFunc(all, func(a, b place.Claim) int { return cmp.Compare(a.From, b.From) })
		from := v.Now
		if v.Snapshot.Nodes[n].Asleep {
			from, gaps = HalfMinute(v.Now), true
		}
		for _, c := range all {
			if c.From > from {
				free[sched.Window{From: from, To: c.From}]++
				gaps = true
			}
			from = max(from, c.To)
		}
		if from < core.Forever {
			free[sched.Window{From: from, To: core.Forever}]++
		}
	}
	if !gaps {
		return nil
	}
	windows := make([]sched.Window, 0, len(free))
	for w, hosts := range free {
		w.Hosts = hosts
		windows = append(windows, w)
	}
	slices.SortFunc(windows, func(a, b sched.Window) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return windows
}

// Weakest returns the least cores, memory and scratch space among the nodes in service, and their
// common architecture. A number is 0 if it is not known for every node. The architecture is "" if
// nodes differ. Nodes whose architecture is not known yet, as after a restart of the batch system,
// are left out of that comparison.
func (v *World) Weakest() (all adapter.HostResources) {
	first, mixed := true, false
	for i, n := range v.Snapshot.Nodes {
		if v.lost[i] {
			continue
		}
		if first {
			all, first = n.HostResources, false
		}
		all.Cores, all.Memory, all.Scratch = min(all.Cores, n.Cores), min(all.Memory, n.Memory), min(all.Scratch, n.Scratch)
		mixed = mixed || all.Arch != "" && n.Arch != "" && n.Arch != all.Arch
		if n.Arch != "" {
			all.Arch = n.Arch
		}
	}
	if mixed {
		all.Arch = ""
	}
	return all
}

// quietClaims returns the claims of everything but managed jobs. Claims that may end at any moment
// are set to end at the next half minute. So they stay the same ("quiet") while nothing happens.
func (v *World) quietClaims() []place.Claim {
	soon := v.Now + max(freeing, v.Settings.StartLead+1)
	busy := make(spans, len(v.Nodes))
	for _, c := range v.claims {
		g := v.guards[c.Node]
		overdue := g.from == v.Now && c.To == g.to // the job is past its limit
		if c.From == v.Now && (c.To <= soon || overdue) {
			c.To = HalfMinute(v.Now)
		}
		busy.add(c.Node, c.From, c.To)
	}
	return busy.claims()
}

// quietProfile returns the profile that a running job is promised. The step of a late job is
// assumed to end at the next half minute.
func (v *World) quietProfile(r *managed.Job) core.EP {
	ep := r.Remaining(v.Now)
	if ep[0].Duration > freeing || r.NextNodes != nil || len(ep) != len(r.Promise)-r.PlanStep() {
		return ep
	}
	from := HalfMinute(v.Now)
	ep[0].Duration = from - v.Now
	for k := 1; k < len(ep); k++ {
		i := r.PlanStep() + k
		to := max(r.Promise[i], from+r.EP()[i].Duration)
		ep[k].Duration, from = to-from, to
	}
	return ep
}

// ranked returns the waiting jobs with their ranks. The ranks never decrease along the queue,
// although the batch system may put a job behind jobs that were submitted later. A job with a place
// in the plan has its planned size.
func (v *World) ranked(due map[core.JobID]core.Time) []sched.Ranked {
	places := make(map[core.JobID]core.Planned, len(v.Planned.Jobs))
	for _, p := range v.Planned.Jobs {
		places[p.Job] = p
	}
	all, rank := make([]sched.Ranked, 0, len(v.Queue)), -core.Forever
	seen := make(map[core.JobID]bool, len(v.Queue))
	for _, w := range v.Queue {
		if w.ofApplication() || w.Job.ID < 0 || seen[w.Job.ID] {
			continue
		}
		seen[w.Job.ID] = true
		j := w.Job
		if w.Managed != nil {
			j.Begin = w.Seen.Begin
		}
		p, placed := places[j.ID]
		if placed {
			j.Choices = j.Choices[p.Choice : p.Choice+1]
		}
		if placed && p.Start <= v.Now+v.Settings.StartLead {
			j.Choices = []core.EP{v.restOfDue(j.Choices[0], due, j.ID)}
		} else {
			delete(due, j.ID)
		}
		rank = max(rank, j.Submit)
		all = append(all, sched.Ranked{Job: j, Rank: rank})
	}
	for id := range due {
		if !seen[id] {
			delete(due, id)
		}
	}
	return all
}

// restOfDue returns the rest of a due job's profile, as if the job had started when it became due.
// So later jobs keep their planned times while the batch system starts the due job. After half a
// minute, the job counts as having become due now.
func (v *World) restOfDue(ep core.EP, due map[core.JobID]core.Time, id core.JobID) core.EP {
	since, known := due[id]
	if !known || since > v.Now || v.Now-since >= 30 {
		since = v.Now
		due[id] = since
	}
	rest := append(core.EP(nil), ep...)
	rest[0].Duration = max(1, rest[0].Duration-(v.Now-since))
	return rest
}
