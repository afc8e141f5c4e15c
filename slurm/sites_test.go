package slurm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
	"accordion/slurm/growth"
)

// A setting is a configuration that some sites use instead of the lab's.
type setting struct {
	name  string
	plain bool   // the lab has no site-like settings
	lines string // lines of slurm.conf; LAB is the lab's folder
}

// mainPartition returns slurm.conf's line for the pool's partition, with the setting `how` for sharing nodes.
func mainPartition(how string) string {
	return "PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE DefaultTime=10 State=UP " + how
}

const (
	quickly   = "sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1"
	unbound   = "TaskPlugin=task/none\n"
	noGPUs    = "GresTypes=\nAccountingStorageTRES=\nNodeName=n[1-4] Gres=\n"
	noLedger  = "AccountingStorageType=\nAccountingStorageHost=\nAccountingStorageTRES=\nAccountingStorageEnforce=\nPriorityType=priority/basic\n"
	preempted = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
)

// settings lists the settings in the guide's table. Each is added to the site-like lab unless it is plain.
var settings = []setting{
	{name: "as most sites are: cores bound, memory given, GPUs, Contain, `OverSubscribe=YES:2`"},
	{name: "… `OverSubscribe=NO`", lines: mainPartition("OverSubscribe=NO")},
	{name: "… `OverSubscribe=EXCLUSIVE`", lines: mainPartition("OverSubscribe=EXCLUSIVE")},
	{name: "… memory is not given (`CR_Core`)", lines: "SelectTypeParameters=CR_Core\nDefMemPerCPU="},
	{name: "… … and no plug-in", lines: "SelectTypeParameters=CR_Core\nDefMemPerCPU=\nJobSubmitPlugins="},
	{name: "… no GPUs (no `GresTypes`)", lines: noGPUs},
	{name: "… cores not bound (`TaskPlugin=task/none`)", lines: unbound},
	{name: "… … and `OverSubscribe=EXCLUSIVE`", lines: unbound + mainPartition("OverSubscribe=EXCLUSIVE")},
	{name: "… … and no GPUs either", lines: unbound + noGPUs + mainPartition("OverSubscribe=EXCLUSIVE")},
	{name: "… no slurmdbd", lines: noLedger},
	{name: "… no `permit_job_expansion`", lines: "SchedulerParameters=" + quickly},
	{name: "… `defer`", lines: "SchedulerParameters=defer,permit_job_expansion," + quickly},
	{name: "… Prolog and Epilog of a second each", lines: "Prolog=LAB/etc/second\nEpilog=LAB/etc/second"},
	{name: "… preemption by partitions, `PreemptMode=OFF` on the pool's", lines: preempted + mainPartition("OverSubscribe=YES:2 PreemptMode=OFF PriorityTier=2")},
	{name: "… …, `PreemptMode=REQUEUE` on it", lines: preempted + mainPartition("OverSubscribe=YES:2")},
	{name: "nothing of a site: nothing bound, no memory given, no GPUs, `OverSubscribe=EXCLUSIVE`", plain: true},
	{name: "… `OverSubscribe=NO`", plain: true, lines: mainPartition("OverSubscribe=NO")},
	{name: "… no slurmdbd", plain: true, lines: noLedger},
}

// Preflight tries each way to grow under each setting on this machine's own release, and with -accordion.long on
// all releases. docs/slurm-sites.md shows the results (TestTheGuideHasTheTableOfSettings).
func TestTheTableOfSettingsIsWhatSlurmDoes(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			var options []lab.Option
			if release != ownRelease(t) {
				if !*long {
					t.Skip("other releases than this machine's are tried under -accordion.long")
				}
				options = append(options, lab.Release(release))
			}
			// The labs wait most of the time, so the settings are divided among three labs.
			plain := slices.IndexFunc(settings, func(s setting) bool { return s.plain })
			shares := [][]setting{settings[:plain/2], settings[plain/2 : plain], settings[plain:]}
			tables := make([]table, len(shares))
			t.Run("labs", func(t *testing.T) {
				for i, share := range shares {
					t.Run(fmt.Sprint(i+1), func(t *testing.T) {
						t.Parallel()
						tables[i] = trySettings(t, share, options)
					})
				}
			})
			seen := slices.Concat(tables...)
			if t.Failed() {
				return
			}
			golden := readTable(t, release)
			if *rewrite {
				writeTable(t, release, seen)
				return
			}
			for i, now := range seen {
				if i < len(golden) && !now.same(golden[i]) || i >= len(golden) {
					then := row{}
					if i < len(golden) {
						then = golden[i]
					}
					t.Errorf("%s:\nnow  %+v\nthen %+v\nIs it right? Then -args -accordion.write", now.Setting, now, then)
				}
			}
		})
	}
}

