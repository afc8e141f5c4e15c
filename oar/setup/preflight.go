package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// Preflight looks at everything of an OAR that the sidecar depends on, changes nothing, and says what is wrong and how to mend
// it, the fatal first. No findings: all is well.
func (s Setup) Preflight(ctx context.Context) []adapter.Finding {
	text, err := os.ReadFile(s.File)
	if err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("OAR's configuration cannot be read: %v", err), Fix: "Run the sidecar on OAR's server as root"}}
	}
	opened, err := database.Open(s.Conf)
	if err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: database.OneLine(err), Fix: "Correct " + s.File}}
	}
	defer opened.Close()
	d := setupStore{tables.Tables{DB: opened}}
	found := s.checkConf(string(text))
	for _, look := range []func(context.Context, setupStore) ([]adapter.Finding, error){s.checkTables, s.checkQueue, s.checkRules, s.checkTriggers, s.checkClock,
		s.checkNodes, s.checkRelease} {
		more, err := look(ctx, d)
		if err != nil {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: database.OneLine(err), Fix: "Does OAR's database run, and is " + s.File + " right?"})
			break
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, adapter.ByGravity)
	return found
}

// again is what mends most things.
const again = "Run `accordion oar install` on OAR's server as root"

// slowPlans is from how many seconds between two jobs on a node preflight mentions them, and slowPasses from how many between
// two passes.
const (
	slowPlans  = 5
	slowPasses = 1
)

// checkConf looks at oar.conf and the files that it names.
func (s Setup) checkConf(text string) []adapter.Finding {
	var found []adapter.Finding
	add := func(severity adapter.Severity, fix, what string, args ...any) {
		found = append(found, adapter.Finding{Severity: severity, What: fmt.Sprintf(what, args...), Fix: fix})
	}
	is := func(name string) string { value, _ := conf.SettingIn(text, name); return value }
	link := filepath.Join(s.OARDir, "schedulers", SchedulerName)
	if why := runnable(link); why != "" {
		add(adapter.Fatal, again, "OAR's scheduler for the queue cannot be run, and OAR switches the queue off: %s", why)
	}
	switch epilogue := is(epilogueSetting); {
	case epilogue != s.wrapperPath():
		add(adapter.Warning, "Run `accordion oar install --epilogue`, or let the site's epilogue call "+s.wrapperPath(),
			"%s does not name %s: the companions of a job that ends while the sidecar does not run keep their nodes until it does", epilogueSetting, s.wrapperPath())
	case runnable(epilogue) != "":
		add(adapter.Fatal, again, "%s names a file that cannot be run, and OAR switches all of its queues off when a job ends: %s", epilogueSetting, runnable(epilogue))
	}
	if prologue := is("PROLOGUE_EXEC_FILE"); !strings.Contains(prologue, "accordion") {
		add(adapter.Warning, `Set PROLOGUE_EXEC_FILE="/usr/bin/accordion oar prologue" in `+s.File+", or let the site's prologue call it",
			"PROLOGUE_EXEC_FILE is %q: a job whose first step is larger than its least one finds only the least nodes in $OAR_NODEFILE when it begins", prologue)
	}
	if s.Conf.SecurityTime > slowPlans {
		add(adapter.Note, "", "SCHEDULER_JOB_SECURITY_TIME is %d s: a node is planned to be idle for so long between two jobs", s.Conf.SecurityTime)
	}
	if pause := is("SCHEDULER_MIN_TIME_BETWEEN_2_CALLS"); pause == "" {
		add(adapter.Note, "", "SCHEDULER_MIN_TIME_BETWEEN_2_CALLS is not set, and OAR waits 5 s between two passes: what is due meanwhile begins late")
	} else if n, err := strconv.Atoi(pause); err == nil && n > slowPasses {
		add(adapter.Note, "", "SCHEDULER_MIN_TIME_BETWEEN_2_CALLS is %d s: what is due meanwhile begins late", n)
	}
	if enabled := is("WALLTIME_CHANGE_ENABLED"); strings.EqualFold(enabled, "yes") {
		add(adapter.Note, "", "WALLTIME_CHANGE_ENABLED is yes: who may delay the jobs of others (oarwalltime --delay-next-jobs) may take nodes that were promised to them. An evolving job that is made longer may be late by as much")
	}
	if strings.EqualFold(is("ENERGY_SAVING_INTERNAL"), "yes") || is("SCHEDULER_NODE_MANAGER_SLEEP_CMD") != "" {
		add(adapter.Warning, "Keep the nodes awake that the queue is to use", "OAR puts idle nodes to sleep: a node that sleeps is not planned, and none is woken for a job")
	}
	return found
}

