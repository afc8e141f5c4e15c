package oar_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/internal/lab"
)

func TestAccordionIsInstalledInARealOAR(t *testing.T) {
	onBothDatabases(t, 5, func(t *testing.T, lab *lab.OARLab) {
		if lab.Database == "postgresql" { // PostgreSQL is enough: the rules do not depend on the database, and MariaDB sends no notifications
			badProfilesAreNotQueued(t, lab)
			changesAreTold(t, lab)
			preflightFindsProblems(t, lab)
		}
		brokenRulesQueueNothing(t, lab)
		goodProfilesAre(t, lab)
		installedAgainAndTakenAway(t, lab)
		companionsEndWithTheirJob(t, lab)
	})
}

// everyJob and everyType are queries whose answers must not change when a submission is refused.
const (
	everyJob  = "select count(*), max(job_id) from jobs"
	everyType = "select count(*), max(job_type_id) from job_types"
)

// The user gets one line about what is wrong, and nothing is queued.
func badProfilesAreNotQueued(t *testing.T, lab *lab.OARLab) {
	lab.Run(t, "alice", "bash", "-c", "printf '#!/bin/bash\n#OAR -t ep=2x20s,9x20s\n#OAR -q evolve\ntrue\n' >wide.sh; chmod +x wide.sh; printf '#!/bin/bash\n#OAR -l nodes=1\n#EP 2x20s,3x20s\ntrue\n' >slurm.sh; chmod +x slurm.sh; printf '1\n2\n' >parameters")
	lab.Submit(t, "alice", "true", "--hold", "-l", "nodes=1,walltime=0:1:0") // so that the queue has a job
	before, types := lab.SQL(t, everyJob), lab.SQL(t, everyType)
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
		{ep("2x20s';delete/**/from/**/jobs;--"), "is not a duration"},
		{ep("2x20s'; delete from jobs; --"), "no blanks after the comma"},
		{ep("2x20s\n3x20s"), "no blanks after the comma"},
		{ep("2x20s, 3x20s"), "no blanks after the comma"},
		{ep("8X1h"), "; write 8x1h"},
		{ep("2 x 20min"), "; write 2x20m"},
		{ep("2x1.5h"), "; write 2x1h30m"},
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
		{ep("2x20s", "-I")[:5], "leave -I out"},
		{[]string{"-t", "ep=2x20s", "true"}, "say -q evolve"},
		{[]string{"-q", "default", "-t", "ep=2x20s", "true"}, "say -q evolve"},
		{[]string{"-q", "evolve", "-t", "ep", "true"}, "is no profile"},
		{[]string{"-q", "evolve", "-t", "ep1=2x20s", "-t", "ep2=9x20s", "true"}, "ep2: the profile grows to 9 nodes"},
		{[]string{"-S", "./wide.sh"}, "grows to 9 nodes, and the cluster has 5"},
		{[]string{"-S", "./slurm.sh"}, `script line 3: "#EP 2x20s,3x20s" is not read by OAR: write "#OAR -t ep=2x20s,3x20s"`},
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
	if after := lab.SQL(t, everyType); after != types {
		t.Errorf("after all these there are %s types of jobs (their number, the last), want %s", after, types)
	}
}

