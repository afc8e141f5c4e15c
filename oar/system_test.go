package oar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// OAR works with both databases, whose SQL differs.
func onBothDatabases(t *testing.T, nodes int, test func(*testing.T, *lab.OARLab), more ...lab.Option) {
	t.Parallel()
	for _, database := range []string{lab.PostgreSQL, lab.MariaDB} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			test(t, lab.OAR(t, nodes, append(more, lab.Database(database), lab.Users("alice", "bob"))...))
		})
	}
}

// long is how long a few jobs may take on the slowest machine.
const long = 10 * time.Minute

func ends(t *testing.T, lab *lab.OARLab, id string) {
	t.Helper()
	lab.Await(t, long, "job "+id+" ends", func() bool { return lab.State(t, id) == "Terminated" })
}

// hosts returns the hosts on which a job ran, by OAR's tables.
func hosts(t *testing.T, lab *lab.OARLab, id string) []string {
	t.Helper()
	return strings.Fields(lab.SQL(t, `select distinct r.network_address from jobs j join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job
		join resources r on r.resource_id = a.resource_id where j.job_id = `+id+" order by 1"))
}

func TestOARCallsUsForItsQueue(t *testing.T) {
	onBothDatabases(t, 5, func(t *testing.T, lab *lab.OARLab) {
		theConfigurationThatCompletesFirst(t, lab)
		nodesThatGoAndJobsThatWait(t, lab)
		unsupportedTypes(t, lab)
		whatTheSidecarHasDecided(t, lab)
		otherPlansAreRespected(t, lab)
		aSuspendedJobMakesWay(t, lab)
		aHostileRequest(t, lab)
		aHistoryWithoutOverlap(t, lab)
		adviceOfHistory(t, lab)
		if state := lab.SQL(t, "select state from queues where queue_name = 'evolve'"); state != "Active" {
			t.Errorf("the queue is %s, want Active", state)
		}
	}, lab.Plain()) // plain, because for the scheduler nodes are only rows of a table
}

// Three of the five nodes are in use. Two nodes are free now, and four will be free in some minutes. With the right policy in oar.conf, the
// configuration that completes first is chosen, however large it is.
func theConfigurationThatCompletesFirst(t *testing.T, lab *lab.OARLab) {
	planBy(t, lab, `ACCORDION_POLICY="repeated"`)
	defer planBy(t, lab)
	first := lab.Submit(t, "bob", "while [ ! -e over ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=3,walltime=0:10:0")
	lab.Await(t, long, "the first job runs", func() bool { return lab.State(t, first) == "Running" })
	soon := lab.Submit(t, "alice", "cat $OAR_NODEFILE; sleep 1", "-q", "evolve", "-l", "nodes=4,walltime=0:1:0", "-l", "nodes=2,walltime=0:5:0")
	ends(t, lab, soon)
	if got := hosts(t, lab, soon); len(got) != 2 {
		t.Errorf("next to a job of ten minutes it ran on %v, want the two nodes that were free", got)
	}
	if got := strings.Fields(lab.Run(t, "alice", "cat", "OAR."+soon+".stdout")); strings.Join(got, " ") != strings.Join(hosts(t, lab, soon), " ") {
		t.Errorf("from inside it is on %v, by OAR's tables on %v", got, hosts(t, lab, soon))
	}
	// The job completes earlier on four hosts than on two, although four hosts may not be free for six minutes. (That
	// is when the walltime of the first job ends.)
	later := lab.Submit(t, "alice", "true", "-q", "evolve", "-l", "nodes=4,walltime=0:1:0", "-l", "nodes=2,walltime=1:0:0")
	lab.Await(t, long, "the later job is planned on four nodes", func() bool {
		return lab.SQL(t, "select count(*) from gantt_jobs_resources g join moldable_job_descriptions m on m.moldable_id = g.moldable_job_id where m.moldable_job_id = "+later) == "4"
	})
	lab.Run(t, "bob", "touch", "over")
	ends(t, lab, first)
	ends(t, lab, later)
	if got := hosts(t, lab, later); len(got) != 4 {
		t.Errorf("it ran on %v, want four nodes", got)
	}
}

