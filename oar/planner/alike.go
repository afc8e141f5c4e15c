package planner

import (
	"cmp"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/place"
	"accordion/core/policy"
	"accordion/core/sched"
)

// PlanAlike plans a queue in which every job requests only a number of hosts of the same tree, and depends on no other
// job. core/sched first decides how many hosts each job gets and when. core/place then decides which hosts. (A plan
// that assigns hosts job by job leaves gaps that no job fits.) `ok` is false for any other queue. It is also false if
// no hosts can be assigned because later claims interrupt the time of too many hosts. In both cases the caller uses
// Plan.
//
// A rule may plan the jobs in an order that differs from their order in the queue.
func PlanAlike(r Rule, usable Set, now core.Time, claims []Claim, jobs []Job) (plan []Placed, ok bool) {
	tree := sharedTree(jobs)
	if tree == nil {
		return nil, false
	}
	h := newHosts(tree, usable, now, claims)
	state := r.Policy.New(core.Machine{Nodes: h.parts - len(h.lost)})
	for i, c := range h.busy {
		state.Running(now, core.Allocation{Job: core.JobID(-1 - i), Start: c.From, EP: core.EP{{Duration: c.To - c.From, Nodes: c.Node}}})
	}
	if sizer, sizes := state.(sched.Sizer); sizes {
		r.count(sizer.Load(), now, h)
	}
	evolve := map[int64]bool{}
	for _, j := range jobs {
		evolve[j.ID] = j.Profiles != nil
		r.submit(state, now, j, func(c Choice) int { return c.Groups[0].Counts[0] })
	}
	wishes := make([]place.Request, 0, len(jobs))
	found := map[int64]core.Planned{}
	for _, p := range state.Plan(now).Jobs {
		wishes = append(wishes, place.Request{Job: p.Job, Start: p.Start, EP: p.EP})
		found[int64(p.Job)] = p
	}
	names := map[int64]Set{}
	for _, n := range place.Name(len(tree.children), h.claims, wishes) {
		if n.Err != nil && !evolve[int64(n.Job)] {
			return nil, false
		}
		has := make(Set, len(usable))
		for _, l := range n.Layers {
			for _, host := range l.Nodes {
				part := tree.children[host]
				part.of(has).Join(part.words)
			}
		}
		names[int64(n.Job)] = has
	}
	for _, j := range jobs {
		p, planned := found[j.ID]
		if !planned {
			plan = append(plan, Placed{Job: j.ID, Why: r.without(j, h.parts-len(h.lost))})
			continue
		}
		plan = append(plan, Placed{Job: j.ID, Choice: p.Choice, Start: p.Start, Duration: p.EP.Total(), Resources: names[j.ID]})
	}
	return plan, true
}

// without returns the reason why a job has no place on a machine with `machine` hosts.
func (r Rule) without(j Job, machine int) string {
	_, few := policy.Patient(r.Policy)
	if few && slices.ContainsFunc(j.Choices, func(c Choice) bool { return c.Groups[0].Counts[0] <= machine }) {
		return StartsLater
	}
	return NeverFits
}

// sharedTree returns the tree from which every job requests a number of hosts (parts of the first level), or nil if the jobs have no tree
// in common.
func sharedTree(jobs []Job) *Tree {
	var tree *Tree
	for _, j := range jobs {
		if tree == nil {
			tree = j.Hosts
		}
		if j.Profiles != nil && j.Hosts != tree {
			return nil
		}
		if j.Deadline > 0 || len(j.After) > 0 {
			return nil
		}
		for _, c := range j.Choices {
			if len(c.Groups) != 1 || len(c.Groups[0].Counts) != 1 || c.Groups[0].Counts[0] < 1 {
				return nil
			}
			if tree == nil {
				tree = c.Groups[0].Tree
			}
			if c.Groups[0].Tree != tree {
				return nil
			}
		}
	}
	return tree
}

// counted converts the job for core/sched. `count` returns the number of nodes of a choice. The steps of a profile keep their sizes.
func (j Job) counted(count func(Choice) int) core.Job {
	counted := core.Job{ID: core.JobID(j.ID), Submit: j.Submit, Begin: j.Begin, Pause: j.Pause}
	counted.Choices = append(counted.Choices, j.Profiles...)
	for _, c := range j.Choices {
		counted.Choices = append(counted.Choices, core.EP{{Duration: c.Duration, Nodes: count(c)}})
	}
	return counted
}

// hosts holds the claims on the parts of a tree's first level.
type hosts struct {
	claims []place.Claim // claims on one host each; the claims on the same host do not overlap in time
	parts  int           // number of hosts
	lost   []int         // hosts that cannot be used
	busy   []place.Claim // claims on the other hosts, added up; their field Node is a number of hosts
	of     []int         // number of the host of each resource, counted from 1; 0 if the resource has no host
}

// counter returns a function that counts the usable hosts to which some resources belong.
func (h hosts) counter() func(Set) int {
	seen := make([]int, h.parts+1) // for each host, the number of the last call that counted it
	for _, host := range h.lost {
		seen[host+1] = math.MaxInt
	}
	call := 0
	return func(some Set) (n int) {
		call++
		for r := range some.All() {
			if host := h.of[r]; host > 0 && seen[host] < call {
				seen[host] = call
				n++
			}
		}
		return n
	}
}

// newHosts computes the claims on each host. A host with an unusable resource counts as claimed forever. A host with any claimed resource
// counts as claimed entirely.
func newHosts(tree *Tree, usable Set, now core.Time, claims []Claim) hosts {
	h := hosts{parts: len(tree.children), of: make([]int, 64*len(usable))}
	own := make([][]place.Claim, len(tree.children))
	for host, part := range tree.children {
		for r := range part.all() {
			h.of[r] = host + 1
		}
		if !part.of(usable).Holds(part.words) {
			own[host] = append(own[host], place.Claim{Node: host, From: now, To: core.Forever})
			h.lost = append(h.lost, host)
		}
	}
	for _, c := range claims {
		if c.To <= now || c.From >= c.To {
			continue
		}
		last := 0
		for r := range c.Resources.All() {
			if h.of[r] != last && h.of[r] > 0 {
				last = h.of[r]
				own[last-1] = append(own[last-1], place.Claim{Node: last - 1, From: max(c.From, now), To: c.To})
			}
		}
	}
	for host, claims := range own {
		for _, c := range joined(claims) {
			h.claims = append(h.claims, c)
			if part := tree.children[host]; part.of(usable).Holds(part.words) {
				c.Node = 1
				h.busy = append(h.busy, c)
			}
		}
	}
	slices.SortFunc(h.busy, func(a, b place.Claim) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	same := h.busy[:0]
	for _, c := range h.busy {
		if last := len(same) - 1; last >= 0 && same[last].From == c.From && same[last].To == c.To {
			same[last].Node++
			continue
		}
		same = append(same, c)
	}
	h.busy = same
	return h
}

// joined merges claims of one host that overlap or touch.
func joined(claims []place.Claim) []place.Claim {
	slices.SortFunc(claims, func(a, b place.Claim) int { return cmp.Compare(a.From, b.From) })
	var all []place.Claim
	for _, c := range claims {
		if last := len(all) - 1; last >= 0 && c.From <= all[last].To {
			all[last].To = max(all[last].To, c.To)
			continue
		}
		all = append(all, c)
	}
	return all
}
