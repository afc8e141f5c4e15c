package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// leastBatchPatience is the smallest BatchStartTimeout, in seconds, with which jobs may safely grow by any nodes.
// slurmctld (22.05) gets reports about a batch job from the job's first node. If the script runs on another node,
// slurmctld treats the job as lost after this time. Each srun of the job restarts the time. Slurm accepts at most
// 65,535 s.
const leastBatchPatience = 12 * 3600

// checkSettings checks slurmctld's settings.
func checkSettings(ctx context.Context, c output.Configuration) []adapter.Finding {
	var found []adapter.Finding
	add := func(s adapter.Severity, fix, what string, args ...any) {
		found = append(found, adapter.Finding{Severity: s, What: fmt.Sprintf(what, args...), Fix: fix})
	}
	if release, _ := c.Release(); release < 2011 {
		add(adapter.Fatal, "Upgrade Slurm", "Slurm %s is older than 20.11", c["SLURM_VERSION"])
	}
	if why := cluster.Trap(ctx, c); why != "" && c.NeverResizes() == "" {
		add(adapter.Fatal, "Start slurmdbd, and keep it running", "%s", why)
	}
	if over := c["OverTimeLimit"]; over == "UNLIMITED" {
		add(adapter.Warning, "Set OverTimeLimit in slurm.conf to some minutes", "OverTimeLimit is UNLIMITED: jobs need not end at "+
			"their limits, so nothing that waits for their nodes can be promised")
	}
	if patience, ok := c.Number("BatchStartTimeout"); ok && patience < leastBatchPatience {
		add(adapter.Warning, "Set BatchStartTimeout=65000 in slurm.conf, then `scontrol reconfigure`", "BatchStartTimeout is %d s: a batch "+
			"job that has grown by a node before that of its script is taken for lost, and ended or requeued, when the script's node "+
			"registers, which each node does twice an hour or so", patience)
	}
	if c["PreemptType"] == "preempt/qos" {
		add(adapter.Warning, "Give managed jobs a QOS that no other may preempt", "PreemptType is preempt/qos: a managed job whose QOS another may "+
			"preempt is lost when that one wants a node")
	}
	return found
}

// checkPool checks the partitions and nodes of the pool.
func checkPool(c output.Configuration, in output.Inventory, pool []string) []adapter.Finding {
	var found []adapter.Finding
	nodes, err := output.PoolNodes(in, pool)
	if err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: err.Error(),
			Fix: "Correct the partition in the sidecar's configuration"}}
	}
	for _, p := range in.Partitions {
		managed := slices.Contains(pool, p.Name)
		if managed && p.Sharing().Forced() {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("partition %s has OverSubscribe=%s: other jobs get the cores of "+
				"managed ones", p.Name, p.OverSubscribe),
				Fix: fmt.Sprintf("Set OverSubscribe=YES:2 or EXCLUSIVE on PartitionName=%s in slurm.conf", p.Name)})
		}
		if managed && p.State != "UP" {
			found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("partition %s is %s: no job starts in it", p.Name, p.State),
				Fix: fmt.Sprintf("scontrol update PartitionName=%s State=UP", p.Name)})
		}
		if managed && c["PreemptType"] == growth.ByTier && p.Preempt != "" && p.Preempt != "OFF" {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("partition %s has PreemptMode=%s: a job of it that has grown is lost as a whole "+
				"when a partition of a higher tier wants one node", p.Name, p.Preempt), Fix: fmt.Sprintf("Set PreemptMode=OFF on PartitionName=%s in slurm.conf", p.Name)})
		}
		if shared := hostlist.Within(p.Nodes, nodes); !managed && len(shared) > 0 {
			found = append(found, adapter.Finding{Severity: adapter.Note, What: fmt.Sprintf("partition %s has %d of the pool's nodes too: its jobs are planned as ordinary "+
				"ones, and a node with any of them is taken", p.Name, len(shared))})
		}
	}
	return found
}

