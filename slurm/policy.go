package slurm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
)

// This file reads what slurmctld knows of associations and QOS (`scontrol -o show assoc_mgr`): the fair share of each user, and
// limits with what is used of them.

// A bound is a limit and what of it is used. Nobody has set it where limit is negative.
type bound struct{ limit, used int64 }

// parseBound reads N(3), 5(3), or a limit alone.
func parseBound(s string) bound {
	limit, used, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	b := bound{limit: -1}
	if n, err := strconv.ParseInt(limit, 10, 64); err == nil {
		b.limit = n
	}
	if n, err := strconv.ParseFloat(used, 64); err == nil {
		b.used = int64(n)
	}
	return b
}

// bounds are those of trackable resources, by name: node, cpu, mem (MB), gres/gpu.
type bounds map[string]bound

// parseBounds reads cpu=10(6),node=N(3).
func parseBounds(s string) bounds {
	all := bounds{}
	for item := range strings.SplitSeq(s, ",") {
		if name, value, ok := strings.Cut(item, "="); ok {
			if b := parseBound(value); b.limit >= 0 || b.used > 0 {
				all[name] = b
			}
		}
	}
	return all
}

// limits are those of an association, of a QOS, or of one user or account within a QOS.
type limits struct {
	of      string // in words
	group   bounds // all jobs together
	perJob  bounds // each job
	jobs    bound  // running jobs
	submits bound  // running and waiting jobs
	// An association's yields to a QOS's own of the same kind.
	association, own bool
}

// An association is a user's account, or an account.
type association struct {
	limits
	id, parent string
	account    string
	user, uid  string  // "" of an account
	factor     float64 // of its fair share, from 0 to 1
	running    bound   // jobs of all below it that run; what is used is told with or without a limit
}

// A quality is a QOS.
type quality struct {
	limits
	name     string
	priority int64
	within   map[string]limits // of accounts by name, of users by number, as far as they have had jobs
	each     []limits          // of every user and of every account
}

// policies are what slurmctld knows of both.
type policies struct {
	associations []association
	qualities    []quality
}

// parsePolicies reads them, a line each.
func parsePolicies(out string) policies {
	var p policies
	for line := range strings.SplitSeq(out, "\n") {
		switch {
		case strings.HasPrefix(line, "ClusterName="):
			p.associations = append(p.associations, parseAssociation(line))
		case strings.HasPrefix(line, "QOS="):
			p.qualities = append(p.qualities, parseQuality(line))
		}
	}
	return p
}

func parseAssociation(line string) association {
	a := association{id: strings.Clone(field(line, "ID")), account: strings.Clone(field(line, "Account"))}
	a.user, a.uid, _ = strings.Cut(strings.TrimSuffix(strings.Clone(field(line, "UserName")), ")"), "(")
	_, parent, _ := strings.Cut(field(line, "ParentAccount"), "(")
	a.parent = strings.Clone(strings.TrimSuffix(parent, ")"))
	shares := strings.Split(field(line, "SharesRaw/Norm/Level/Factor"), "/")
	a.factor, _ = strconv.ParseFloat(shares[len(shares)-1], 64)
	a.of, a.association = "account "+a.account, true
	if a.user != "" {
		a.of = fmt.Sprintf("user %s in account %s", a.user, a.account)
	}
	a.running = parseBound(field(line, "GrpJobs"))
	a.group, a.perJob = parseBounds(field(line, "GrpTRES")), parseBounds(field(line, "MaxTRESPJ"))
	a.jobs = tighter(a.running, parseBound(field(line, "MaxJobs")))
	a.submits = tighter(parseBound(field(line, "GrpSubmitJobs")), parseBound(field(line, "MaxSubmitJobs")))
	return a
}

// tighter is the bound that leaves less.
func tighter(a, b bound) bound {
	if b.limit >= 0 && (a.limit < 0 || b.limit-b.used < a.limit-a.used) {
		return b
	}
	return a
}

func parseQuality(line string) quality {
	name, _, _ := strings.Cut(field(line, "QOS"), "(")
	q := quality{name: strings.Clone(name), within: map[string]limits{}}
	q.of, q.own = "QOS "+q.name, true
	head, rest, _ := strings.Cut(line, " Account Limits=")
	q.group, q.perJob = parseBounds(field(head, "GrpTRES")), parseBounds(field(head, "MaxTRESPJ"))
	q.jobs, q.submits = parseBound(field(head, "GrpJobs")), parseBound(field(head, "GrpSubmitJobs"))
	q.priority, _ = strconv.ParseInt(field(head, "Priority"), 10, 64)
	for _, part := range strings.SplitAfter(rest, "}") {
		who, what, ok := strings.Cut(strings.TrimSuffix(part, "}"), "={")
		if !ok {
			continue
		}
		who = strings.Clone(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(who), "User Limits=")))
		l := limits{of: fmt.Sprintf("QOS %s, for %s", q.name, who)}
		for _, suffix := range []string{"PA", "PU"} {
			if field(what, "MaxTRES"+suffix) != "" {
				l.group = parseBounds(field(what, "MaxTRES"+suffix))
				l.jobs, l.submits = parseBound(field(what, "MaxJobs"+suffix)), parseBound(field(what, "MaxSubmitJobs"+suffix))
			}
		}
		q.within[who] = l
	}
	return q
}

