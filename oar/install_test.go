package oar_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"accordion/oar/labtest"
)

func TestAccordionIsInstalledInARealOAR(t *testing.T) {
	onBoth(t, 5, func(t *testing.T, lab *labtest.Lab) {
		badProfilesAreNotQueued(t, lab)
		goodProfilesAre(t, lab)
		installedAgainAndTakenAway(t, lab)
	})
}

// every is a question whose answer must not change when a submission is refused.
const everyJob = "select count(*), max(job_id) from jobs"

// A user is told in one line what is wrong, and nothing is queued.
func badProfilesAreNotQueued(t *testing.T, lab *labtest.Lab) {
	lab.Run(t, "alice", "bash", "-c", "printf '#!/bin/bash\n#OAR -t ep=2x20s,9x20s\n#OAR -q evolve\ntrue\n' >wide.sh; chmod +x wide.sh; printf '1\n2\n' >parameters")
	lab.Submit(t, "alice", "true", "--hold", "-l", "nodes=1,walltime=0:1:0") // so that there is a job
	before := lab.SQL(t, everyJob)
	ep := func(text string, more ...string) []string {
		return append(append([]string{"-q", "evolve", "-t", "ep=" + text}, more...), "true")
	}
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{ep(""), "NODESxDURATION"},
		{ep("hello"), "NODESxDURATION"},
		{ep("2x20"), "500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"},
		{ep("0x20s"), "a number of nodes from 1"},
		{ep("2x0s"), "a duration above 0"},
		{ep("2x20s,"), "column 7"},
		{ep("2x20s,9x20s"), "grows to 9 nodes, and the cluster has 5"},
		{ep("2x3650d,1x1s"), "3650 days"},
		{ep(strings.Repeat("2x20s,1x20s,", 16) + "2x1s"), "has 196 characters, and OAR has room for 190"},
		{ep("2x20s'; delete from jobs; --"), "is not a duration"},
		{ep("2x20s\n3x20s"), "is not a duration"},
		{ep("2x20s\xff\x1b[2J"), "is not a duration"},
		{ep("$(id)x20s"), "a number of nodes"},
		{ep("2x20s", "-t", "ep=3x20s"), "-t ep= is there twice"},
		{ep("2x20s", "-t", "ep2=3x20s"), "-t ep2= is one too many"},
		{ep("2x20s,3x20s", "-l", "nodes=3"), "leave -l out, or say -l nodes=2,walltime=0:00:40"},
		{ep("2x20s,3x20s", "-l", "nodes=2,walltime=0:1:0"), "a walltime of 60 s"},
		{ep("2x20s,3x20s", "-l", "walltime=0:1:0"), "a walltime of 60 s"},
		{ep("1x20s", "-l", "core=1"), "leave -l out"},
		{ep("2x20s", "-l", "/switch=1/nodes=2"), "leave -l out"},
		{ep("2x20s", "-l", "nodes=ALL"), "leave -l out"},
		{ep("2x20s", "-l", "{switch='s1'}/nodes=2"), "leave -l out"},
		{ep("2x20s", "-l", "nodes=2", "-l", "nodes=4"), "2 requests (-l) and 1 profiles"},
		{ep("2x20s", "-p", "switch='s1'"), "leave the property (-p) out"},
		{ep("2x20s", "-r", "2030-01-01 12:00:00"), "leave -r out"},
		{ep("2x20s", "--array", "3"), "an array of jobs cannot evolve"},
		{ep("2x20s", "--array-param-file", "parameters"), "an array of jobs cannot evolve"},
		{ep("2x20s", "-t", "besteffort"), "of type besteffort"},
		{ep("2x20s", "-t", "container"), "of type container"},
		{ep("2x20s", "-t", "deploy", "-l", "nodes=2"), "of type deploy"},
		{ep("2x20s", "-t", "timesharing=*,*"), "of type timesharing"},
		{ep("2x20s", "-t", "noop"), "of type noop"},
		{ep("2x20s", "-n", strings.Repeat("n", 240)), "characters longer than OAR has room for"},
		{ep("2x13h", "-I")[:5], "makes the walltime 43200 s, and ep=2x13h lasts 46800 s"},
		{[]string{"-t", "ep=2x20s", "true"}, "say -q evolve"},
		{[]string{"-q", "default", "-t", "ep=2x20s", "true"}, "say -q evolve"},
		{[]string{"-q", "evolve", "-t", "ep", "true"}, "is no profile"},
		{[]string{"-q", "evolve", "-t", "ep1=2x20s", "-t", "ep2=9x20s", "true"}, "ep2: the profile grows to 9 nodes"},
		{[]string{"-S", "./wide.sh"}, "grows to 9 nodes, and the cluster has 5"},
	} {
		_, stderr, err := lab.Exec("alice", append([]string{"oarsub"}, test.arguments...)...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() == 0 {
			t.Errorf("oarsub %q ended with %v, want a status that is not 0", test.arguments, err)
		}
		if !strings.HasPrefix(stderr, "accordion: ") || strings.Contains(stderr, "\n") || !strings.Contains(stderr, test.says) {
			t.Errorf("oarsub %q says\n%s\nwant one line with %q", test.arguments, stderr, test.says)
		}
	}
	if after := lab.SQL(t, everyJob); after != before {
		t.Errorf("after all these there are %s jobs (their number, the last), want %s", after, before)
	}
	if stray := lab.SQL(t, "select count(*) from job_types"); stray != "0" {
		t.Errorf("%s types of refused jobs are left", stray)
	}
}

