package limits

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// This file reads what slurmctld knows of associations and QOS (`scontrol -o show assoc_mgr`): the fair share of each user, and
// Set with what is used of them.

// A bound is a limit and what of it is used. Nobody has set it where limit is negative.
type bound struct{ limit, used int64 }

// parseBound reads a bound of jobs: N(3), 5(3), or a limit alone.
func parseBound(s string) bound { return boundOf(s, number.Count) }

// boundOf reads a bound whose limit read understands.
func boundOf(s string, read func(string) (int64, error)) bound {
	limit, used, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	b := bound{limit: -1}
	if n, err := read(limit); err == nil {
		b.limit = n
	}
	if n, err := strconv.ParseFloat(used, 64); err == nil {
		b.used = int64(n)
	}
	return b
}

// bounds are those of trackable resources, by name: node, cpu, mem (MB), gres/gpu.
type bounds map[string]bound

// parseBounds reads cpu=10(6),node=N(3), or mem=100G as sacctmgr writes it.
func parseBounds(s string) bounds {
	all := bounds{}
	for item := range strings.SplitSeq(s, ",") {
		if name, value, ok := strings.Cut(item, "="); ok {
			read := number.Count
			if name == "mem" {
				read = number.Memory
			}
			if b := boundOf(value, read); b.limit >= 0 || b.used > 0 {
				all[name] = b
			}
		}
	}
	return all
}

// Set are those of an association, of a QOS, or of one user or account within a QOS.
type Set struct {
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
	Set
	id, parent string
	account    string
	user, uid  string  // "" of an account
	factor     float64 // of its fair share, from 0 to 1
	running    bound   // jobs of all below it that run; what is used is told with or without a limit
}

// A quality is a QOS.
type quality struct {
	Set
	name     string
	priority int64
	within   map[string]Set // of accounts by name, of users by number, as far as they have had jobs
	each     []Set          // of every user and of every account
}

// Policies are what slurmctld knows of both.
type Policies struct {
	associations []association
	qualities    []quality
}

// Parse reads them, a line each.
func Parse(out string) Policies {
	var p Policies
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
	a := association{id: strings.Clone(output.Field(line, "ID")), account: strings.Clone(output.Field(line, "Account"))}
	a.user, a.uid, _ = strings.Cut(strings.TrimSuffix(strings.Clone(output.Field(line, "UserName")), ")"), "(")
	_, parent, _ := strings.Cut(output.Field(line, "ParentAccount"), "(")
	a.parent = strings.Clone(strings.TrimSuffix(parent, ")"))
	shares := strings.Split(output.Field(line, "SharesRaw/Norm/Level/Factor"), "/")
	a.factor, _ = strconv.ParseFloat(shares[len(shares)-1], 64)
	a.of, a.association = "account "+a.account, true
	if a.user != "" {
		a.of = fmt.Sprintf("user %s in account %s", a.user, a.account)
	}
	a.running = parseBound(output.Field(line, "GrpJobs"))
	a.group, a.perJob = parseBounds(output.Field(line, "GrpTRES")), parseBounds(output.Field(line, "MaxTRESPJ"))
	a.jobs = tighter(a.running, parseBound(output.Field(line, "MaxJobs")))
	a.submits = tighter(parseBound(output.Field(line, "GrpSubmitJobs")), parseBound(output.Field(line, "MaxSubmitJobs")))
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
	name, _, _ := strings.Cut(output.Field(line, "QOS"), "(")
	q := quality{name: strings.Clone(name), within: map[string]Set{}}
	q.of, q.own = "QOS "+q.name, true
	head, rest, _ := strings.Cut(line, " Account Limits=")
	q.group, q.perJob = parseBounds(output.Field(head, "GrpTRES")), parseBounds(output.Field(head, "MaxTRESPJ"))
	q.jobs, q.submits = parseBound(output.Field(head, "GrpJobs")), parseBound(output.Field(head, "GrpSubmitJobs"))
	q.priority, _ = strconv.ParseInt(output.Field(head, "Priority"), 10, 64)
	for _, part := range strings.SplitAfter(rest, "}") {
		who, what, ok := strings.Cut(strings.TrimSuffix(part, "}"), "={")
		if !ok {
			continue
		}
		who = strings.Clone(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(who), "User Limits=")))
		l := Set{of: fmt.Sprintf("QOS %s, for %s", q.name, who)}
		for _, suffix := range []string{"PA", "PU"} {
			if output.Field(what, "MaxTRES"+suffix) != "" {
				l.group = parseBounds(output.Field(what, "MaxTRES"+suffix))
				l.jobs, l.submits = parseBound(output.Field(what, "MaxJobs"+suffix)), parseBound(output.Field(what, "MaxSubmitJobs"+suffix))
			}
		}
		q.within[who] = l
	}
	return q
}