// chain is the association of a user's account, and those above it.
func (p policies) chain(account, user string) []association {
	var all []association
	i := slices.IndexFunc(p.associations, func(a association) bool { return a.account == account && a.user == user })
	if i >= 0 {
		all = append(all, p.associations[i])
	}
	next := func(a association) bool { return a.account == account && a.user == "" }
	for range p.associations { // not more often than there are
		i = slices.IndexFunc(p.associations, next)
		if i < 0 {
			break
		}
		all = append(all, p.associations[i])
		parent := p.associations[i].parent
		next = func(a association) bool { return a.id == parent }
	}
	return all
}

func (p policies) quality(name string) *quality {
	if i := slices.IndexFunc(p.qualities, func(q quality) bool { return q.name == name }); i >= 0 {
		return &p.qualities[i]
	}
	return nil
}

// over is everything that limits a job, in the order in which Slurm looks at it: its QOS, and the associations.
func (p policies) over(r *record) []limits {
	var all []limits
	if q := p.quality(r.QOS); q != nil {
		all = append(all, q.limits)
		all = append(all, q.each...)
		for _, who := range []string{r.account, fmt.Sprint(r.UID)} {
			if l, ok := q.within[who]; ok {
				all = append(all, l)
			}
		}
	}
	for _, a := range p.chain(r.account, r.User) {
		all = append(all, a.limits)
	}
	return all
}

// A ceiling is how many nodes a job may have, and why so. There is none where nodes is negative.
type ceiling struct {
	nodes int
	why   string
}

// lower is the lower of two.
func (c ceiling) lower(o ceiling) ceiling {
	if c.nodes < 0 || o.nodes >= 0 && o.nodes < c.nodes {
		return o
	}
	return c
}

// most is the ceiling as the sidecar is told of it.
func (c ceiling) most() adapter.Most {
	if c.nodes < 0 {
		return adapter.Most{}
	}
	return adapter.Most{Nodes: c.nodes, Why: c.why}
}

// need is what a job takes of each resource.
type need struct {
	each  map[string]int64 // on each node
	extra map[string]int64 // besides, while it grows
}

// among goes through the limits of resources of which a job takes some.
func (l limits) among(n need, found func(kind, name string, b bound)) {
	for _, kind := range []struct {
		name   string
		bounds bounds
	}{{ofEach, l.perJob}, {ofAll, l.group}} {
		for _, name := range slices.Sorted(maps.Keys(kind.bounds)) {
			if b := kind.bounds[name]; b.limit >= 0 && n.each[name] > 0 {
				found(kind.name, name, b)
			}
		}
	}
}

// What a limit is of, in words.
const (
	ofEach = "the limit of each job of"
	ofAll  = "the limit of"
)

// ceilings is how many nodes the job may have at most: ever, and now, when it has so many already.
func (p policies) ceilings(r *record, has int, n need) (ever, now ceiling) {
	ever, now = ceiling{nodes: -1}, ceiling{nodes: -1}
	outranked := map[string]bool{} // limits of associations in whose place there is one of the QOS
	for _, l := range p.over(r) {
		l.among(n, func(kind, name string, b bound) {
			if l.association && outranked[kind+name] {
				return
			}
			outranked[kind+name] = outranked[kind+name] || l.own
			ever = ever.lower(ceiling{int(b.limit / n.each[name]), fmt.Sprintf("%s %s is %s=%d", kind, l.of, name, b.limit)})
			if kind == ofAll {
				left := max(0, b.limit-b.used-n.extra[name]) / n.each[name]
				now = now.lower(ceiling{has + int(min(left, math.MaxInt32)), fmt.Sprintf("%s %s is %s=%d, of which %d are in use", kind, l.of, name, b.limit, b.used)})
			}
		})
	}
	return ever, now.lower(ever)
}

// parseEach reads what `sacctmgr --noheader --parsable2 show qos format=Name,MaxTRESPU,MaxTRESPA` prints: what each QOS allows each user
// and each account. slurmctld tells of those that have had jobs only.
func parseEach(out string) map[string][]limits {
	each := map[string][]limits{}
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			continue
		}
		for i, who := range []string{"user", "account"} {
			if b := parseBounds(f[1+i]); len(b) > 0 {
				each[strings.Clone(f[0])] = append(each[f[0]], limits{of: fmt.Sprintf("QOS %s for each %s", f[0], who), group: b, jobs: bound{limit: -1}, submits: bound{limit: -1}})
			}
		}
	}
	return each
}