// A rule of the site, before or between Accordion's rules, has a syntax error or ends the evaluation of rules.
func brokenRulesQueueNothing(t *testing.T, lab *lab.OARLab) {
	before := lab.SQL(t, everyJob)
	for _, test := range []struct {
		priority   int
		rule, says string
	}{{5, `die("[SITE] closed today");`, "[SITE] closed today"}, {500, `die("[SITE] closed today");`, "[SITE] closed today"}, {5, "if (", "syntax error"}, {500, "if (", "syntax error"}} {
		lab.SQL(t, fmt.Sprintf("insert into admission_rules (rule, priority) values ('%s', %d)", test.rule, test.priority))
		out, says, err := lab.Exec("alice", "oarsub", "-q", "evolve", "-t", "ep=2x20s,3x20s", "true")
		lab.SQL(t, fmt.Sprintf("delete from admission_rules where priority = %d and rule = '%s'", test.priority, test.rule))
		if err == nil || !strings.Contains(out+says, test.says) || strings.Contains(test.rule, "die") && strings.Contains(says, "\n") {
			t.Errorf("with the rule %q of priority %d oarsub ended with %v, and said %q %q; want %q (and no other line, where the rule dies)",
				test.rule, test.priority, err, out, says, test.says)
		}
	}
	if after := lab.SQL(t, everyJob); after != before {
		t.Errorf("after these there are %s jobs (their number, the last), want %s", after, before)
	}
}

// asked returns the nodes and seconds of a job's configurations, in their order.
func asked(t *testing.T, lab *lab.OARLab, id string) string {
	t.Helper()
	return strings.ReplaceAll(lab.SQL(t, `select r.res_job_resource_type, r.res_job_value, m.moldable_walltime from moldable_job_descriptions m
		join job_resource_groups g on g.res_group_moldable_id = m.moldable_id join job_resource_descriptions r on r.res_job_group_id = g.res_group_id
		where m.moldable_job_id = `+id+" order by m.moldable_id"), "\n", " ")
}