// chain is the association of a user's account, and those above it.
func (p Policies) chain(account, user string) []association {
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

func (p Policies) quality(name string) *quality {
	if i := slices.IndexFunc(p.qualities, func(q quality) bool { return q.name == name }); i >= 0 {
		return &p.qualities[i]
	}
	return nil
}

// over is everything that limits a job, in the order in which Slurm looks at it: its QOS, and the associations.
func (p Policies) over(r *output.Record) []Set {
	var all []Set
	if q := p.quality(r.QOS); q != nil {
		all = append(all, q.Set)
		all = append(all, q.each...)
		for _, who := range []string{r.Account, fmt.Sprint(r.UID)} {
			if l, ok := q.within[who]; ok {
				all = append(all, l)
			}
		}
	}
	for _, a := range p.chain(r.Account, r.User) {
		all = append(all, a.Set)
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

// Most is the ceiling as the sidecar is told of it.
func (c ceiling) Most() adapter.Most {
	if c.nodes < 0 {
		return adapter.Most{}
	}
	return adapter.Most{Nodes: c.nodes, Why: c.why}
}

// Need is what a job takes of each resource.
type Need struct {
	Each  map[string]int64 // on each node
	Extra map[string]int64 // besides, while it grows
}

// among goes through the limits of resources of which a job takes some.
func (l Set) among(n Need, found func(kind, name string, b bound)) {
	for _, kind := range []struct {
		name   string
		bounds bounds
	}{{ofEach, l.perJob}, {ofAll, l.group}} {
		for _, name := range slices.Sorted(maps.Keys(kind.bounds)) {
			if b := kind.bounds[name]; b.limit >= 0 && n.Each[name] > 0 {
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

// Ceilings is how many nodes the job may have at most: ever, and now, when it has so many already.
func (p Policies) Ceilings(r *output.Record, has int, n Need) (ever, now ceiling) {
	ever, now = ceiling{nodes: -1}, ceiling{nodes: -1}
	outranked := map[string]bool{} // limits of associations in whose place there is one of the QOS
	for _, l := range p.over(r) {
		l.among(n, func(kind, name string, b bound) {
			if l.association && outranked[kind+name] {
				return
			}
			outranked[kind+name] = outranked[kind+name] || l.own
			ever = ever.lower(ceiling{int(b.limit / n.Each[name]), fmt.Sprintf("%s %s is %s=%d", kind, l.of, name, b.limit)})
			if kind == ofAll {
				left := max(0, b.limit-b.used-n.Extra[name]) / n.Each[name]
				now = now.lower(ceiling{has + int(min(left, math.MaxInt32)), fmt.Sprintf("%s %s is %s=%d, of which %d are in use", kind, l.of, name, b.limit, b.used)})
			}
		})
	}
	return ever, now.lower(ever)
}

// SetEach adds what each QOS allows every user and account, by the name of the QOS (ParseEach). slurmctld does not report that.
func (p Policies) SetEach(each map[string][]Set) {
	for i := range p.qualities {
		p.qualities[i].each = each[p.qualities[i].name]
	}
}

// ParseEach reads what `sacctmgr --noheader --parsable2 show qos format=Name,MaxTRESPU,MaxTRESPA` prints: what each QOS allows each user
// and each account. slurmctld tells of those that have had jobs only.
func ParseEach(out string) map[string][]Set {
	each := map[string][]Set{}
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			continue
		}
		for i, who := range []string{"user", "account"} {
			if b := parseBounds(f[1+i]); len(b) > 0 {
				each[strings.Clone(f[0])] = append(each[f[0]], Set{of: fmt.Sprintf("QOS %s for each %s", f[0], who), group: b, jobs: bound{limit: -1}, submits: bound{limit: -1}})
			}
		}
	}
	return each
}
