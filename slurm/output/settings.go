package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
)

// A Configuration is what `scontrol show config` prints: slurmctld's settings as they are in force.
type Configuration map[string]string

// ParseConfiguration reads lines "Key = value".
func ParseConfiguration(out string) (Configuration, error) {
	c := Configuration{}
	for line := range strings.SplitSeq(out, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok {
			c[strings.TrimSpace(key)] = Text(strings.TrimSpace(value))
		}
	}
	if c["SLURM_VERSION"] == "" {
		return nil, fmt.Errorf("scontrol show config: no SLURM_VERSION in it: %w", ErrForm)
	}
	return c, nil
}

// Release is the year and month of the release, 22.05 being 2205, and its patch level; zeros when unreadable.
func (c Configuration) Release() (release, patch int) {
	parts := strings.SplitN(c["SLURM_VERSION"], ".", 3)
	if len(parts) < 2 {
		return 0, 0
	}
	year, errY := strconv.Atoi(parts[0])
	month, errM := strconv.Atoi(parts[1])
	if errY != nil || errM != nil {
		return 0, 0
	}
	if len(parts) == 3 {
		digits, _, _ := strings.Cut(parts[2], "-")
		patch, _ = strconv.Atoi(digits)
	}
	return year*100 + month, patch
}

// Number reads a setting that begins with a number, such as "30 sec"; ok is false for UNLIMITED and the like.
func (c Configuration) Number(key string) (n int64, ok bool) {
	word, _, _ := strings.Cut(c[key], " ")
	n, err := strconv.ParseInt(word, 10, 64)
	return n, err == nil && n >= 0
}

// NeedsDatabase says whether a resize on this release goes wrong without slurmdbd.
func (c Configuration) NeedsDatabase() bool {
	release, patch := c.Release()
	return (release > 2108 || release == 2108 && patch >= 8) && release < 2411
}

// Recounts reports whether a shrink by NodeList= alone also changes what the job asked for (23.11.5 and later). Slurmctld then writes the
// row of the new size again, with the start of the job, and sacct and sreport count the nodes from there. A shrink by NodeList= and
// NumNodes= does not have this effect. On older releases it is the other way round: both options have it, and NodeList= alone has not.
func (c Configuration) Recounts() bool {
	release, patch := c.Release()
	return release > 2311 || release == 2311 && patch >= 5
}

// NeverResizes says why no resize is sound on this cluster, whether slurmdbd answers now or not.
func (c Configuration) NeverResizes() string {
	if c.NeedsDatabase() && c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return fmt.Sprintf("Slurm %s cannot resize a job twice without slurmdbd (AccountingStorageType is %s)", c["SLURM_VERSION"], c["AccountingStorageType"])
	}
	return ""
}

// CoreBinding is the setting by which tasks are bound to cores, "" where none does.
func (c Configuration) CoreBinding() string {
	plugins := strings.Split(c["TaskPlugin"], ",")
	switch {
	case slices.Contains(plugins, "task/affinity"):
		return "TaskPlugin=task/affinity"
	case slices.Contains(plugins, "task/cgroup") && c["ConstrainCores"] == "yes":
		return "ConstrainCores=yes"
	}
	return ""
}

// BackfillWait is how long a job that could begin may wait until slurmctld's back-filling comes to it, in seconds: the pause between two of its passes
// (bf_interval), and half as long as the usual one for what a pass takes. A shorter pause than the usual one is not counted on, since passes over a long
// queue take longer.
func (c Configuration) BackfillWait() core.Time {
	const usual = 30
	pause := core.Time(usual)
	for _, one := range strings.Split(c["SchedulerParameters"], ",") {
		if text, is := strings.CutPrefix(one, "bf_interval="); is {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n <= core.MaxTotal {
				pause = max(usual, n)
			}
		}
	}
	return pause + usual/2
}

// Grace is how long a job may hold its nodes past its limit, in seconds: slurmctld's sweep, OverTimeLimit (a
// partition's own where it has one), KillWait. core.Forever where limits are not enforced.
func (c Configuration) Grace(partitions []Partition) core.Time {
	over, ok := c.Number("OverTimeLimit") // minutes
	if !ok && c["OverTimeLimit"] != "" {
		return core.Forever
	}
	longest := int64(0)
	for _, p := range partitions {
		switch own, err := strconv.ParseInt(p.overTime, 10, 64); {
		case p.overTime == "UNLIMITED":
			return core.Forever
		case err == nil:
			longest = max(longest, own)
		default: // NONE: the cluster's
			longest = max(longest, over)
		}
	}
	if len(partitions) == 0 {
		longest = over
	}
	wait, _ := c.Number("KillWait") // seconds
	return sweep + longest*60 + wait
}

// sweep is how often slurmctld looks at time limits, in seconds.
const sweep = 30

// Identity is how slurmctld names itself, the same for whoever asks.
func (c Configuration) Identity() string {
	host, _, _ := strings.Cut(c["SlurmctldHost[0]"], "(") // and its address, in brackets
	return c["ClusterName"] + "-" + host + "-" + c["SlurmctldPort"]
}

// EnforcesLimits says whether slurmctld holds jobs to the limits of their associations.
func (c Configuration) EnforcesLimits() bool {
	return slices.Contains(strings.Split(c["AccountingStorageEnforce"], ","), "limits")
}

// Booted returns the Unix second in which slurmctld started; 0 where it is not known.
func (c Configuration) Booted() core.Time {
	second, err := strconv.ParseInt(c["BOOT_TIME"], 10, 64)
	if err != nil || second < 0 {
		return 0
	}
	return second
}

// pluginKey is where a configuration says "ours" if slurmctld shows what is submitted to our job_submit.lua, or to a site's that calls
// it. Where that cannot be seen, it is taken for another's. No key of Slurm's is like it.
const pluginKey = "(job_submit.lua)"

// NotePlugin notes that it does.
func (c Configuration) NotePlugin() { c[pluginKey] = "ours" }

// HasPlugin says whether it does.
func (c Configuration) HasPlugin() bool { return c[pluginKey] == "ours" }

// IsOurs says whether a job_submit.lua is ours, or has ours in it.
func IsOurs(script string) bool { return strings.Contains(script, "accordion:") }
