package oar_test

import (
	"fmt"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// Requests whose SQL takes long to evaluate delay only jobs of their own user. The requests of other users are evaluated in each pass. The
// request of a job that cannot begin yet is not evaluated.
func TestSlowRequestsDelayOnlyTheirUser(t *testing.T) {
	onBothDatabases(t, 5, slowTexts, lab.Plain())
}

func slowTexts(t *testing.T, lab *lab.OARLab) {
	slow := "(select case when pg_sleep(0.%d) is not null then '%s' end) = type"
	if lab.Database == "mariadb" {
		slow = "(select if(sleep(0.%d) = 0, '%s', '')) = type"
	}
	texts := make([]string, 8)
	for i := range texts {
		texts[i] = fmt.Sprintf(slow, 450+i, "default")
	}
	why := func(id string) string { return lab.SQL(t, "select message from jobs where job_id = "+id) }
	var postponed []string
	for _, text := range texts {
		postponed = append(postponed, lab.Submit(t, "bob", "true", "-q", "evolve", "-t", "postpone=2037-12-24 18:00:00", "-p", text, "-l", "nodes=1,walltime=0:1:0"))
	}
	// Each of these requests needs a query of the database.
	ends(t, lab, lab.Submit(t, "alice", "true", "-q", "evolve", "-p", "lower(switch) = 's1'", "-l", "nodes=1,walltime=0:1:0"))
	for _, id := range postponed {
		lab.Await(t, long, "job "+id+", which begins later, gets a message about that", func() bool {
			return strings.Contains(why(id), "(Accordion: its properties: they are looked for when it may begin)")
		})
	}
	if rows := lab.SQL(t, "select count(*) from accordion_asked where job_user = 'bob'"); rows != "0" {
		t.Errorf("what begins later was asked for: %s", lab.SQL(t, "select * from accordion_asked"))
	}
	for i, id := range postponed { // now these jobs may begin, but no nodes are free for them
		lab.SQL(t, fmt.Sprintf("update job_types set type = 'postpone=2001-01-01 00:00:00' where job_id = %s and type like 'postpone%%'", id))
		lab.SQL(t, fmt.Sprintf("update jobs set properties = '%s' where job_id = %s", strings.NewReplacer("default", "none", "'", "''").Replace(texts[i]), id))
	}
	for i := range 3 {
		ends(t, lab, lab.Submit(t, "alice", "true", "-q", "evolve", "-p", fmt.Sprintf("upper(switch) = 'S%d'", i%2+1), "-l", "nodes=1,walltime=0:1:0"))
	}
	lab.Await(t, long, "bob's budget is remembered", func() bool {
		return lab.SQL(t, "select count(*) from accordion_asked where job_user = 'bob' and milliseconds > 400") == "1"
	})
	if rows := lab.SQL(t, "select * from accordion_asked where job_user = 'alice'"); rows != "" {
		t.Logf("alice's budget: %s", rows)
	}
	lab.Await(t, long, "a job of bob's gets the message that it has to wait", func() bool {
		for _, id := range postponed {
			if strings.Contains(why(id), "(Accordion: its properties: those of its user have taken long lately, and are looked for less often)") {
				return true
			}
		}
		lab.Run(t, "root", "bash", "-c", "echo Scheduling >/dev/tcp/127.0.0.1/6666")
		return false
	})
	for _, id := range postponed {
		lab.Run(t, "bob", "oardel", id)
	}
}