// checkGrowth reports how the jobs of each partition of the pool grow, with the reason.
func checkGrowth(site growth.Site, in output.Inventory, pool []string, wish growth.Kind) []adapter.Finding {
	var found []adapter.Finding
	merges := false
	for _, p := range in.Partitions {
		if !slices.Contains(pool, p.Name) || p.Sharing().Forced() {
			continue
		}
		all, err := site.WayOf(wish, p.Sharing(), false)
		if err != nil {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("no job of partition %s can grow by %s: %v", p.Name, wish, err),
				Fix: `Set growth = "auto" under [slurm], or change what keeps it from growing so`})
			continue
		}
		what := fmt.Sprintf("jobs of partition %s grow by %s", p.Name, all)
		if site.Gres && all.Growth != growth.Companions {
			what += "; those that ask for generic resources by companions"
		}
		found = append(found, adapter.Finding{Severity: adapter.Note, What: what})
		merges = merges || all.Growth != growth.Companions
	}
	if merges {
		found = append(found, adapter.Finding{Severity: adapter.Note, What: "slurmdbd leaves a row without an end for each growth, COMPLETED and without nodes: " +
			"`sacctmgr show runawayjobs` closes them once slurmctld has forgotten the allocations, after their limit and MinJobAge; usage is right with and without them"})
	}
	return found
}

// checkPlugin checks job_submit.lua, which exists only on slurmctld's host.
func checkPlugin(c output.Configuration) []adapter.Finding {
	const without = "without it `#EP` lines are not read, and nothing stops an owner from shrinking, requeueing or (with scontrol " +
		"update ReservationName=) starting a managed job, nor a user from expanding another's"
	if !slices.Contains(strings.Split(c["JobSubmitPlugins"], ","), "lua") {
		return []adapter.Finding{{Severity: adapter.Warning, What: "the plug-in job_submit.lua is not in use: " + without,
			Fix: "Put job_submit.lua next to slurm.conf, set JobSubmitPlugins=lua, then `scontrol reconfigure`"}}

	}
	script, err := cluster.SubmitScript(c)
	switch {
	case err != nil:
		return []adapter.Finding{{Severity: adapter.Note, What: fmt.Sprintf("whether slurmctld's job_submit.lua is ours cannot be seen from here (%v): %s", err, without)}}
	case !output.IsOurs(script):
		return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("%s/job_submit.lua is not Accordion's: %s", filepath.Dir(c["SLURM_CONF"]), without),
			Fix: "Call Accordion's slurm_job_submit and slurm_job_modify from the site's own"}}

	}
	return nil
}

// checkOptions checks that job_submit.lua reads the options that the SPANK plug-in passes to it, because Slurm
// itself ignores these options.
func checkOptions(c output.Configuration) []adapter.Finding {
	stack, err := os.ReadFile(c["PlugStackConfig"])
	if err != nil || !namesPlugin(string(stack)) {
		return nil // the SPANK plug-in is not in use
	}
	if script, err := cluster.SubmitScript(c); err != nil || strings.Contains(script, "_SLURM_SPANK_OPTION_accordion_") {
		return nil // checkPlugin reports a script that cannot be read
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("%s gives sbatch the options --ep and --mold, and slurmctld's job_submit.lua does not read them: "+
		"jobs with --ep run as ordinary ones", c["PlugStackConfig"]),
		Fix: "Put this Accordion's job_submit.lua next to slurm.conf, or take accordion.so out of " + c["PlugStackConfig"]}}

}

// namesPlugin reports whether a plugstack.conf loads our SPANK plug-in.
func namesPlugin(stack string) bool {
	for line := range strings.Lines(stack) {
		line, _, _ = strings.Cut(line, "#")
		for word := range strings.FieldsSeq(line) {
			if filepath.Base(word) == "accordion.so" {
				return true
			}
		}
	}
	return false
}

// Check checks the cluster's settings, partitions and nodes, and returns the findings in no particular order.
func Check(ctx context.Context, c output.Configuration, in output.Inventory, pool []string, wish growth.Kind) []adapter.Finding {
	found := checkSettings(ctx, c)
	found = append(found, checkPool(c, in, pool)...)
	found = append(found, checkGrowth(growth.SiteOf(c), in, pool, wish)...)
	found = append(found, checkPlugin(c)...)
	return append(found, checkOptions(c)...)
}
