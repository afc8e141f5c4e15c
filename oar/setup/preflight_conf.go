package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/oar/conf"
)

// Preflight reports if OAR keeps more than slowPlans seconds between two jobs on a node, or more than slowPasses seconds between two
// passes.
const (
	slowPlans  = 5
	slowPasses = 1
)

// checkConf checks oar.conf and the files that it names.
func (s Setup) checkConf(text string) []check {
	is := func(name string) string { value, _ := conf.SettingIn(text, name); return value }
	link, named := runnable(filepath.Join(s.OARDir, "schedulers", SchedulerName)), is(epilogueSetting) == s.wrapperPath()
	prologue, pause := is("PROLOGUE_EXEC_FILE"), is("SCHEDULER_MIN_TIME_BETWEEN_2_CALLS")
	runtime := cmp.Or(is("OAR_RUNTIME_DIRECTORY"), conf.DefaultRuntime)
	seconds, unread := strconv.Atoi(pause)
	return []check{
		{"the scheduler's link", adapter.Fatal, link != "", "OAR's scheduler for the queue cannot be run, and OAR switches the queue off: " + link, again},
		{"the epilogue's name", adapter.Warning, !named,
			fmt.Sprintf("%s does not name %s: the companions of a job that ends while the sidecar does not run keep their nodes until it does", epilogueSetting, s.wrapperPath()),
			"Run `accordion oar install --epilogue`, or let the site's epilogue call " + s.wrapperPath()},
		{"the epilogue", adapter.Fatal, named && runnable(s.wrapperPath()) != "",
			fmt.Sprintf("%s names a file that cannot be run, and OAR switches all of its queues off when a job ends: %s", epilogueSetting, runnable(s.wrapperPath())), again},
		{"the prologue", adapter.Warning, !strings.Contains(prologue, "accordion"),
			fmt.Sprintf("PROLOGUE_EXEC_FILE is %q: a job whose first step is larger than its least one finds only the least nodes in $OAR_NODEFILE when it begins", prologue),
			`Set PROLOGUE_EXEC_FILE="/usr/bin/accordion oar prologue" in ` + s.File + ", or let the site's prologue call it"},
		{"the runtime folder", adapter.Warning, shared(runtime),
			fmt.Sprintf("OAR_RUNTIME_DIRECTORY is %s, where every user can write: who makes that folder on a node first keeps OAR from starting jobs there, and without OAR's cpusets chooses the nodes in their $OAR_NODEFILE", runtime),
			`Set OAR_RUNTIME_DIRECTORY="/var/lib/oar" in ` + s.File + ", for server and nodes, while no job runs"},
		{"between two jobs", adapter.Note, s.Conf.SecurityTime > slowPlans,
			fmt.Sprintf("SCHEDULER_JOB_SECURITY_TIME is %d s: a node is planned to be idle for so long between two jobs", s.Conf.SecurityTime), ""},
		{"between two passes, not set", adapter.Note, pause == "",
			"SCHEDULER_MIN_TIME_BETWEEN_2_CALLS is not set, and OAR waits 5 s between two passes: what is due meanwhile begins late", ""},
		{"between two passes", adapter.Note, unread == nil && seconds > slowPasses,
			fmt.Sprintf("SCHEDULER_MIN_TIME_BETWEEN_2_CALLS is %d s: what is due meanwhile begins late", seconds), ""},
		{"jobs made longer", adapter.Note, strings.EqualFold(is("WALLTIME_CHANGE_ENABLED"), "yes"),
			"WALLTIME_CHANGE_ENABLED is yes: who may delay the jobs of others (oarwalltime --delay-next-jobs) may take nodes that were promised to them. An evolving job that is made longer may be late by as much", ""},
		{"nodes that sleep", adapter.Warning, strings.EqualFold(is("ENERGY_SAVING_INTERNAL"), "yes") || is("SCHEDULER_NODE_MANAGER_SLEEP_CMD") != "",
			"OAR puts idle nodes to sleep: a node that sleeps is not planned, and none is woken for a job", "Keep the nodes awake that the queue is to use"},
	}
}

// shared reports whether a folder is inside a folder to which every user of a machine can write.
func shared(folder string) bool {
	return slices.ContainsFunc([]string{"/tmp/", "/var/tmp/", "/dev/shm/"}, func(all string) bool { return strings.HasPrefix(folder+"/", all) })
}

// runnable returns why OAR cannot run a file, or "" if it can.
func runnable(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o001 == 0:
		return path + " is no program that everybody may run"
	}
	return ""
}
