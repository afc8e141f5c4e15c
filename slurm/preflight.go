package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// Preflight looks at everything of the cluster that the sidecar depends on, changes nothing, and says what is wrong and
// how to mend it, the fatal first. No findings: all is well.
func (s *System) Preflight(ctx context.Context) []adapter.Finding {
	var found []adapter.Finding
	if found = s.checkHere(); len(found) > 0 && found[0].Severity == adapter.Fatal {
		return found
	}
	c, err := s.configuration(ctx)
	if err != nil {
		return append(found, adapter.Finding{Severity: adapter.Fatal, What: err.Error(),
			Fix: "Is slurmctld up, and is SLURM_CONF right? `scontrol ping` tells"})
	}
	in, err := s.inventory(ctx)
	if err != nil {
		return append(found, adapter.Finding{Severity: adapter.Fatal, What: err.Error(),
			Fix: "Is slurmctld up? `scontrol ping` tells"})
	}
	if !s.run.Talk.Speaks() {
		found = append(found, adapter.Finding{Severity: adapter.Note, What: "this scontrol does not carry out commands of its standard input as they come (it was built without readline): " +
			"each command is a program of its own, a start some 13 of them, and with few of them a minute ([slurm] clients_per_minute) changes come late"})
	}
	found = append(found, c.check(ctx)...)
	found = append(found, checkPool(c, in, s.config.Partitions)...)
	found = append(found, checkGrowth(c.site(), in, s.config.Partitions, s.config.Growth)...)
	found = append(found, checkPlugin(c)...)
	found = append(found, checkOptions(c)...)
	slices.SortStableFunc(found, adapter.ByGravity)
	return found
}

// checkHere looks at this process and this machine.
func (s *System) checkHere() []adapter.Finding {
	var found []adapter.Finding
	for _, program := range []string{"squeue", "scontrol", "salloc", "scancel", "srun"} {
		if _, err := exec.LookPath(s.run.Path(program)); err != nil {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("Slurm's %s is not here (%v)", program, err),
				Fix: "Install Slurm's clients (Debian: slurm-client), or say in which directory they are"})
		}
	}
	if os.Geteuid() != 0 {
		found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("user %d is not root: only root may make allocations for others", os.Geteuid()), Fix: "Run the sidecar as root"})
	}
	return found
}

// leastBatchPatience is the BatchStartTimeout, in seconds, with which jobs may grow by whatever nodes: slurmctld (22.05) hears
// of a batch job from the first of the job's nodes, and misses it on that of its script, once it has not heard of it for
// so long. A job's next srun starts that time anew. 65,535 s is the most that Slurm takes.
const leastBatchPatience = 12 * 3600

// check looks at slurmctld's settings.
func (c configuration) check(ctx context.Context) []adapter.Finding {
	var found []adapter.Finding
	add := func(s adapter.Severity, fix, what string, args ...any) {
		found = append(found, adapter.Finding{Severity: s, What: fmt.Sprintf(what, args...), Fix: fix})
	}
	if release, _ := c.version(); release < 2011 {
		add(adapter.Fatal, "Upgrade Slurm", "Slurm %s is older than 20.11", c["SLURM_VERSION"])
	}
	if why := c.trap(ctx); why != "" && c.neverResizes() == "" {
		add(adapter.Fatal, "Start slurmdbd, and keep it running", "%s", why)
	}
	if over := c["OverTimeLimit"]; over == "UNLIMITED" {
		add(adapter.Warning, "Set OverTimeLimit in slurm.conf to some minutes", "OverTimeLimit is UNLIMITED: jobs need not end at "+
			"their limits, so nothing that waits for their nodes can be promised")
	}
	if patience, ok := c.number("BatchStartTimeout"); ok && patience < leastBatchPatience {
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

// checkPool looks at the partitions and nodes.
func checkPool(c configuration, in inventory, pool []string) []adapter.Finding {
	var found []adapter.Finding
	nodes, err := poolNodes(in, pool)
	if err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: err.Error(),
			Fix: "Correct the partition in the sidecar's configuration"}}
	}
	for _, p := range in.partitions {
		managed := slices.Contains(pool, p.name)
		if managed && p.sharing().forced() {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("partition %s has OverSubscribe=%s: other jobs come to lie on the cores of "+
				"managed ones", p.name, p.overSubscribe),
				Fix: fmt.Sprintf("Set OverSubscribe=YES:2 or EXCLUSIVE on PartitionName=%s in slurm.conf", p.name)})
		}
		if managed && p.state != "UP" {
			found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("partition %s is %s: no job starts in it", p.name, p.state),
				Fix: fmt.Sprintf("scontrol update PartitionName=%s State=UP", p.name)})
		}
		if managed && c["PreemptType"] == byTier && p.preempt != "" && p.preempt != "OFF" {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("partition %s has PreemptMode=%s: a job of it that has grown is lost as a whole "+
				"when a partition of a higher tier wants one node", p.name, p.preempt), Fix: fmt.Sprintf("Set PreemptMode=OFF on PartitionName=%s in slurm.conf", p.name)})
		}
		if shared := within(p.nodes, nodes); !managed && len(shared) > 0 {
			found = append(found, adapter.Finding{Severity: adapter.Note, What: fmt.Sprintf("partition %s has %d of the pool's nodes too: its jobs are planned as ordinary "+
				"ones, and a node with any of them is taken", p.name, len(shared))})
		}
	}
	return found
}