// asked is what a job asks for, in the order of its configurations: nodes and seconds.
func asked(t *testing.T, lab *labtest.Lab, id string) string {
	t.Helper()
	return strings.ReplaceAll(lab.SQL(t, `select r.res_job_resource_type, r.res_job_value, m.moldable_walltime from moldable_job_descriptions m
		join job_resource_groups g on g.res_group_moldable_id = m.moldable_id join job_resource_descriptions r on r.res_job_group_id = g.res_group_id
		where m.moldable_job_id = `+id+" order by m.moldable_id"), "\n", " ")
}

func goodProfilesAre(t *testing.T, lab *labtest.Lab) {
	lab.Run(t, "alice", "bash", "-c", "printf '#!/bin/bash\n#OAR -t ep=2x20s,5x20s,3x20s\n#OAR -q evolve\ntrue\n' >good.sh; chmod +x good.sh")
	longest := strings.TrimSuffix(strings.Repeat("2x10s,1x10s,", 16), ",")[:190-1] + "s"
	for _, test := range []struct {
		arguments    []string
		types, wants string
	}{
		{[]string{"-S", "./good.sh"}, "ep=2x20s,5x20s,3x20s", "network_address|2|60"},
		{[]string{"-q", "evolve", "-t", "ep=2x01:30,1x1-00:00:00", "-l", "nodes=1,walltime=24:1:30", "true"}, "ep=2x01:30,1x1-00:00:00", "network_address|1|86490"},
		{[]string{"-q", "evolve", "-t", "idempotent", "-t", "ep1=1x1h,4x1h", "-t", "ep2=2x40m,5x40m", "true"}, "idempotent ep1=1x1h,4x1h ep2=2x40m,5x40m",
			"network_address|1|7200 network_address|2|4800"},
		{[]string{"-q", "evolve", "-t", "ep=" + longest, "true"}, "ep=" + longest, ""},
		{[]string{"-q", "evolve", "-l", "core=2,walltime=0:1:0", "true"}, "", "core|2|60"},
	} {
		out := lab.Run(t, "alice", append([]string{"oarsub", "--hold"}, test.arguments...)...)
		_, id, found := strings.Cut(out, "OAR_JOB_ID=")
		if !found {
			t.Errorf("oarsub %q gave no job: %s", test.arguments, out)
			continue
		}
		if got := strings.ReplaceAll(lab.SQL(t, "select type from job_types where job_id = "+id+" order by job_type_id"), "\n", " "); got != test.types {
			t.Errorf("oarsub %q: the job has the types %q, want %q", test.arguments, got, test.types)
		}
		if got := asked(t, lab, id); test.wants != "" && got != test.wants {
			t.Errorf("oarsub %q: the job asks for %q, want %q", test.arguments, got, test.wants)
		}
		lab.Run(t, "alice", "oardel", id)
	}
}