// ownRelease returns the release of Slurm installed where the tests run: that of Debian 12, or that of a slurm-lab
// world.
func ownRelease(t *testing.T) string {
	t.Helper()
	lab.NeedSlurm(t)
	said, err := exec.Command("/usr/sbin/slurmctld", "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Split(strings.TrimPrefix(strings.TrimSpace(string(said)), "slurm-wlm "), ".")[:2], ".")
}

// trySettings tries some settings in one lab, and returns the results. The settings must all be plain or all not.
func trySettings(t *testing.T, some []setting, options []lab.Option) table {
	options = append(slices.Clone(options), lab.Fast())
	if some[0].plain {
		options = append(options, lab.Plain(), lab.Cores(2))
	}
	lab := lab.Slurm(t, 4, options...)
	if err := os.WriteFile(filepath.Join(lab.Dir, "etc", "second"), []byte("#!/bin/sh\nexec sleep 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("cluster = \"lab\"\n[journal]\npath = %q\n[slurm]\nconf = %q\n", filepath.Join(lab.Dir, "journal", "journal.db"), lab.Conf())
	if err := os.WriteFile(filepath.Join(lab.Dir, "etc", "accordion.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	var all table
	for _, s := range some {
		resetNodes(lab)
		lab.Change(t, strings.ReplaceAll(s.lines, "LAB", lab.Dir))
		resetNodes(lab)
		lab.Clear(t)
		all = append(all, preflightRow(t, lab, s))
	}
	return all
}

// resetNodes removes what a growth by hand may have left: jobs, and the DRAIN state of nodes on which these jobs
// failed. Some leftovers disappear only when slurmctld restarts.
func resetNodes(lab *lab.SlurmLab) {
	_, _, _ = lab.Exec("root", "", "scancel", "--partition=main,shared")
	_, _, _ = lab.Exec("root", "", "scontrol", "update", "NodeName=n[1-4]", "State=RESUME") // the error for a node that is not drained does not matter
}

// preflightLine is a line of preflight --try --json: a finding, or a way to grow.
type preflightLine struct {
	Severity, What string
	Way            growth.Kind
	Works          bool
	Why            string
}

// preflightRow returns the result of `accordion preflight --try` for a setting, and Slurm's message about a way that
// it does not try.
func preflightRow(t *testing.T, lab *lab.SlurmLab, s setting) row {
	t.Helper()
	out, errs, _ := lab.Exec("root", "", "accordion", "preflight", "--try", "--as", "alice", "--json")
	r := row{Setting: s.name, Plain: s.plain}
	for line := range strings.Lines(out) {
		var w preflightLine
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Fatalf("%s: preflight says %q: %v\n%s", s.name, line, err, errs)
		}
		if found := grows.FindStringSubmatch(w.What); found != nil {
			r.Auto = growth.Kind(found[1])
		}
		if w.Severity == "fail" {
			r.Refused = w.What
		}
		if w.Way != "" {
			r.Ways = append(r.Ways, resultOf(t, lab, w))
		}
	}
	if (len(r.Ways) != 3) != (r.Refused != "") {
		t.Fatalf("%s: preflight tried %d ways\n%s\n%s", s.name, len(r.Ways), out, errs)
	}
	return r
}

var grows = regexp.MustCompile(`^jobs of partition main grow by (\w+)`)

// trialStages matches the message about a way that was tried and failed. The message about a way that Accordion
// does not try begins differently.
var trialStages = regexp.MustCompile(`^(start|growth|a step on the new node|shrink): `)

func resultOf(t *testing.T, lab *lab.SlurmLab, w preflightLine) result {
	t.Helper()
	r := result{Way: w.Way, Works: w.Works}
	switch {
	case w.Works:
		r.Bound = strings.HasSuffix(w.Why, "each on its own CPU")
	case trialStages.MatchString(w.Why):
		r.Why = regexp.MustCompile(`\d+`).ReplaceAllString(w.Why, "N") // the numbers are job ids and times
	default:
		r.Why = w.Why
		r.Slurm = byHand(t, lab, w.Way)
	}
	return r
}