func goodProfilesAre(t *testing.T, lab *lab.OARLab) {
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

// A listener is notified of new jobs, and of changed states of jobs and nodes, and of nothing else. psql prints notifications after a
// query.
func changesAreTold(t *testing.T, lab *lab.OARLab) {
	id := lab.Submit(t, "bob", "true", "--hold", "-l", "nodes=1,walltime=0:1:0")
	out := lab.Run(t, "root", "sh", "-c", `PGPASSWORD=lab psql -h 127.0.0.1 -U oar -d oar -At <<'END'
listen accordion;
\! cd ~alice && runuser -u alice -- oarsub --hold -q evolve -t ep=1x20s,2x20s true
select 1;
update jobs set state = 'Error' where job_id = `+id+`;
update jobs set state = 'Error', message = 'the same state' where job_id = `+id+`;
update resources set state = 'Suspected' where network_address = 'n5';
update resources set state = 'Alive' where network_address = 'n5';
END`)
	var told []string
	for line := range strings.Lines(out) {
		_, payload, _ := strings.Cut(line, ` "accordion" with payload "`)
		if payload, _, found := strings.Cut(payload, `" received`); found {
			told = append(told, strings.ReplaceAll(payload, " ", ""))
		}
	}
	_, rest, _ := strings.Cut(out, "OAR_JOB_ID=")
	made, _, _ := strings.Cut(rest, "\n")
	want := []string{`{"job":` + made + `,"old":null,"new":"Hold","queue":"evolve"}`, `{"job":` + id + `,"old":"Hold","new":"Error","queue":"default"}`,
		`{"node":"n5","old":"Alive","new":"Suspected"}`, `{"node":"n5","old":"Suspected","new":"Alive"}`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("notifications (-want +got)\n%s", diff)
	}
	lab.Run(t, "alice", "oardel", made)
	lab.Await(t, long, "that job has ended", func() bool { return lab.State(t, made) == "Error" })
}

// installed returns everything in the database that an installation changes.
func installed(t *testing.T, lab *lab.OARLab) string {
	t.Helper()
	schema := "'public'"
	if lab.Database == "mariadb" {
		schema = "'oar'"
	}
	return strings.Join([]string{
		lab.SQL(t, "select table_name from information_schema.tables where table_name like 'accordion%' and table_schema = "+schema+" order by 1"),
		lab.SQL(t, "select trigger_name, event_manipulation from information_schema.triggers where trigger_schema = "+schema+" order by 1, 2"),
		lab.SQL(t, "select routine_name from information_schema.routines where routine_schema = "+schema+" order by 1"),
		lab.SQL(t, "select queue_name, priority, scheduler_policy from queues where queue_name = 'evolve'"),
		lab.SQL(t, "select priority, enabled, count(*) from admission_rules where rule like '%Accordion%' group by priority, enabled order by 1"),
		lab.Run(t, "root", "find", "/usr/lib/oar/schedulers", "/etc/oar", "-name", "accordion*"),
	}, "\n")
}

// told runs accordion as root, and returns the first word of each output line.
func told(t *testing.T, lab *lab.OARLab, arguments ...string) string {
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

func installedAgainAndTakenAway(t *testing.T, lab *lab.OARLab) {
	all := installed(t, lab)
	if got := told(t, lab, "install"); got != "there" {
		t.Errorf("the second installation printed %s, want that all is there", got)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("installed a second time it has\n%s\nwant\n%s", got, all)
	}
	// An installation repairs parts that were changed or deleted.
	lab.SQL(t, "update admission_rules set enabled = 'NO' where priority = 10 and rule like '%Accordion%'")
	lab.SQL(t, "insert into admission_rules (priority, enabled, rule) select priority, enabled, rule from admission_rules where priority = 1000")
	lab.Run(t, "root", "ln", "-sfn", "/nowhere/accordion", "/usr/lib/oar/schedulers/accordion_oar")
	lab.SQL(t, "drop table accordion_places")
	out := lab.Run(t, "root", "accordion", "oar", "install", "--priority", "20")
	for _, says := range []string{"mended: scheduler /usr/lib/oar/schedulers/accordion_oar is ", "made: tables", "it is switched off", "it was there more than once", "there: queue evolve (priority 20)"} {
		if !strings.Contains(out, says) {
			t.Errorf("it repairs the changes and prints\n%s\nwant %q", out, says)
		}
	}
	if got := installed(t, lab); got != all {
		t.Errorf("mended, it has\n%s\nwant\n%s", got, all)
	}

	lab.Await(t, long, "the jobs that were ended before have ended", func() bool {
		return lab.SQL(t, "select count(*) from jobs where queue_name = 'evolve' and state not in ('Error', 'Terminated')") == "0"
	})
	job := lab.Submit(t, "alice", "true", "--hold", "-q", "evolve", "-t", "ep=1x20s,2x20s")
	if _, says, err := lab.Exec("root", "accordion", "oar", "uninstall"); err == nil || !strings.Contains(says, "nothing was removed") || !strings.Contains(says, job) {
		t.Errorf("with job %s in the queue it ends with %v and prints %s; want that nothing was removed", job, err, says)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("with a job in the queue it has left\n%s\nof\n%s", got, all)
	}
	lab.Run(t, "alice", "oardel", job)
	ended := func() bool { state := lab.State(t, job); return state == "Error" || state == "Terminated" }
	lab.Await(t, long, "the job has ended", ended)
	if got := told(t, lab, "uninstall"); got != "removed" {
		t.Errorf("uninstall printed %s, want that all was removed", got)
	}
	if left := strings.TrimSpace(installed(t, lab)); left != "" {
		t.Errorf("taken away, it has left\n%s", left)
	}
	if got := told(t, lab, "uninstall"); got != "not there" {
		t.Errorf("the second uninstall printed %s, want that nothing is there", got)
	}
	if _, says, err := lab.Exec("alice", "oarsub", "-t", "ep=1x20s", "true"); err == nil || !strings.Contains(says, "unknown job type: ep=1x20s") {
		t.Errorf("without the rules a profile gets %v: %s; want OAR's own message", err, says)
	}
	lab.Submit(t, "alice", "true", "-l", "nodes=1,walltime=0:1:0")

	// Two administrators install at the same time.
	out = lab.Run(t, "root", "sh", "-c", "accordion oar install & one=$!; accordion oar install && wait $one")
	if made := strings.Count(out, "made: "); made == 0 || made != strings.Count(out, "there: ") || strings.Contains(out, "mended: ") {
		t.Errorf("two installations at once printed\n%s\nwant one that all was made, and the other that all is there", out)
	}
	if got := installed(t, lab); got != all {
		t.Errorf("after two installations at once the database has\n%s\nwant\n%s", got, all)
	}
}

// When no sidecar runs, the epilogue of OAR's server ends the companions of a job that has ended. It also runs the site's own epilogue, and
// OAR switches no queue off, whatever happens to this program.
func companionsEndWithTheirJob(t *testing.T, lab *lab.OARLab) {
	script(t, lab, "/etc/oar/site_epilogue", "#!/bin/sh\necho \"$1\" >>/var/lib/oar/epilogues\n")
	// The lab's prologue also runs this program, and jobs would end if the prologue failed.
	lab.Run(t, "root", "sh", "-c", `sed -i /^PROLOGUE_EXEC_FILE/d /etc/oar/oar.conf; echo '  SERVER_EPILOGUE_EXEC_FILE="/etc/oar/site_epilogue" # the site' >>/etc/oar/oar.conf`)
	const show = "cat /etc/oar/oar.conf; stat -c '%a %U %G' /etc/oar/oar.conf"
	before := lab.Run(t, "root", "sh", "-c", show)
	if out := lab.Run(t, "root", "accordion", "oar", "install"); !strings.Contains(out, `put this into /etc/oar/oar.conf: SERVER_EPILOGUE_EXEC_FILE="/etc/oar/accordion_epilogue"`) {
		t.Errorf("without --epilogue it prints\n%s\nwant the line that is to be added", out)
	}
	if got := lab.Run(t, "root", "sh", "-c", show); got != before {
		t.Errorf("without --epilogue oar.conf was edited:\n%s", got)
	}
	if out := lab.Run(t, "root", "accordion", "oar", "install", "--epilogue"); !strings.Contains(out, "which runs the site's own, /etc/oar/site_epilogue") {
		t.Errorf("with --epilogue it prints\n%s", out)
	}
	if got := told(t, lab, "install"); got != "there" {
		t.Errorf("the second installation printed %s, want that all is there", got)
	}

	event := lab.SQL(t, "select coalesce(max(event_id), 0) from event_logs") // the last event before this test
	base := lab.Submit(t, "alice", "while [ ! -e enough ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=1,walltime=1:0:0")
	var companions []string
	for _, user := range []string{"alice", "alice", "bob"} {
		companions = append(companions, lab.Submit(t, user, "", "-q", "evolve", "-t", "noop", "-l", "nodes=1,walltime=1:0:0"))
	}
	another := lab.Submit(t, "bob", "while [ ! -e enough ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=1,walltime=1:0:0")
	all := append([]string{base, another}, companions...)
	count := func(state string, ids ...string) string {
		return lab.SQL(t, "select count(*) from jobs where state = '"+state+"' and job_id in ("+strings.Join(ids, ", ")+")")
	}
	lab.Await(t, long, "all five run", func() bool { return count("Running", all...) == "5" })
	// bob's own noop job is not a companion. His other job is recorded as a companion, but is not a noop job. Neither
	// job is ended.
	for _, id := range []string{companions[0], companions[1], another} {
		lab.SQL(t, "insert into accordion_jobs (job_id, submitted, mark, base, released, reservation) values ("+id+", 0, '', "+base+", 1, '')")
	}
	lab.Run(t, "alice", "touch", "enough")
	lab.Await(t, long, "the job and its companions have ended", func() bool { return count("Terminated", base, companions[0], companions[1]) == "3" })
	if got := count("Running", another, companions[2]); got != "2" {
		t.Errorf("of the two that are not its companions %s run on, want both", got)
	}
	if got := lab.SQL(t, "select count(*) from event_logs where type = 'FRAG_JOB_REQUEST' and job_id in ("+strings.Join(companions, ", ")+")"); got != "2" {
		t.Errorf("%s companions were asked to end, want 2", got)
	}
	lab.SQL(t, "delete from accordion_jobs")
	lab.Run(t, "bob", "oardel", companions[2])
	lab.Run(t, "bob", "touch", "enough")
	lab.Await(t, long, "the others have ended", func() bool { return count("Terminated", all...) == "5" })
	siteRan := func(ids ...string) func() bool {
		return func() bool {
			ran := strings.Fields(lab.Run(t, "root", "cat", "/var/lib/oar/epilogues"))
			return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(ran, id) })
		}
	}
	lab.Await(t, long, "the site's epilogue was run for each", siteRan(all...))

	// The epilogue's program cannot be run, or fails.
	for _, gone := range []string{"chmod 000 ", "printf '#!/bin/sh\nexit 3\n' >"} {
		lab.Run(t, "root", "sh", "-c", "p=$(readlink /usr/lib/oar/schedulers/accordion_oar); [ -e $p.kept ] || cp -p $p $p.kept; cp -p $p.kept $p.new; mv $p.new $p; "+gone+"$p")
		id := lab.Submit(t, "alice", "true", "-l", "nodes=1,walltime=0:1:0")
		ends(t, lab, id)
		lab.Await(t, long, "the site's epilogue was run", siteRan(id))
	}
	lab.Run(t, "root", "sh", "-c", "p=$(readlink /usr/lib/oar/schedulers/accordion_oar); mv $p.kept $p")
	if got := lab.SQL(t, "select type, description from event_logs where type like 'SERVER_EPILOGUE%' and event_id > "+event); got != "" {
		t.Errorf("OAR has noted of the epilogue: %s", got)
	}
	if got := lab.SQL(t, "select count(*) from queues where state = 'notActive'"); got != "0" {
		t.Errorf("%s queues are switched off", got)
	}

	whole := installed(t, lab)
	if _, says, err := lab.Exec("root", "accordion", "oar", "uninstall"); err == nil || !strings.Contains(says, "nothing was removed: /etc/oar/oar.conf:") {
		t.Errorf("while oar.conf names the epilogue it ends with %v and prints %s; want that nothing was removed", err, says)
	}
	if got := installed(t, lab); got != whole {
		t.Errorf("while oar.conf names the epilogue it has left\n%s\nof\n%s", got, whole)
	}
	if got := told(t, lab, "uninstall", "--epilogue"); got != "removed" {
		t.Errorf("uninstall printed %s, want that all was removed", got)
	}
	if got := lab.Run(t, "root", "sh", "-c", show); got != before {
		t.Errorf("taken away, it has left oar.conf as\n%s\nwant\n%s", got, before)
	}
	if left := strings.TrimSpace(installed(t, lab)); left != "" {
		t.Errorf("taken away, it has left\n%s", left)
	}
}