// A besteffort job delays no other job. A job on all five nodes has no place while a node is Absent. A job that depends on another job
// starts after that job's end.
func nodesThatGoAndJobsThatWait(t *testing.T, lab *lab.OARLab) {
	besteffort := lab.Submit(t, "bob", "sleep 10000", "-t", "besteffort", "-l", "nodes=5,walltime=1:0:0")
	lab.Await(t, long, "the besteffort job runs", func() bool { return lab.State(t, besteffort) == "Running" })
	ends(t, lab, lab.Submit(t, "alice", "true", "-q", "evolve", "-l", "nodes=1,walltime=0:1:0"))
	lab.Await(t, long, "the besteffort job has made way", func() bool { s := lab.State(t, besteffort); return s == "Error" || s == "Terminated" })
	lab.Do(t, "node", "Absent", "n5")
	wide := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-l", "nodes=5,walltime=0:1:0")
	lab.Await(t, long, "the wide job has the message that it does not fit", func() bool {
		return strings.Contains(lab.SQL(t, "select message from jobs where job_id = "+wide), "(Accordion: the cluster has never enough resources for it, as it is now)")
	})
	after := lab.Submit(t, "alice", "true", "-q", "evolve", "-a", wide, "-l", "nodes=1,walltime=0:1:0")
	lab.Await(t, long, "the dependent job has the message that it waits", func() bool {
		return strings.Contains(lab.SQL(t, "select message from jobs where job_id = "+after), "(Accordion: it waits for a job that has no planned start)")
	})
	lab.Do(t, "node", "Alive", "n5")
	ends(t, lab, wide)
	ends(t, lab, after)
	if got := hosts(t, lab, wide); len(got) != 5 {
		t.Errorf("the wide job ran on %v, want all five nodes", got)
	}
	if early := lab.SQL(t, "select b.start_time - a.stop_time from jobs a, jobs b where b.start_time < a.stop_time and a.job_id = "+wide+" and b.job_id = "+after); early != "" {
		t.Errorf("the dependent job began %s s before the other's end", early)
	}
	if got := lab.SQL(t, "select message from jobs where job_id = "+wide); strings.Contains(got, "Accordion") {
		t.Errorf("the message of a job that ran is still %q", got)
	}
}

func unsupportedTypes(t *testing.T, lab *lab.OARLab) {
	refused := lab.Submit(t, "alice", "true", "-q", "evolve", "-t", "container", "-l", "nodes=1,walltime=0:1:0")
	lab.Await(t, long, "the container is refused", func() bool {
		return strings.Contains(lab.SQL(t, "select message from jobs where job_id = "+refused), `(Accordion: the type "container" is not honoured in this queue)`)
	})
	lab.Run(t, "alice", "oardel", refused)
}

// SQL that a user wrote is part of Accordion's queries. It may take long, and it may try to do harm.
func aHostileRequest(t *testing.T, lab *lab.OARLab) {
	slow := "pg_sleep(600) is null"
	if lab.Database == "mariadb" {
		slow = "sleep(600) = 1"
	}
	hostile := []struct{ user, text, why string }{
		{"bob", slow, "it takes too long"},
		{"alice", "1 = 1); delete from jobs; --", ""},
		{"alice", "1 = 1) union select * from jobs --", ""},
		{"alice", "no_such_column = 1", "no_such_column"},
		{"alice", "'", ""},
	}
	var ids []string
	for _, h := range hostile {
		id := lab.Submit(t, h.user, "true", "--hold", "-q", "evolve", "-l", "nodes=1,walltime=0:1:0")
		text := strings.ReplaceAll(h.text, "'", "''")
		lab.SQL(t, "update jobs set "+strings.ReplaceAll("properties = ?, job_name = ?, message = ?, initial_request = ?, job_env = ?, project = ?, command = ?", "?", "'"+text+"'")+" where job_id = "+id)
		lab.SQL(t, fmt.Sprintf("insert into job_types (job_id, type) values (%s, 'x=%s'), (%s, '%s')", id, text, id, text))
		lab.Run(t, h.user, "oarresume", id)
		ids = append(ids, id)
	}
	level := lab.Submit(t, "alice", "true", "--hold", "-q", "evolve", "-l", "nodes=1,walltime=0:1:0")
	lab.SQL(t, `update job_resource_descriptions set res_job_resource_type = 'x''; delete from jobs; --' where res_job_group_id in
		(select g.res_group_id from job_resource_groups g join moldable_job_descriptions m on m.moldable_id = g.res_group_moldable_id where m.moldable_job_id = `+level+")")
	lab.Run(t, "alice", "oarresume", level)
	passesAreKilled(t, lab) // the slow SQL makes each pass last a second
	good := lab.Submit(t, "alice", "true", "-q", "evolve", "-p", "switch='s2'", "-l", "nodes=1,walltime=0:1:0")
	ends(t, lab, good)
	if got := hosts(t, lab, good); len(got) != 1 || got[0] != "n5" {
		t.Errorf("with the property switch='s2' it ran on %v, want n5", got)
	}
	for i, h := range hostile { // a slow pass has not enough time for all users' SQL, and reports that
		lab.Await(t, long, fmt.Sprintf("the job with the properties %q gets the message: %s", h.text, h.why), func() bool {
			_, why, _ := strings.Cut(lab.SQL(t, "select message from jobs where job_id = "+ids[i]), "(Accordion: its properties: ")
			return why != "" && strings.Contains(why, h.why)
		})
		if state := lab.State(t, ids[i]); state != "Waiting" {
			t.Errorf("the job with the properties %q is %s", h.text, state)
		}
	}
	for i, h := range hostile {
		lab.Run(t, h.user, "oardel", ids[i])
	}
	driver{t: t, lab: lab}.says(level, `"x'; delete from jobs; --" is not a property of resources)`)
	lab.Run(t, "alice", "oardel", level)
}