// runnable says why OAR cannot run a file; "" when it can.
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

func (s Setup) checkTables(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	there, err := d.Installed(ctx, d.Sql)
	if err != nil || there {
		return nil, err
	}
	return []adapter.Finding{{Severity: adapter.Fatal, What: "OAR's database has not all of Accordion's tables (accordion_jobs, accordion_reservations, accordion_cpusets, accordion_places)", Fix: again}}, nil
}

// checkQueue looks at ours, and at those that OAR plans before it.
func (s Setup) checkQueue(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	ours, there, err := d.Queue(ctx, s.Queue)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("OAR has no queue %s", s.Queue), Fix: again + ", or correct [oar] queue"}}, nil
	case ours.Policy != SchedulerName:
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("the queue %s has the scheduler %s, and not %s", s.Queue, ours.Policy, SchedulerName),
			Fix: "Name another queue in [oar] queue, or remove this one (oarnotify --remove-queue) and run `accordion oar install`"}}, nil
	}
	var found []adapter.Finding
	if ours.State != "Active" {
		found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("the queue %s is switched off: no job starts in it", s.Queue), Fix: "oarnotify -e " + s.Queue})
	}
	above, err := d.Above(ctx, s.Queue, ours.Priority)
	if err != nil {
		return nil, err
	}
	if len(above) > 0 {
		found = append(found, adapter.Finding{Severity: adapter.Warning,
			What: fmt.Sprintf("OAR plans the queue %s (priority %d) not before all others: the jobs of %s may take nodes that were promised to running jobs, for their growth", s.Queue, ours.Priority, strings.Join(above, ", ")),
			Fix:  fmt.Sprintf("Give it the highest priority: `accordion oar install --queue %s --priority N`; or keep its nodes from the other queues", s.Queue)})
	}
	return found, nil
}

func (s Setup) checkRules(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	var found []adapter.Finding
	for _, r := range Rules(s.Queue) {
		there, err := r.find(ctx, d)
		if err != nil {
			return nil, err
		}
		why := "it is not there"
		switch {
		case len(there) > 1:
			why = "it is there more than once"
		case len(there) == 1:
			why = r.as(there[0])
		}
		if why != "" {
			found = append(found, adapter.Finding{Severity: adapter.Warning, What: fmt.Sprintf("the admission rule that %s is not as it should be, and evolving jobs are refused or taken for ordinary ones: %s", r.name, why), Fix: again})
		}
	}
	return found, nil
}

func (s Setup) checkTriggers(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	if s.Conf.Type != "Pg" {
		return []adapter.Finding{{Severity: adapter.Note, What: "MariaDB tells nobody of changes: the sidecar looks each second"}}, nil
	}
	n, err := d.triggersThere(ctx)
	if err != nil || n == len(triggers) {
		return nil, err
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("of %d triggers in OAR's database there are %d: the sidecar hears late of what changes", len(triggers), n), Fix: again}}, nil
}

// checkClock compares the clock by which OAR goes, which is its database's, with the sidecar's.
func (s Setup) checkClock(ctx context.Context, d setupStore) ([]adapter.Finding, error) {
	before := time.Now().Unix()
	at, err := d.Second(ctx, d.Sql)
	if err != nil {
		return nil, err
	}
	seconds, where := Apart(at, before, time.Now().Unix())
	if seconds <= clocksApart {
		return nil, nil
	}
	return []adapter.Finding{{Severity: adapter.Warning, What: fmt.Sprintf("the clock of OAR's database is %d s %s this machine's: steps and ends of jobs come at other seconds than planned", seconds, where),
		Fix: "Synchronise both clocks (chrony)"}}, nil
}

// clocksApart is by how many seconds two clocks may differ: jobs have a second or two between what is planned and what is done anyway.
const clocksApart core.Time = 2

// Apart is how far a clock is from another that showed these seconds before and after it was read.
func Apart(at, before, after core.Time) (seconds core.Time, where string) {
	if at < before {
		return before - at, "behind"
	}
	return max(at-after, 0), "ahead of"
}
