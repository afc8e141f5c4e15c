package slurm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Growth is a way in which Slurm makes a running job larger.
type Growth string

// The ways to grow.
const (
	// Auto takes the quickest way that is sound on this cluster for this job.
	Auto Growth = "auto"
	// Merge allocates an expander on the new nodes and merges it into the job.
	Merge Growth = "merge"
	// Overlap allocates one expander on the new nodes, and a second one over them and the job's own, and merges both: for clusters
	// that bind tasks to cores, where a merge of nodes that the job does not have garbles which cores are its own.
	Overlap Growth = "overlap"
	// Companions allocates jobs of the same owner beside the job, which are never merged.
	Companions Growth = "companions"
)

// ParseGrowth reads what a configuration says: auto, merge, overlap or companions.
func ParseGrowth(text string) (Growth, error) {
	if g := Growth(text); slices.Contains([]Growth{Auto, Merge, Overlap, Companions}, g) {
		return g, nil
	}
	return "", fmt.Errorf("%q is no way to grow: write auto, merge, overlap or companions", text)
}

// A site is what of a cluster's settings decides how its jobs may grow.
type site struct {
	release  int    // 22.05 is 2205
	expands  bool   // permit_job_expansion
	trap     string // why a resize would go wrong for want of slurmdbd, whenever it is made; "": it would not
	binds    string // the setting by which tasks are bound to cores; "": they are not
	gres     bool   // GresTypes: nodes may have generic resources
	memory   bool   // memory is given to jobs as cores are
	tiers    bool   // partitions preempt each other (preempt/partition_prio), in a release that then gives no core twice
	guarded  bool   // our plug-in looks at what is submitted: it takes from jobs of the pool that they share their cores
	prologs  bool   // a script prepares a node for a job
	epilogs  bool   // a script cleans up a node after a job
	sparing  bool   // a job gets the CPUs that its tasks need, and no more, also where it asks for more on each node
	deferred bool   // nothing is allocated at the instant of a submission
	strange  bool   // a node that has not heard of a job starts none of its steps, and is drained
}

// site reads the settings that decide it.
func (c configuration) site() site {
	release, _ := c.version()
	scheduler := strings.Split(c["SchedulerParameters"], ",")
	return site{
		release:  release,
		expands:  slices.Contains(scheduler, "permit_job_expansion"),
		trap:     c.neverResizes(),
		binds:    c.binds(),
		gres:     c["GresTypes"] != "",
		memory:   strings.Contains(c["SelectTypeParameters"], "MEMORY"),
		tiers:    c["PreemptType"] == byTier && release < doubled,
		guarded:  c[guard] == "ours",
		prologs:  c["Prolog"] != "",
		epilogs:  c["Epilog"] != "",
		strange:  release >= owned && strings.Contains(c["PrologFlags"], "Alloc"),
		sparing:  release >= owned,
		deferred: slices.ContainsFunc(scheduler, func(s string) bool { return s == "defer" || s == "defer_batch" }),
	}
}

// doubled is the first release of which it is known that it gives cores twice where partitions preempt each other.
const doubled = 2411

// byTier is the PreemptType with which partitions preempt each other.
const byTier = "preempt/partition_prio"

// binds is the setting by which tasks are bound to cores, "" where none does.
func (c configuration) binds() string {
	plugins := strings.Split(c["TaskPlugin"], ",")
	switch {
	case slices.Contains(plugins, "task/affinity"):
		return "TaskPlugin=task/affinity"
	case slices.Contains(plugins, "task/cgroup") && c["ConstrainCores"] == "yes":
		return "ConstrainCores=yes"
	}
	return ""
}

// neverResizes says why no resize is sound on this cluster, whether slurmdbd answers now or not.
func (c configuration) neverResizes() string {
	if c.needsDatabase() && c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return fmt.Sprintf("Slurm %s cannot resize a job twice without slurmdbd (AccountingStorageType is %s)", c["SLURM_VERSION"], c["AccountingStorageType"])
	}
	return ""
}

