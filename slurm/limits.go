package slurm

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
)

// policiesLast is how long a reading of associations and QOS is taken to be true. Of a site with ten thousand users it is some megabytes.
const policiesLast = 15 * time.Second

// policies reads associations and QOS, where anything goes by them.
func (s *System) policies(ctx context.Context, c configuration) (policies, error) {
	s.mu.Lock()
	known, read, took := s.rules, s.rulesAt, s.rulesTook
	s.mu.Unlock()
	if !read.IsZero() && time.Since(read) < max(policiesLast, 20*took) {
		return known, nil
	}
	begin := time.Now()
	out, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "assoc_mgr", "flags=assoc,qos"}, Kind: client.Listing})
	if err != nil {
		return policies{}, err
	}
	p := parsePolicies(out.Stdout)
	each := s.qualities(ctx)
	for i := range p.qualities {
		p.qualities[i].each = each[p.qualities[i].name]
	}
	s.mu.Lock()
	s.rules, s.rulesAt, s.rulesTook = p, begin, time.Since(begin)
	s.mu.Unlock()
	return p, nil
}

// qualitiesLast is how long what each QOS allows each user is taken to be true: it costs a program, and asks slurmdbd.
const qualitiesLast = 10 * time.Minute

// qualities reads what each QOS allows each user and account. Where slurmdbd is away, what it said before is taken.
func (s *System) qualities(ctx context.Context) map[string][]limits {
	s.mu.Lock()
	known, at := s.each, s.eachAt
	s.mu.Unlock()
	if time.Since(at) < qualitiesLast {
		return known
	}
	out, err := s.run.Run(ctx, client.Call{Program: "sacctmgr", Args: []string{"--noheader", "--parsable2", "--readonly", "show", "qos", "format=Name,MaxTRESPU,MaxTRESPA"}})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eachAt = time.Now(); err == nil {
		s.each = parseEach(out.Stdout)
	}
	return s.each
}

// enforces says whether slurmctld holds jobs to the limits of their associations.
func (c configuration) enforces() bool {
	return slices.Contains(strings.Split(c["AccountingStorageEnforce"], ","), "limits")
}

// needs is what a job takes of what may be limited, on each node of its kind.
func (t terms) needs(r *record) need {
	n := need{each: map[string]int64{"node": 1, "cpu": int64(t.node.effective)}, extra: map[string]int64{}}
	if t.site.memory {
		n.each["mem"] = t.node.free()
		if t.way.growth == Overlap {
			n.each["mem"] -= spare(r)
		}
	}
	for _, list := range []struct {
		text  string
		times int
	}{{r.tresPerNode, 1}, {r.tresPerTask, ceil(r.Tasks, r.Want)}} {
		for item := range strings.SplitSeq(list.text, ",") {
			if name, count := gres(item); name != "" {
				generic, _, _ := strings.Cut(name, ":")
				n.each["gres/"+generic] += int64(count * list.times)
			}
		}
	}
	if t.way.growth == Overlap { // while it grows its own nodes count twice
		n.extra["cpu"] = int64(t.node.effective * len(r.Nodes))
	}
	return n
}

// unwatchedRules is the pause between two readings of associations and QOS while no managed job is there, for job_submit.lua.
const unwatchedRules = 30 * time.Second

// rulesFor reads associations and QOS where something goes by them, and tells the plug-in of them.
func (s *System) rulesFor(ctx context.Context, c configuration, in inventory, managed bool) (policies, error) {
	s.mu.Lock()
	known, at := s.rules, s.rulesAt
	s.mu.Unlock()
	wanted := c.enforces() && s.config.Limits != "" && time.Since(at) > unwatchedRules
	if managed {
		wanted = c.enforces() || c["PriorityType"] == "priority/multifactor"
	}
	if !wanted {
		return known, nil
	}
	rules, err := s.policies(ctx, c)
	if err != nil || !c.enforces() {
		return rules, err
	}
	pool, err := poolNodes(in, s.config.Partitions)
	if err != nil {
		return rules, err
	}
	each := in.least(slices.Collect(maps.Keys(pool)))
	return rules, s.tellPlugin(rules, need{each: map[string]int64{"node": 1, "cpu": int64(max(each.effective, 1))}})
}

