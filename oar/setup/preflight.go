package setup

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// check is the result of one check of preflight.
type check struct {
	name     string // what was checked
	severity adapter.Severity
	wrong    bool
	says     string // the finding and its consequence; "" if nothing is wrong
	fix      string // what to do; "" for a note
}

// again is the hint for most findings.
const again = "Run `accordion oar install` on OAR's server as root"

// Preflight checks everything in an OAR on which the sidecar depends, and changes nothing. It returns what is wrong and
// how to repair it, fatal findings first.
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
	all := s.checkConf(string(text))
	for _, look := range []func(context.Context, setupStore) ([]check, error){s.checkTables, s.checkQueue, s.checkRules, s.checkTriggers, s.checkClock,
		s.checkManager, s.checkReach, s.checkRelease, s.checkBesteffort} {
		more, err := look(ctx, d)
		if err != nil {
			all = append(all, check{"the database", adapter.Unanswered, true, database.OneLine(err), "Does OAR's database run, and is " + s.File + " right?"})
			break
		}
		all = append(all, more...)
	}
	return findings(all)
}

// findings returns what is wrong, fatal findings first.
func findings(all []check) (found []adapter.Finding) {
	for _, c := range all {
		if c.wrong {
			found = append(found, adapter.Finding{Severity: c.severity, What: c.says, Fix: c.fix})
		}
	}
	slices.SortStableFunc(found, adapter.ByGravity)
	return found
}

func (s Setup) checkTables(ctx context.Context, d setupStore) ([]check, error) {
	there, err := d.Installed(ctx, d.Sql)
	return []check{{"the tables", adapter.Fatal, !there,
		"OAR's database has not all of Accordion's tables (accordion_jobs, accordion_reservations, accordion_cpusets, accordion_places)", again}}, err
}

// checkQueue checks Accordion's queue, and reports the queues that OAR plans before it.
func (s Setup) checkQueue(ctx context.Context, d setupStore) ([]check, error) {
	queue, there, err := d.Queue(ctx, s.Queue)
	ours := there && queue.Policy == SchedulerName
	var above []string
	if err == nil && ours {
		above, err = d.Above(ctx, s.Queue, queue.Priority)
	}
	return []check{
		{"the queue", adapter.Fatal, !there, "OAR has no queue " + s.Queue, again + ", or correct [oar] queue"},
		{"the queue's scheduler", adapter.Fatal, there && !ours, fmt.Sprintf("the queue %s has the scheduler %s, and not %s", s.Queue, queue.Policy, SchedulerName),
			"Name another queue in [oar] queue, or remove this one (oarnotify --remove-queue) and run `accordion oar install`"},
		{"the queue is on", adapter.Warning, ours && queue.State != "Active", fmt.Sprintf("the queue %s is switched off: no job starts in it", s.Queue), "oarnotify -e " + s.Queue},
		{"the queue comes first", adapter.Warning, len(above) > 0,
			fmt.Sprintf("OAR plans the queue %s (priority %d) not before all others: the jobs of %s may take nodes that were promised to running jobs, for their growth", s.Queue, queue.Priority, strings.Join(above, ", ")),
			fmt.Sprintf("Give it the highest priority: `accordion oar install --queue %s --priority N`; or keep its nodes from the other queues", s.Queue)},
	}, err
}

func (s Setup) checkRules(ctx context.Context, d setupStore) (all []check, err error) {
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
		all = append(all, check{"the rule that " + r.name, adapter.Warning, why != "",
			fmt.Sprintf("the admission rule that %s is not as it should be, and evolving jobs are refused or taken for ordinary ones: %s", r.name, why), again})
	}
	return all, nil
}

func (s Setup) checkTriggers(ctx context.Context, d setupStore) ([]check, error) {
	if !d.NotifiesChanges() {
		return []check{{"word of changes", adapter.Note, true, "MariaDB tells nobody of changes: the sidecar looks each second", ""}}, nil
	}
	there, err := d.triggersThere(ctx)
	return []check{{"the triggers", adapter.Warning, len(there) != len(triggers),
		fmt.Sprintf("of %d triggers in OAR's database there are %d: the sidecar hears late of what changes", len(triggers), len(there)), again}}, err
}

// checkClock compares the clock of OAR's database with this machine's.
func (s Setup) checkClock(ctx context.Context, d setupStore) ([]check, error) {
	before := time.Now().Unix()
	at, err := d.Second(ctx, d.Sql)
	seconds, where := Apart(at, before, time.Now().Unix())
	return []check{{"the clock", adapter.Warning, seconds > clocksApart,
		fmt.Sprintf("the clock of OAR's database is %d s %s this machine's: steps and ends of jobs come at other seconds than planned", seconds, where), "Synchronise both clocks (chrony)"}}, err
}

// clocksApart is the number of seconds by which the two clocks may differ. Planned changes are carried out a second or two late anyway.
const clocksApart core.Time = 2

// Apart returns the difference between two clocks. The first clock showed `at`. The second clock showed `before` just before that, and
// `after` just after it.
func Apart(at, before, after core.Time) (seconds core.Time, where string) {
	if at < before {
		return before - at, "behind"
	}
	return max(at-after, 0), "ahead of"
}

// checkpointsLong is the longest wait for a besteffort job's checkpoint, in seconds, that preflight does not report.
const checkpointsLong core.Time = 60

// checkBesteffort checks for running besteffort jobs with checkpoints. OAR waits for a checkpoint as long as the job's user has requested.
func (s Setup) checkBesteffort(ctx context.Context, d setupStore) ([]check, error) {
	query := `SELECT COALESCE(MAX(j.checkpoint), 0) FROM jobs j WHERE ` + database.IsHolding + ` AND (j.queue_name = 'besteffort'
		OR EXISTS (SELECT 1 FROM job_types t WHERE t.job_id = j.job_id AND t.type = 'besteffort'))`
	longest, err := database.Value[core.Time](ctx, d.Sql, "the checkpoints of besteffort jobs", query)
	return []check{{"besteffort jobs make way", adapter.Note, longest > checkpointsLong,
		fmt.Sprintf("OAR waits up to %d s for the checkpoint of a besteffort job that runs (oarsub --checkpoint): its nodes count as taken for as long, and a growth that finds no others is late. "+
			"An admission rule can bound what users may ask for (docs/oar.md)", longest), ""}}, err
}