// A sharing is how a partition, or a job, shares nodes with other jobs, in Slurm's words: EXCLUSIVE, NO, YES:2, FORCE:4…
type sharing string

// ofOneUser ends a partition's sharing where a node is one user's at a time.
const ofOneUser = ",USER"

// whole says whether every job of the partition gets whole nodes.
func (s sharing) whole() bool { return s == "EXCLUSIVE" }

// doubles says whether cores may be given to a second job where both ask for that, and only then.
func (s sharing) doubles() bool {
	many, ok := strings.CutPrefix(s.overSubscribe(), "YES:")
	return ok && many != "1"
}

// overSubscribe is Slurm's word for it, with the number.
func (s sharing) overSubscribe() string { return strings.TrimSuffix(string(s), ofOneUser) }

// keepsOthersOff says whether no other user's job can come to lie on a node that a job of the partition has a part of.
func (s sharing) keepsOthersOff() bool { return s.whole() || strings.HasSuffix(string(s), ofOneUser) }

// forced says whether cores are given to several jobs whether they ask for that or not.
func (s sharing) forced() bool {
	many, ok := strings.CutPrefix(s.overSubscribe(), "FORCE")
	return ok && many != ":1"
}

// A way is how a job grows, and why so, in words for its user.
type way struct {
	growth Growth
	why    string
}

func (w way) String() string { return fmt.Sprintf("%s (%s)", w.growth, w.why) }

// wayOf decides how a job with or without generic resources grows in a partition. wish is what the administrator says. The error
// says why the job cannot grow as he wishes.
func (s site) wayOf(wish Growth, in sharing, gres bool) (way, error) {
	merge, overlap := s.mergeable(in, gres), s.overlappable(in, gres)
	switch {
	case wish == Merge && merge != "":
		return way{}, errors.New(merge)
	case wish == Overlap && overlap != "":
		return way{}, errors.New(overlap)
	case wish != Auto:
		return way{wish, "so it is configured"}, nil
	case merge == "":
		return way{Merge, "a merge is sound here"}, nil
	case overlap == "":
		return way{Overlap, merge}, nil
	case merge == overlap:
		return way{Companions, merge}, nil
	}
	return way{Companions, merge + "; " + overlap}, nil
}

// mergeable says why an expander on new nodes alone may not be merged; "": it may.
func (s site) mergeable(in sharing, gres bool) string {
	switch why := s.resizable(gres); {
	case why != "":
		return why
	case s.binds != "" && s.release > 2108: // 20.11 and 21.08 are right
		return fmt.Sprintf("cores are bound (%s), and Slurm garbles the core map of a merged job", s.binds)
	case s.strange:
		return "with PrologFlags=Alloc or Contain a node starts no step of a job that it has not heard of, and a merge does not tell it"
	case s.gres && in.whole():
		return "GresTypes is set and the partition is EXCLUSIVE, so that every job has a list of generic resources, which Slurm does not merge"
	case in.forced():
		return fmt.Sprintf("the partition shares cores (OverSubscribe=%s)", in.overSubscribe())
	}
	return ""
}

// overlappable says why expanders may not be merged over the job's own nodes; "": they may.
func (s site) overlappable(in sharing, gres bool) string {
	switch why := s.resizable(gres); {
	case why != "":
		return why
	case !in.doubles():
		return fmt.Sprintf("the partition has OverSubscribe=%s, and two allocations of one core need YES:2", in.overSubscribe())
	case s.tiers:
		return "where partitions preempt each other (PreemptType=" + byTier + ") Slurm gives no core to two allocations"
	case !s.guarded && !in.keepsOthersOff():
		return "neither the plug-in nor ExclusiveUser=YES keeps other users' jobs that oversubscribe off its cores"
	}
	return ""
}

// resizable says why no allocation may be merged into the job at all; "": one may.
func (s site) resizable(gres bool) string {
	switch {
	case gres:
		return "it asks for generic resources, which Slurm does not merge"
	case !s.expands:
		return "permit_job_expansion is not among SchedulerParameters"
	}
	return s.trap
}
