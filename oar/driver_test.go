package oar_test

import (
	"fmt"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// driver writes into Accordion's tables what the sidecar would write.
type driver struct {
	t   *testing.T
	lab *lab.OARLab
}

// evolving submits a job with a profile, then adopts and holds the job as the sidecar would.
func (s driver) evolving(command, profile string, nodes int, options ...string) string {
	s.t.Helper()
	id := s.lab.Submit(s.t, "alice", command, append([]string{"--hold", "-q", "evolve", "-l", fmt.Sprintf("nodes=%d,walltime=1:0:0", nodes)}, options...)...)
	s.lab.SQL(s.t, fmt.Sprintf("insert into job_types (job_id, type) values (%s, 'ep=%s')", id, profile))
	s.adopt(id, "0")
	s.resume(id)
	return id
}

// companion submits a companion of a job, and holds the companion as the sidecar would.
func (s driver) companion(of string, nodes int) string {
	s.t.Helper()
	id := s.lab.Submit(s.t, "alice", "true", "--hold", "-q", "evolve", "-t", "noop", "-t", "inner="+of, "-l", fmt.Sprintf("nodes=%d,walltime=1:0:0", nodes))
	s.adopt(id, of)
	s.resume(id)
	return id
}

// resume ends a job's hold, and waits until OAR has done so. If a job were released before its companion's hold has ended, the job would
// start without the companion.
func (s driver) resume(id string) {
	s.t.Helper()
	s.lab.Run(s.t, "alice", "oarresume", id)
	s.lab.Await(s.t, long, "job "+id+" is not held any more", func() bool { return s.lab.State(s.t, id) != "Hold" })
}

func (s driver) adopt(id, base string) {
	s.t.Helper()
	s.lab.SQL(s.t, fmt.Sprintf("insert into accordion_jobs (job_id, submitted, mark, base, released) select job_id, submission_time, '', %s, 0 from jobs where job_id = %s", base, id))
}

// place assigns the named hosts to a job.
func (s driver) place(id string, hosts ...string) {
	s.t.Helper()
	s.lab.SQL(s.t, "delete from accordion_places where job_id = "+id)
	s.lab.SQL(s.t, fmt.Sprintf("insert into accordion_places (job_id, resource_id) select %s, resource_id from resources where network_address in ('%s')", id, strings.Join(hosts, "', '")))
}

// release lets jobs begin, all in one transaction.
func (s driver) release(ids ...string) {
	s.t.Helper()
	s.lab.SQL(s.t, "update accordion_jobs set released = 1 where job_id in ("+strings.Join(ids, ", ")+")")
	s.lab.Notify(s.t, "Scheduling")
}

// reserve reserves the hosts for `seconds` seconds, beginning `in` seconds from now. It ends the holder's hold first, because OAR's plan
// contains no job on hold.
func (s driver) reserve(name string, in, seconds, idle int, hosts ...string) (holder string) {
	s.t.Helper()
	holder = s.lab.Submit(s.t, "alice", "true", "--hold", "-q", "evolve", "-n", name, "-t", "noop", "-l", fmt.Sprintf("nodes=%d,walltime=1:0:0", len(hosts)))
	s.place(holder, hosts...)
	s.lab.SQL(s.t, fmt.Sprintf(`insert into accordion_reservations (name, owner, start_time, end_time, over_managed, idle, holder)
		select '%s', 'alice', %s + %d, %s + %d, 0, %d, %s`, name, s.now(), in, s.now(), in+seconds, idle, holder))
	s.resume(holder)
	return holder
}

// unreserve deletes a reservation. OAR does not need its holder.
func (s driver) unreserve(holder string) {
	s.t.Helper()
	for _, table := range []string{"accordion_reservations where holder", "accordion_places where job_id", "job_types where job_id", "jobs where job_id"} {
		s.lab.SQL(s.t, "delete from "+table+" = "+holder)
	}
	s.lab.Notify(s.t, "Scheduling")
}

// now returns the present second, in SQL.
func (s driver) now() string {
	if s.lab.Database == lab.MariaDB {
		return "unix_timestamp()"
	}
	return "floor(extract(epoch from current_timestamp))"
}

// planned returns when a job begins by OAR's plan, in seconds after the plan was made, and on how many hosts.
func (s driver) planned(id string) (in, hosts int) {
	s.t.Helper()
	row := s.lab.SQL(s.t, `select p.start_time - z.start_time, count(*) from gantt_jobs_predictions_visu p
		join gantt_jobs_resources_visu g on g.moldable_job_id = p.moldable_job_id
		join moldable_job_descriptions m on m.moldable_id = p.moldable_job_id
		join gantt_jobs_predictions_visu z on z.moldable_job_id = 0
		where m.moldable_job_id = `+id+" group by p.start_time, z.start_time")
	if row == "" {
		return -1, 0
	}
	if _, err := fmt.Sscanf(row, "%d|%d", &in, &hosts); err != nil {
		s.t.Fatalf("%q: %v", row, err)
	}
	return in, hosts
}

func (s driver) says(id, why string) {
	s.t.Helper()
	s.lab.Await(s.t, long, "job "+id+" has the message: "+why, func() bool {
		return strings.Contains(s.lab.SQL(s.t, "select message from jobs where job_id = "+id), "(Accordion: "+why)
	})
}

func (s driver) runs(id string, on ...string) {
	s.t.Helper()
	s.lab.Await(s.t, long, "job "+id+" runs", func() bool { return s.lab.State(s.t, id) == "Running" })
	if got := hosts(s.t, s.lab, id); strings.Join(got, " ") != strings.Join(on, " ") {
		s.t.Errorf("job %s runs on %v, want the hosts that the sidecar has named: %v", id, got, on)
	}
}

func (s driver) end(ids ...string) {
	s.t.Helper()
	s.lab.Run(s.t, "root", append([]string{"oardel"}, ids...)...)
	for _, id := range ids {
		s.lab.Await(s.t, long, "job "+id+" has ended", func() bool {
			state := s.lab.State(s.t, id)
			return state == "Error" || state == "Terminated"
		})
	}
}

func whatTheSidecarHasDecided(t *testing.T, lab *lab.OARLab) {
	s := driver{t: t, lab: lab}
	reservationsAreKept(s)
	releasedJobsStartOnTheirPlaces(s)
	nothingStartsOnPlacesThatAreTaken(s)
}

// Two of the five nodes are reserved. Jobs of this queue, and of a queue with a lower priority, get places on the other nodes.
func reservationsAreKept(s driver) {
	t, lab := s.t, s.lab
	holder := s.reserve("accordion-1", 0, 3000, 0, "n3", "n4")
	nobodyCame := s.reserve("accordion-2", -100, 10000, 50, "n1", "n2", "n5")
	beside := lab.Submit(t, "bob", "sleep 1", "-q", "evolve", "-l", "nodes=3,walltime=0:1:0")
	wide := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=4,walltime=0:1:0")
	below := lab.Submit(t, "bob", "true", "-l", "nodes=5,walltime=0:1:0")
	ends(t, lab, beside)
	if got := hosts(t, lab, beside); strings.Join(got, " ") != "n1 n2 n5" {
		t.Errorf("next to the reservation of n3 and n4 a job ran on %v", got)
	}
	for _, id := range []string{wide, below} {
		lab.Await(t, long, "job "+id+" is planned after the reservation", func() bool { in, _ := s.planned(id); return in > 60 })
	}
	if in, held := s.planned(holder); in != 1 || held != 2 {
		t.Errorf("the reservation is in OAR's plan in %d s on %d hosts, want 1 s and 2", in, held)
	}
	if in, held := s.planned(nobodyCame); held != 0 {
		t.Errorf("the reservation past its idle limit is in OAR's plan in %d s on %d hosts", in, held)
	}
	if got := lab.State(t, holder); got != "Waiting" {
		t.Errorf("the reservation's holder is %s, want Waiting", got)
	}
	s.unreserve(nobodyCame)
	s.unreserve(holder)
	ends(t, lab, wide)
	ends(t, lab, below)
}

// A job starts on two nodes, grows to five, and shrinks to three.
func releasedJobsStartOnTheirPlaces(s driver) {
	t, lab := s.t, s.lab
	holder := s.reserve("accordion-3", 0, 6000, 0, "n2", "n4", "n5")
	job := s.evolving("sleep 10000", "2x5m,5x5m,3x5m", 2)
	s.says(job, "evolving, waits for its place in the sidecar's plan)")
	other := lab.Submit(t, "bob", "sleep 1", "-q", "evolve", "-l", "nodes=2,walltime=0:1:0")
	ends(t, lab, other)
	if got := hosts(t, lab, other); strings.Join(got, " ") != "n1 n3" {
		t.Errorf("next to the reservation of n2, n4 and n5 a job ran on %v", got)
	}
	first := s.companion(job, 1)
	s.says(first, "evolving, waits")
	s.place(job, "n4", "n2")
	s.place(first, "n5")
	s.release(job, first)
	s.runs(job, "n2", "n4")
	s.runs(first, "n5")
	if got := lab.SQL(t, "select message from jobs where job_id = "+job); strings.Contains(got, "Accordion") {
		t.Errorf("the message of an evolving job that runs is still %q", got)
	}
	// The job grows. Its companions start, but not the companions of a job that does not run.
	early := s.evolving("true", "1x5m", 1)
	orphan := s.companion(early, 1)
	s.place(orphan, "n3")
	second := s.companion(job, 1)
	s.place(second, "n1")
	s.release(second, orphan)
	s.runs(second, "n1")
	s.says(orphan, "it makes a job larger that does not run)")
	s.unreserve(holder)
	s.end(orphan, early, second, first, job)
}

// A released job does not start if one of its places is in use or not Alive, if it has too few places, or if a
// companion has no places.
func nothingStartsOnPlacesThatAreTaken(s driver) {
	t, lab := s.t, s.lab
	runs := lab.Submit(t, "bob", "sleep 10000", "-q", "evolve", "-l", "nodes=1,walltime=1:0:0", "-p", "network_address='n3'")
	s.runs(runs, "n3")
	lab.Do(t, "node", "Absent", "n5")
	for _, test := range []struct {
		hosts []string
		says  string
	}{
		{[]string{"n2", "n3"}, "job " + runs + " holds a resource where this job must start)"},
		{[]string{"n2", "n5"}, "resource 5, where this job must start, is not Alive)"},
		{[]string{"n2"}, "its places do not match its request: "},
		{[]string{"n1", "n2", "n4"}, "its places do not match its request: "},
		{nil, "it must start now, but the sidecar has assigned no resources)"},
	} {
		job := s.evolving("true", "2x5m", 2)
		s.place(job, test.hosts...)
		s.release(job)
		s.says(job, test.says)
		s.end(job)
	}
	// The job's two nodes are free, but its companion's node is not. The job does not start without its companion.
	job := s.evolving("true", "2x5m,3x5m", 2)
	first := s.companion(job, 1)
	s.place(job, "n1", "n2")
	s.place(first, "n3")
	s.release(job, first)
	s.says(job, "it starts when all of its nodes are free)")
	s.says(first, "job "+runs+" holds a resource where this job must start)")
	s.end(first)
	s.runsAndEnds(job)
	lab.Do(t, "node", "Alive", "n5")
	s.end(runs)
}

// runsAndEnds waits for a short job's end.
func (s driver) runsAndEnds(id string) {
	s.t.Helper()
	s.lab.Notify(s.t, "Scheduling")
	ends(s.t, s.lab, id)
}