// checkNoSharedResources checks in the whole history of all queues that no resource was in two jobs at the same time. Suspended jobs are an
// exception, because other jobs may use their nodes.
func checkNoSharedResources(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	if twice := lab.SQL(t, `select a.job_id, b.job_id, x.resource_id from jobs a join assigned_resources x on x.moldable_job_id = a.assigned_moldable_job
		join assigned_resources y on y.resource_id = x.resource_id join jobs b on b.assigned_moldable_job = y.moldable_job_id
		where a.job_id < b.job_id and a.start_time < b.stop_time and b.start_time < a.stop_time and a.suspended = 'NO' and b.suspended = 'NO'`); twice != "" {
		t.Errorf("two jobs were on a resource at once:\n%s", twice)
	}
}

// aHistoryWithoutOverlap runs thirty rigid and moldable jobs of two users, some with hierarchies and properties.
func aHistoryWithoutOverlap(t *testing.T, lab *lab.OARLab) {
	requests := [][]string{
		{"-l", "nodes=1,walltime=0:2:0"},
		{"-l", "nodes=2,walltime=0:2:0", "-l", "nodes=4,walltime=0:1:0"},
		{"-l", "nodes=3,walltime=0:1:30"},
		{"-l", "/switch=1/nodes=2,walltime=0:2:0"},
		{"-l", "nodes=1,walltime=0:3:0", "-l", "nodes=5,walltime=0:1:0", "-l", "nodes=2,walltime=0:2:0"},
		{"-l", "/resource_id=2,walltime=0:2:0", "-p", "switch='s1'"},
	}
	before := lab.SQL(t, "select max(job_id) from jobs")
	for i := range 30 {
		user := []string{"alice", "bob"}[i%2]
		lab.Submit(t, user, "sleep 0.5", append([]string{"-q", "evolve"}, requests[i%len(requests)]...)...)
	}
	lab.Await(t, long, "thirty jobs have ended", func() bool {
		return lab.SQL(t, "select count(*) from jobs where state = 'Terminated' and job_id > "+before) == "30"
	})
	checkNoSharedResources(t, lab)
	// Each job ran in one of its own configurations, with as many resources as the configuration asks for (a host is a
	// resource here).
	wrong := lab.SQL(t, `select j.job_id, m.moldable_id, count(a.resource_id) from jobs j
		join moldable_job_descriptions m on m.moldable_id = j.assigned_moldable_job join assigned_resources a on a.moldable_job_id = m.moldable_id
		where j.state = 'Terminated' and j.job_id > `+before+` and (m.moldable_job_id <> j.job_id or (select max(d.res_job_value) from job_resource_groups g
		join job_resource_descriptions d on d.res_job_group_id = g.res_group_id where g.res_group_moldable_id = m.moldable_id) <>
		(select count(*) from assigned_resources c where c.moldable_job_id = m.moldable_id)) group by j.job_id, m.moldable_id`)
	if wrong != "" {
		t.Errorf("jobs with other resources than they asked for:\n%s", wrong)
	}
	if on := lab.SQL(t, `select count(*) from jobs j join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job
		join resources r on r.resource_id = a.resource_id where j.job_id > `+before+` and j.properties like '%s1%' and r.switch <> 's1'`); on != "0" {
		t.Errorf("%s resources do not have the properties that their jobs ask for", on)
	}
}
