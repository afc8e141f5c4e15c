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

// This file reads slurmctld's associations and QOS (`scontrol -o show assoc_mgr`). They hold the fair share of each
// user, and limits with their usage.

// A bound is a limit and how much of it is used. A negative limit means that there is no limit.
type bound struct{ limit, used int64 }

// parseBound parses a bound on jobs: N(3), 5(3), or only a limit.
func parseBound(s string) bound { return boundOf(s, number.Count) }

// boundOf parses a bound. It parses the bound's limit with `read`.
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

// bounds holds the bounds on trackable resources, by name: node, cpu, mem (MB), gres/gpu.
type bounds map[string]bound

// parseBounds parses cpu=10(6),node=N(3), or mem=100G as sacctmgr writes it.
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

// A Set holds the limits of an association, of a QOS, or of one user or account within a QOS.
type Set struct {
	of      string // for messages
	group   bounds // limits on all jobs together
	perJob  bounds // limits on each job
	jobs    bound  // running jobs
	submits bound  // running and pending jobs
	// A limit of a QOS replaces an association's limit of the same kind.
	association, own bool
}

// An association is an account, or a user's membership in an account.
type association struct {
	Set
	id, parent string
	account    string
	user, uid  string  // "" for an account
	factor     float64 // fair-share factor, from 0 to 1
	running    bound   // all running jobs of the account and everything below it; the usage is known even without a limit
}

// A quality is one QOS.
type quality struct {
	Set
	name     string
	priority int64
	within   map[string]Set // limits within the QOS of accounts and users that have had jobs, by account name or uid
	each     []Set          // limits for every user and every account
}

// Policies holds slurmctld's associations and QOS.
type Policies struct {
	associations []association
	qualities    []quality
}

// Parse parses slurmctld's associations and QOS, one on each line.
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

// tighter returns the bound that allows fewer further jobs.
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

// chain returns the association of a user in an account, followed by the associations above it.
func (p Policies) chain(account, user string) []association {
	var all []association
	i := slices.IndexFunc(p.associations, func(a association) bool { return a.account == account && a.user == user })
	if i >= 0 {
		all = append(all, p.associations[i])
	}
	next := func(a association) bool { return a.account == account && a.user == "" }
	for range p.associations { // ends even if the parents form a cycle
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

// over returns all sets of limits that apply to a job, in Slurm's order: first the job's QOS, then its
// associations.
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

// A ceiling is the maximum number of nodes of a job, with the reason. A negative number means that there is no
// maximum.
type ceiling struct {
	nodes int
	why   string
}

// lower returns the lower of two ceilings.
func (c ceiling) lower(o ceiling) ceiling {
	if c.nodes < 0 || o.nodes >= 0 && o.nodes < c.nodes {
		return o
	}
	return c
}

// Most returns the ceiling in the adapter's type.
func (c ceiling) Most() adapter.NodeLimit {
	if c.nodes < 0 {
		return adapter.NodeLimit{}
	}
	return adapter.NodeLimit{Nodes: c.nodes, Why: c.why}
}

// Need is how much of each resource a job takes.
type Need struct {
	Each  map[string]int64 // on each node
	Extra map[string]int64 // additionally while it grows
}

// among calls `found` for each limit on a resource that the job uses.
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

// The kinds of limits, for messages.
const (
	ofEach = "the limit of each job of"
	ofAll  = "the limit of"
)

// Ceilings returns two maximum numbers of nodes for the job. `ever` is what the limits allow however little of them
// is in use. `now` takes into account how much of the limits is in use. `has` is the number of nodes that the job
// already has.
func (p Policies) Ceilings(r *output.Record, has int, n Need) (ever, now ceiling) {
	ever, now = ceiling{nodes: -1}, ceiling{nodes: -1}
	outranked := map[string]bool{} // association limits that a limit of the QOS replaces
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

// SetEach sets each QOS's per-user and per-account limits, keyed by QOS name (ParseEach). slurmctld does not report
// these limits.
func (p Policies) SetEach(each map[string][]Set) {
	for i := range p.qualities {
		p.qualities[i].each = each[p.qualities[i].name]
	}
}

// ParseEach parses the per-user and per-account limits of each QOS from the output of `sacctmgr --noheader
// --parsable2 show qos format=Name,MaxTRESPU,MaxTRESPA`. slurmctld reports these limits only for users and accounts
// that have had jobs.
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