// judge writes into managed jobs how they grow, how many nodes the site's limits leave them, and what their rank is made of.
// What cannot be read is not written: the next reading does it. all is the jobs as Slurm has them, jobs with companions folded in.
func (s *System) judge(ctx context.Context, in inventory, all, jobs []record) {
	c, err := s.recent(ctx)
	if err != nil {
		return
	}
	managed := slices.ContainsFunc(jobs, func(r record) bool { return adapter.RequestOf(&r.Job) != "" })
	rules, err := s.rulesFor(ctx, c, in, managed || s.counting())
	if err != nil {
		return
	}
	s.recount(ctx, rules, all)
	if !managed {
		return
	}
	now := time.Now()
	for i := range jobs {
		r := &jobs[i]
		if r.State == adapter.Pending && r.Priority > 0 && c["PriorityType"] == "priority/multifactor" {
			r.Rank = c.parts(r, rules, now)
		}
		if adapter.RequestOf(&r.Job) == "" || r.State != adapter.Pending && r.State != adapter.Running {
			continue
		}
		t, err := s.terms(ctx, r, in.eligible(r, s.config.Partitions))
		switch grows := growths(r) > 0; {
		case err != nil && grows:
			r.Unfit = fmt.Sprintf("it cannot grow by %s here: %v", s.config.Growth, err)
			continue
		case err != nil:
			continue
		case grows:
			r.Grows = t.way.String()
		}
		if why := t.rigid(r); why != "" {
			r.Unfit = why
		}
		if err := t.divided(r); err != nil && r.State == adapter.Pending {
			r.Unfit = err.Error()
		}
		if t.site.trap != "" {
			r.Base = len(r.Nodes)
			if len(r.Parts) > 0 {
				r.Base = len(r.Parts[0].Nodes)
			}
		}
		if c.enforces() {
			ever, now := rules.ceilings(r, len(r.Nodes), t.needs(r))
			r.Most, r.MostNow = ever.most(), now.most()
		}
	}
}

// eligible is nodes that the job holds, or might.
func (in inventory) eligible(r *record, pool []string) []string {
	if len(r.Nodes) > 0 {
		return r.Nodes
	}
	var all []string
	inPool, _ := poolNodes(in, pool) // without nodes there is nothing to hold
	for _, n := range in.nodes {
		if inPool[n.Name] && (r.Kinds == nil || slices.Contains(r.Kinds, n.Kind)) {
			all = append(all, n.Name)
		}
	}
	return all
}

// parts is what a waiting job's rank is made of, the greatest first, as far as it can be told.
func (c configuration) parts(r *record, rules policies, now time.Time) []adapter.RankPart {
	share := func(key string, factor float64) int64 {
		weight, _ := c.number(key)
		return int64(math.Round(float64(weight) * factor))
	}
	age := c.age(r, now)
	if !r.parked() {
		age = min(age, r.Priority)
	}
	all := []adapter.RankPart{{Name: "age", Points: age}}
	if chain := rules.chain(r.account, r.User); len(chain) > 0 {
		all = append(all, adapter.RankPart{Name: "fair share", Points: share("PriorityWeightFairShare", chain[0].factor)})
	}
	most := int64(0)
	for _, q := range rules.qualities {
		most = max(most, q.priority)
	}
	if q := rules.quality(r.QOS); q != nil && most > 0 {
		all = append(all, adapter.RankPart{Name: "QOS", Points: share("PriorityWeightQOS", float64(q.priority)/float64(most))})
	}
	rest := r.Priority
	for _, p := range all {
		rest -= p.Points
	}
	all = append(all, adapter.RankPart{Name: "other", Points: rest})
	slices.SortStableFunc(all, func(a, b adapter.RankPart) int { return int(b.Points - a.Points) })
	return slices.DeleteFunc(all, func(p adapter.RankPart) bool { return p.Points == 0 })
}
