package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
)

// A Configuration holds the settings that slurmctld uses, as `scontrol show config` prints them.
type Configuration map[string]string

// ParseConfiguration parses lines of the form "Key = value".
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

// Release returns the release as year and month, such as 2205 for 22.05, and its patch level. It returns zeros if
// SLURM_VERSION cannot be parsed.
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

// Number parses a setting that begins with a number, such as "30 sec". `ok` is false for a setting that does not,
// such as UNLIMITED.
func (c Configuration) Number(key string) (n int64, ok bool) {
	word, _, _ := strings.Cut(c[key], " ")
	n, err := strconv.ParseInt(word, 10, 64)
	return n, err == nil && n >= 0
}

// NeedsDatabase reports whether a resize on this release goes wrong without slurmdbd.
func (c Configuration) NeedsDatabase() bool {
	release, patch := c.Release()
	return (release > 2108 || release == 2108 && patch >= 8) && release < 2411
}

// Recounts reports whether a shrink by NodeList= alone also changes the size in the job's request (23.11.5 and
// later). slurmctld then writes the accounting row of the new size with the start of the job. sacct and sreport
// therefore count the new nodes from the job's start. With both NodeList= and NumNodes= this does not happen. On
// older releases it is the other way round: only both options together have this effect.
func (c Configuration) Recounts() bool {
	release, patch := c.Release()
	return release > 2311 || release == 2311 && patch >= 5
}

// NeverResizes returns why no resize is safe on this cluster, even if slurmdbd runs. It returns "" if resizes are
// safe.
func (c Configuration) NeverResizes() string {
	if c.NeedsDatabase() && c["AccountingStorageType"] != "accounting_storage/slurmdbd" {
		return fmt.Sprintf("Slurm %s cannot resize a job twice without slurmdbd (AccountingStorageType is %s)", c["SLURM_VERSION"], c["AccountingStorageType"])
	}
	return ""
}

// CoreBinding returns the setting that binds tasks to cores, or "" if none does.
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

// BackfillWait returns how many seconds a job that could start may wait until slurmctld's backfill scheduler
// reaches it. It is the sum of the pause between two passes (bf_interval), and half the default pause for the pass
// itself. A pause shorter than the default counts as the default, because passes over a long queue take longer.
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

// Grace returns for how many seconds after its time limit a job may hold its nodes. It is the sum of slurmctld's
// check interval, OverTimeLimit (the partition's own if set) and KillWait. It returns core.Forever if limits are
// not enforced.
func (c Configuration) Grace(partitions []Partition) core.Time {
	over, ok := c.Number("OverTimeLimit") // in minutes
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
		default: // NONE means that the cluster's setting applies
			longest = max(longest, over)
		}
	}
	if len(partitions) == 0 {
		longest = over
	}
	wait, _ := c.Number("KillWait") // in seconds
	return sweep + longest*60 + wait
}

// sweep is the interval at which slurmctld checks time limits, in seconds.
const sweep = 30

// Identity returns a name of the cluster that is the same on every host.
func (c Configuration) Identity() string {
	host, _, _ := strings.Cut(c["SlurmctldHost[0]"], "(") // the host's address follows in parentheses
	return c["ClusterName"] + "-" + host + "-" + c["SlurmctldPort"]
}

// EnforcesLimits reports whether slurmctld enforces the limits of associations.
func (c Configuration) EnforcesLimits() bool {
	return slices.Contains(strings.Split(c["AccountingStorageEnforce"], ","), "limits")
}

// Booted returns the Unix second in which slurmctld started, or 0 if that is unknown.
func (c Configuration) Booted() core.Time {
	second, err := strconv.ParseInt(c["BOOT_TIME"], 10, 64)
	if err != nil || second < 0 {
		return 0
	}
	return second
}

// pluginKey is the key under which a Configuration records that slurmctld runs Accordion's job_submit.lua, or a
// site's script that calls it. Without the key the script counts as the site's own. No setting of Slurm has this
// name.
const pluginKey = "(job_submit.lua)"

// NotePlugin records that slurmctld runs our job_submit.lua.
func (c Configuration) NotePlugin() { c[pluginKey] = "ours" }

// HasPlugin reports whether slurmctld is known to run Accordion's job_submit.lua.
func (c Configuration) HasPlugin() bool { return c[pluginKey] == "ours" }

// IsOurs reports whether the text of a job_submit.lua is Accordion's, or includes Accordion's.
func IsOurs(script string) bool { return strings.Contains(script, "accordion:") }
