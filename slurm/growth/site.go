package growth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/slurm/output"
)

// A Kind is a way in which Slurm can make a running job larger.
type Kind string

// The ways to grow.
const (
	// Auto chooses the quickest way that is sound for this job on this cluster.
	Auto Kind = "auto"
	// Merge allocates an expander on the new nodes and merges it into the job.
	Merge Kind = "merge"
	// Overlap allocates one expander on the new nodes, and a second one on these and the job's own nodes. It merges
	// both. Overlap is for clusters that bind tasks to cores. There, a merge that only adds new nodes corrupts
	// Slurm's map of the job's cores.
	Overlap Kind = "overlap"
	// Companions allocates separate jobs of the same owner, which are never merged.
	Companions Kind = "companions"
)

// Parse parses a configured way to grow: auto, merge, overlap or companions.
func Parse(text string) (Kind, error) {
	if g := Kind(text); slices.Contains([]Kind{Auto, Merge, Overlap, Companions}, g) {
		return g, nil
	}
	return "", fmt.Errorf("%q is not a way to grow: write auto, merge, overlap or companions", text)
}

// A Site holds the settings of a cluster that decide how its jobs may grow.
type Site struct {
	Release           int    // 22.05 is 2205
	expands           bool   // permit_job_expansion
	Trap              string // why every resize would go wrong without slurmdbd; "" if resizes do not need slurmdbd
	Binds             string // the setting that binds tasks to cores; "" if tasks are not bound
	Gres              bool   // GresTypes: nodes may have generic resources
	Memory            bool   // memory is allocated to jobs, like cores
	tiers             bool   // partitions preempt each other (preempt/partition_prio), and this release then allocates no core twice
	Guarded           bool   // our plug-in checks submissions, so that jobs of the pool do not share their cores
	Prologs           bool   // a script prepares each node for a job
	Epilogs           bool   // a script cleans up each node after a job
	tasksLimitCPUs    bool   // a job gets only the CPUs that its tasks need, even if it requests more on each node
	Deferred          bool   // no job is allocated during its submission
	NeedsIntroduction bool   // a node that received no message about a job's start runs none of the job's steps, and is drained
}

// SiteOf returns the site's settings from the configuration.
func SiteOf(c output.Configuration) Site {
	release, _ := c.Release()
	scheduler := strings.Split(c["SchedulerParameters"], ",")
	return Site{
		Release:           release,
		expands:           slices.Contains(scheduler, "permit_job_expansion"),
		Trap:              c.NeverResizes(),
		Binds:             c.CoreBinding(),
		Gres:              c["GresTypes"] != "",
		Memory:            strings.Contains(c["SelectTypeParameters"], "MEMORY"),
		tiers:             c["PreemptType"] == ByTier && release < noTierSharing,
		Guarded:           c.HasPlugin(),
		Prologs:           c["Prolog"] != "",
		Epilogs:           c["Epilog"] != "",
		NeedsIntroduction: release >= OwnerAllocates && strings.Contains(c["PrologFlags"], "Alloc"),
		tasksLimitCPUs:    release >= OwnerAllocates,
		Deferred:          slices.ContainsFunc(scheduler, func(s string) bool { return s == "defer" || s == "defer_batch" }),
	}
}

// noTierSharing is the first release known to allocate cores twice if partitions preempt each other.
const noTierSharing = 2411

// ByTier is the PreemptType under which partitions preempt each other.
const ByTier = "preempt/partition_prio"

// A Way is how a job grows. It has the reason for this way, in words for users.
type Way struct {
	Growth Kind
	why    string
}

// String returns the way with its reason.
func (w Way) String() string { return fmt.Sprintf("%s (%s)", w.Growth, w.why) }

// WayOf decides how a job with or without generic resources grows in a partition. `wish` is the configured kind. If
// the job cannot grow in that way, WayOf returns an error with the reason.
func (s Site) WayOf(wish Kind, in output.Sharing, gres bool) (Way, error) {
	merge, overlap := s.mergeable(in, gres), s.overlappable(in, gres)
	switch {
	case wish == Merge && merge != "":
		return Way{}, errors.New(merge)
	case wish == Overlap && overlap != "":
		return Way{}, errors.New(overlap)
	case wish != Auto:
		return Way{wish, "so it is configured"}, nil
	case merge == "":
		return Way{Merge, "a merge is sound here"}, nil
	case overlap == "":
		return Way{Overlap, merge}, nil
	case merge == overlap:
		return Way{Companions, merge}, nil
	}
	return Way{Companions, merge + "; " + overlap}, nil
}

// mergeable returns why an expander on new nodes only may not be merged, or "" if it may.
func (s Site) mergeable(in output.Sharing, gres bool) string {
	switch why := s.resizable(gres); {
	case why != "":
		return why
	case s.Binds != "" && s.Release > 2108: // 20.11 and 21.08 merge core maps correctly
		return fmt.Sprintf("cores are bound (%s), and Slurm garbles the core map of a merged job", s.Binds)
	case s.NeedsIntroduction:
		return "with PrologFlags=Alloc or Contain a node starts no step of a job that it has not heard of, and a merge does not tell it"
	case s.Gres && in.WholeNodes():
		return "GresTypes is set and the partition is EXCLUSIVE, so that every job has a list of generic resources, which Slurm does not merge"
	case in.Forced():
		return fmt.Sprintf("the partition shares cores (OverSubscribe=%s)", in.OverSubscribe())
	}
	return ""
}

// overlappable returns why expanders that include the job's own nodes may not be merged, or "" if they may.
func (s Site) overlappable(in output.Sharing, gres bool) string {
	switch why := s.resizable(gres); {
	case why != "":
		return why
	case !in.SharesOnRequest():
		return fmt.Sprintf("the partition has OverSubscribe=%s, and two allocations of one core need YES:2", in.OverSubscribe())
	case s.tiers:
		return "where partitions preempt each other (PreemptType=" + ByTier + ") Slurm gives no core to two allocations"
	case !s.Guarded && !in.ExcludesOtherUsers():
		return "neither the plug-in nor ExclusiveUser=YES keeps other users' jobs that oversubscribe off its cores"
	}
	return ""
}

// resizable returns why no allocation at all may be merged into a job, or "" if one may.
func (s Site) resizable(gres bool) string {
	switch {
	case gres:
		return "it asks for generic resources, which Slurm does not merge"
	case !s.expands:
		return "permit_job_expansion is not among SchedulerParameters"
	}
	return s.Trap
}