// script makes an executable file in the lab.
func script(t *testing.T, lab *lab.OARLab, path, text string) {
	t.Helper()
	lab.Run(t, "root", "sh", "-c", `printf %s "$0" >"$1"; chmod 755 "$1"`, text, path)
}

// Preflight finds changes of the installation, and installing again repairs the parts that an installation makes.
func preflightFindsProblems(t *testing.T, lab *lab.OARLab) {
	lab.Run(t, "root", "sh", "-c", `printf 'system = "oar"\n[journal]\npath = "/run/journal.db"\n' >/run/accordion.toml`)
	find := func() (string, error) {
		out, errs, err := lab.Exec("root", "accordion", "preflight", "--config", "/run/accordion.toml")
		return out + "\n" + errs, err
	}
	const link = "/usr/lib/oar/schedulers/accordion_oar"
	const epilogue = `SERVER_EPILOGUE_EXEC_FILE="/etc/oar/accordion_epilogue"`
	type change struct{ says, spoil, mend string } // `says` is the finding, which begins with fail, warn or note
	changes := []change{
		{says: "warn  OAR plans the queue evolve (priority 2) not before all others: the jobs of admin (10), default (2) may take nodes",
			spoil: "accordion oar install --priority 2", mend: "accordion oar install --priority 20"},
		{says: "warn  the queue evolve is switched off", spoil: "oarnotify -d evolve", mend: "oarnotify -e evolve"},
		{says: "fail  OAR's scheduler for the queue cannot be run", spoil: "ln -sfn /nowhere " + link, mend: "ln -sfn $(which accordion) " + link},
		{says: "fail  SERVER_EPILOGUE_EXEC_FILE names a file that cannot be run", spoil: "echo '" + epilogue + "' >>/etc/oar/oar.conf; chmod 600 /etc/oar/accordion_epilogue",
			mend: "sed -i '$d' /etc/oar/oar.conf; chmod 755 /etc/oar/accordion_epilogue"},
		{says: "warn  OAR puts idle nodes to sleep", spoil: "echo ENERGY_SAVING_INTERNAL=yes >>/etc/oar/oar.conf", mend: "sed -i '$d' /etc/oar/oar.conf"},
		{says: "note  SCHEDULER_JOB_SECURITY_TIME is 60 s", spoil: "echo SCHEDULER_JOB_SECURITY_TIME=60 >>/etc/oar/oar.conf", mend: "sed -i '$d' /etc/oar/oar.conf"},
		{says: "warn  PROLOGUE_EXEC_FILE is \"/site\"", spoil: "echo PROLOGUE_EXEC_FILE=/site >>/etc/oar/oar.conf", mend: "sed -i '$d' /etc/oar/oar.conf"},
		{says: "fail  the queue evolve has the scheduler other", spoil: "oarnotify --remove-queue evolve; oarnotify --add-queue evolve,20,other",
			mend: "oarnotify --remove-queue evolve; accordion oar install"},
		{says: "fail  OAR has no queue evolve", spoil: "oarnotify --remove-queue evolve", mend: "accordion oar install"},
	}
	usual, err := find()
	if err != nil || strings.Contains(usual, "fail  ") || !strings.Contains(usual, "ok    fit for the sidecar") {
		t.Errorf("after the installation preflight ends with %v and prints\n%s", err, usual)
	}
	for _, c := range changes {
		if strings.Contains(usual, c.says) {
			t.Errorf("after the installation preflight prints %q", c.says)
		}
		lab.Run(t, "root", "sh", "-c", c.spoil)
		says, err := find()
		if fails := strings.HasPrefix(c.says, "fail"); !strings.Contains(says, c.says) || fails != (err != nil) {
			t.Errorf("after %q preflight ends with %v and prints\n%s\nwant %q", c.spoil, err, says, c.says)
		}
		lab.Run(t, "root", "sh", "-c", c.mend)
	}
	inDatabase := []change{
		{says: "warn  the admission rule that takes the profile is not as it should be, and evolving jobs are refused or taken for ordinary ones: it is switched off",
			spoil: "update admission_rules set enabled = 'NO' where priority = 10 and rule like '%Accordion%'", mend: ""},
		{says: "puts the profile back is not as it should be, and evolving jobs are refused or taken for ordinary ones: it is not there",
			spoil: "delete from admission_rules where priority = 1000", mend: ""},
		{says: "warn  of 3 triggers in OAR's database there are 2", spoil: "alter table jobs disable trigger accordion_job_state", mend: ""},
	}
	for _, c := range inDatabase {
		lab.SQL(t, c.spoil)
		if says, err := find(); err != nil || !strings.Contains(says, c.says) {
			t.Errorf("after %q preflight ends with %v and prints\n%s\nwant %q", c.spoil, err, says, c.says)
		}
	}
	lab.Run(t, "root", "accordion", "oar", "install")
	if now, err := find(); err != nil || now != usual {
		t.Errorf("mended, preflight ends with %v and prints\n%s\nwant\n%s", err, now, usual)
	}
}