// installed is all that an installation changes in the database.
func installed(t *testing.T, lab *labtest.Lab) string {
	t.Helper()
	schema := "'public'"
	if lab.Database == labtest.MariaDB {
		schema = "'oar'"
	}
	return strings.Join([]string{
		lab.SQL(t, "select table_name from information_schema.tables where table_name like 'accordion%' and table_schema = "+schema+" order by 1"),
		lab.SQL(t, "select trigger_name, event_manipulation from information_schema.triggers where trigger_schema = "+schema+" order by 1, 2"),
		lab.SQL(t, "select routine_name from information_schema.routines where routine_schema = "+schema+" order by 1"),
		lab.SQL(t, "select queue_name, priority, scheduler_policy from queues where queue_name = 'evolve'"),
		lab.SQL(t, "select priority, enabled, count(*) from admission_rules where rule like '%Accordion%' group by priority, enabled order by 1"),
		lab.Run(t, "root", "find", "/usr/lib/oar/schedulers", "-name", "accordion*"),
	}, "\n")
}

// told runs accordion as root, and gives each line's first word.
func told(t *testing.T, lab *labtest.Lab, arguments ...string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(lab.Run(t, "root", append([]string{"accordion", "oar"}, arguments...)...) + "\n") {
		word, _, _ := strings.Cut(line, ":")
		if len(all) == 0 || all[len(all)-1] != word {
			all = append(all, word)
		}
	}
	return strings.Join(all, ", then ")
}

func installedAgainAndTakenAway(t *testing.T, lab *labtest.Lab) {
	all := installed(t, lab)
	if got := told(t, lab, "install"); got != "there" {
		t.Errorf("installed a second time it says %s, want that all is there", got)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("installed a second time it has\n%s\nwant\n%s", got, all)
	}
	// What somebody has changed or lost is mended.
	lab.SQL(t, "update admission_rules set enabled = 'NO' where priority = 10 and rule like '%Accordion%'")
	lab.SQL(t, "insert into admission_rules (priority, enabled, rule) select priority, enabled, rule from admission_rules where priority = 1000")
	lab.Run(t, "root", "ln", "-sfn", "/nowhere/accordion", "/usr/lib/oar/schedulers/accordion_oar")
	lab.SQL(t, "drop table accordion_places")
	out := lab.Run(t, "root", "accordion", "oar", "install", "--priority", "20")
	for _, says := range []string{"mended: scheduler /usr/lib/oar/schedulers/accordion_oar is ", "made: tables", "it is switched off", "it was there more than once", "there: queue evolve (priority 20)"} {
		if !strings.Contains(out, says) {
			t.Errorf("it mends what was changed and says\n%s\nwant %q", out, says)
		}
	}
	if got := installed(t, lab); got != all {
		t.Errorf("mended, it has\n%s\nwant\n%s", got, all)
	}

	job := lab.Submit(t, "alice", "true", "--hold", "-q", "evolve", "-t", "ep=1x20s,2x20s")
	if _, says, err := lab.Exec("root", "accordion", "oar", "uninstall"); err == nil || !strings.Contains(says, "nothing was removed") || !strings.Contains(says, job) {
		t.Errorf("with job %s in the queue it ends with %v, and says %s; want that nothing was removed", job, err, says)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("with a job in the queue it has left\n%s\nof\n%s", got, all)
	}
	lab.Run(t, "alice", "oardel", job)
	ended := func() bool { state := lab.State(t, job); return state == "Error" || state == "Terminated" }
	lab.Await(t, long, "the job is over", ended)
	if got := told(t, lab, "uninstall"); got != "removed" {
		t.Errorf("taken away, it says %s, want that all was removed", got)
	}
	if left := strings.TrimSpace(installed(t, lab)); left != "" {
		t.Errorf("taken away, it has left\n%s", left)
	}
	if got := told(t, lab, "uninstall"); got != "not there" {
		t.Errorf("taken away a second time it says %s, want that nothing is there", got)
	}
	if _, says, err := lab.Exec("alice", "oarsub", "-t", "ep=1x20s", "true"); err == nil || !strings.Contains(says, "unknown job type: ep=1x20s") {
		t.Errorf("without the rules a profile is answered with %v: %s; want OAR's own word", err, says)
	}
	lab.Submit(t, "alice", "true", "-l", "nodes=1,walltime=0:1:0")

	if got := told(t, lab, "install"); got != "made" {
		t.Errorf("installed anew it says %s, want that all was made", got)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("installed anew it has\n%s\nwant\n%s", got, all)
	}
}