// checkGrowth says how the jobs of each partition of the pool grow, and why so.
func checkGrowth(site site, in inventory, pool []string, wish Growth) []adapter.Finding {
	var found []adapter.Finding
	for _, p := range in.partitions {
		if !slices.Contains(pool, p.name) || p.sharing().forced() {
			continue
		}
		all, err := site.wayOf(wish, p.sharing(), false)
		if err != nil {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("no job of partition %s can grow by %s: %v", p.name, wish, err),
				Fix: `Set growth = "auto" under [slurm], or change what keeps it from growing so`})
			continue
		}
		what := fmt.Sprintf("jobs of partition %s grow by %s", p.name, all)
		if site.gres && all.growth != Companions {
			what += "; those that ask for generic resources by companions"
		}
		found = append(found, adapter.Finding{Severity: adapter.Note, What: what})
	}
	return found
}

// checkPlugin looks for job_submit.lua, which only slurmctld's machine has.
func checkPlugin(c configuration) []adapter.Finding {
	const without = "without it `#EP` lines are not read, and nobody stops an owner from shrinking, requeueing or (with scontrol " +
		"update ReservationName=) starting a managed job, nor a user from expanding another's"
	if !slices.Contains(strings.Split(c["JobSubmitPlugins"], ","), "lua") {
		return []adapter.Finding{{Severity: adapter.Warning, What: "the plug-in job_submit.lua is not in use: " + without,
			Fix: "Put job_submit.lua beside slurm.conf, set JobSubmitPlugins=lua, then `scontrol reconfigure`"}}

	}
	script, err := c.submitScript()
	switch {
	case err != nil:
		return []adapter.Finding{{Severity: adapter.Note, What: fmt.Sprintf("whether slurmctld's job_submit.lua is ours cannot be seen from here (%v): %s", err, without)}}
	case !isOurs(script):
		return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("%s/job_submit.lua is not Accordion's: %s", filepath.Dir(c["SLURM_CONF"]), without),
			Fix: "Call Accordion's slurm_job_submit and slurm_job_modify from the site's own"}}

	}
	return nil
}

// checkOptions looks for the SPANK plug-in, whose options somebody must read: Slurm itself ignores them.
func checkOptions(c configuration) []adapter.Finding {
	stack, err := os.ReadFile(c["PlugStackConfig"])
	if err != nil || !namesPlugin(string(stack)) {
		return nil // no such plug-in here
	}
	if script, err := c.submitScript(); err != nil || strings.Contains(script, "_SLURM_SPANK_OPTION_accordion_") {
		return nil // where it cannot be seen, checkPlugin says so
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("%s gives sbatch the options --ep and --mold, and slurmctld's job_submit.lua does not read them: "+
		"what says --ep runs as an ordinary job", c["PlugStackConfig"]),
		Fix: "Put this Accordion's job_submit.lua beside slurm.conf, or take accordion.so out of " + c["PlugStackConfig"]}}

}

// namesPlugin says whether a plugstack.conf has our plug-in on a line that is no comment.
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

// Guard is how long an ordinary job of the pool may hold its nodes past its limit, in seconds: 30 s + OverTimeLimit +
// KillWait. core.Forever where limits are not enforced.
func (s *System) Guard(ctx context.Context) (core.Time, error) {
	c, err := s.configuration(ctx)
	if err != nil {
		return 0, err
	}
	in, err := s.inventory(ctx)
	if err != nil {
		return 0, err
	}
	nodes, err := poolNodes(in, s.config.Partitions)
	if err != nil {
		return 0, fmt.Errorf("the pool's guard: %w", err)
	}
	reaching := slices.DeleteFunc(in.partitions, func(p partition) bool { return len(within(p.nodes, nodes)) == 0 })
	return c.guard(reaching), nil
}
