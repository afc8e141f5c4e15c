package oar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/cpuset"
	"accordion/oar/database"
)

// uidOf returns the number of one of the lab's users, or -1.
func uidOf(name string) int64 {
	known, err := user.Lookup(name)
	if err != nil {
		return -1
	}
	uid, err := strconv.ParseInt(known.Uid, 10, 64)
	if err != nil {
		return -1
	}
	return uid
}

func aWaitingJob(in *inside) {
	job := in.Submit("alice", "3x20s,2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.exec(fmt.Sprintf("UPDATE jobs SET job_name = 'it''s; --' WHERE job_id = %d", job.ID)) // oarsub itself fails with this name
	j, err := in.Inspect(in.ctx, job)
	in.must(err)
	if j.Comment != "ep=3x20s,2x20s" || j.Mark != "" || !j.Held || j.HeldByUser || j.Unfit != "" || j.User != "alice" || int64(j.UID) != uidOf("alice") || j.Name != "it's; --" {
		in.Errorf("submitted it is %+v", j)
	}
	in.mustFail(in.Attach(in.ctx, job, "accordion-9-0"), "was not adopted")
	in.mustFail(in.Release(in.ctx, job), "was not adopted")
	in.must(in.Adopt(in.ctx, job))
	in.must(in.Adopt(in.ctx, job))
	in.mustFail(in.Attach(in.ctx, job, "accordion-9-0"), "there is no reservation")
	in.mustFail(in.Release(in.ctx, job), "not attached")
	in.mustFail(in.Shape(in.ctx, job, adapter.Shape{Nodes: 4, Limit: 60}), "begins on 4 nodes")
	in.mustFail(in.Shape(in.ctx, job, adapter.Shape{Nodes: 3}), "must be positive")
	in.must(in.Shape(in.ctx, job, adapter.Shape{Nodes: 3, Limit: 77}))
	if j, err = in.Inspect(in.ctx, job); err != nil || j.Mark != "accordion:ep=3x20s,2x20s" || j.Limit != 77 || j.Want != 2 || !j.Held {
		in.Errorf("adopted and shaped it is %+v, %v", j, err)
	}
	in.mustBe(in.Detach(in.ctx, job), adapter.ErrGone)
	in.mustBe(in.Adopt(in.ctx, adapter.Key{ID: job.ID, Submitted: job.Submitted + 1}), adapter.ErrGone)
	in.mustBe(in.Shape(in.ctx, adapter.Key{ID: 1 << 30}, adapter.Shape{Nodes: 3, Limit: 60}), adapter.ErrGone)
	in.must(in.End(in.ctx, adapter.Key{ID: 1 << 30}, "gone"))
	in.must(in.Refuse(in.ctx, adapter.Key{ID: 1 << 30}, "gone"))

	in.must(in.Refuse(in.ctx, job, "it's too\nlarge"))
	in.wait("Error|Accordion refused this job: it's too large", func() string {
		return in.answer(fmt.Sprintf("SELECT state, message FROM jobs WHERE job_id = %d", job.ID))
	})
	in.must(in.Refuse(in.ctx, job, "again"))
	in.mustBe(in.Adopt(in.ctx, job), adapter.ErrGone)

	unfit := in.Submit("alice", "2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0", "-t", "besteffort")
	in.mustFail(in.Adopt(in.ctx, unfit), "a job of type besteffort cannot grow or shrink")
	plain := in.Submit("alice", "", "sleep 1000", "--hold", "-l", "nodes=2,walltime=0:10:0")
	in.mustFail(in.Adopt(in.ctx, plain), "no type ep=")
	in.must(in.End(in.ctx, plain, "enough"))
	in.must(in.End(in.ctx, unfit, "enough"))
}

func (in *inside) mustFail(err error, says string) {
	in.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		in.Fatalf("%v, want %q", err, says)
	}
}

// A hold that the user has set stays in place. A start that is taken back leaves nothing behind.
func aHold(in *inside) {
	job := in.Submit("alice", "3x20s,2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.as("alice", "oarhold", fmt.Sprint(job.ID))
	in.wait(database.StateHold, func() string { return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", job.ID)) })
	j, err := in.Inspect(in.ctx, job)
	in.must(err)
	if !j.Held || !j.HeldByUser {
		in.Errorf("held by its user it is %+v", j)
	}
	in.must(in.Adopt(in.ctx, job))
	if j, err = in.Inspect(in.ctx, job); err != nil || !j.Held || j.HeldByUser || !j.Blocked || !strings.Contains(j.Why, "oarhold") {
		in.Errorf("adopted it is %+v, %v", j, err)
	}
	in.reserve("accordion-9-0", 0, 500, "n1", "n2", "n3")
	in.must(in.Attach(in.ctx, job, "accordion-9-0"))
	mine := []adapter.Key{job}
	left := func(node string, want int) { // other trials may have left files for their jobs
		in.Helper()
		var files []string
		for _, j := range mine {
			if path := in.on(node, fmt.Sprintf("/var/lib/oar/%d%s", j.ID, cpuset.NextNodes)); exists(in, path) {
				files = append(files, path)
			}
		}
		if len(files) != want {
			in.Errorf("for a prologue there is left %v on %s, want %d", files, node, want)
		}
	}
	in.mustBe(in.Release(in.ctx, job), adapter.ErrBusy)
	left("n1", 0)
	in.as("alice", "oarresume", fmt.Sprint(job.ID))
	in.wait(database.StateWaiting, func() string { return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", job.ID)) })

	// The job cannot start, because one of its three nodes is absent.
	in.exec("UPDATE resources SET state = 'Absent' WHERE network_address = 'n3'")
	in.must(in.Release(in.ctx, job))
	in.must(in.Release(in.ctx, job))
	in.until(job, "pending")
	left("n1", 1)
	in.must(in.Hold(in.ctx, job))
	left("n1", 0)
	in.must(in.Hold(in.ctx, job))
	in.until(job, "pending held")

	// A job that is deleted before it begins leaves nothing either.
	gone := in.Submit("alice", "3x20s,2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	mine = append(mine, gone)
	in.must(in.Adopt(in.ctx, gone))
	in.must(in.Attach(in.ctx, gone, "accordion-9-0"))
	in.must(in.Release(in.ctx, gone))
	left("n1", 1)
	in.as("alice", "oardel", fmt.Sprint(gone.ID))
	in.wait("done", func() string { return strings.Fields(in.shows(gone))[0] })
	in.endCompanionsOf(gone)
	in.wait("1", func() string {
		return in.answer("SELECT COUNT(*) FROM jobs j WHERE " + isLive + " AND j.job_name <> 'accordion-9-0'")
	})
	in.exec("UPDATE resources SET state = 'Alive' WHERE network_address = 'n3'")
	in.must(in.Unreserve(in.ctx, "accordion-9-0"))
	left("n1", 0)

	// A sidecar writes a file with the nodes for the prologue. It is killed before it releases the job, so it does not
	// remove the file. The next sidecar starts the job on other nodes, or not at all.
	in.reserve("accordion-9-0", 0, 500, "n1", "n2", "n3")
	in.must(in.Attach(in.ctx, job, "accordion-9-0"))
	in.leaveForPrologue(in.ctx, job)
	left("n1", 1)
	in.reserve("accordion-9-0", 0, 500, "n2", "n3", "n4")
	left("n1", 0)
	in.leaveForPrologue(in.ctx, job)
	left("n2", 1)
	in.must(in.Unreserve(in.ctx, "accordion-9-0"))
	left("n2", 0)

	in.start(job, 500, "n1", "n2", "n3")
	in.mustBe(in.Hold(in.ctx, job), adapter.ErrGone)
	in.must(in.Release(in.ctx, job))
	in.mustBe(in.Adopt(in.ctx, job), adapter.ErrGone)
	in.mustBe(in.Refuse(in.ctx, job, "late"), adapter.ErrGone)
	in.until(job, "running n1,n2,n3")
}

// The trial tests which jobs conflict with a reservation, how a reservation is changed, and that nothing is left of a deleted reservation.
func reservations(in *inside) {
	// tables counts the rows of OAR's and Accordion's tables. In the log of states it counts only entries that belong
	// to no job, because OAR may record a moment later that a job runs.
	tables := func() string {
		return in.answer(`SELECT (SELECT COUNT(*) FROM jobs), (SELECT COUNT(*) FROM job_types), (SELECT COUNT(*) FROM moldable_job_descriptions),
			(SELECT COUNT(*) FROM job_resource_groups), (SELECT COUNT(*) FROM job_resource_descriptions), (SELECT COUNT(*) FROM challenges),
			(SELECT COUNT(*) FROM job_state_logs WHERE job_id NOT IN (SELECT job_id FROM jobs)), (SELECT COUNT(*) FROM accordion_places), (SELECT COUNT(*) FROM accordion_reservations)`)
	}
	ordinary := in.Submit("bob", "", "sleep 1000", "-l", "nodes=1,walltime=0:10:0", "-p", "network_address='n1'")
	in.until(ordinary, "running n1")
	managed := in.Submit("alice", "1x60s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(managed, 600, "n2")
	before := tables()
	now := time.Now().Unix()
	for _, c := range []struct {
		node string
		from core.Time
		over bool
		free bool
	}{
		{"n1", 300, false, false},
		{"n1", 300, true, false},
		{"n1", 700, false, true},
		{"n2", 300, false, false},
		{"n2", 300, true, true},
		{"n2", 700, false, true},
		{"n3", 0, false, true},
	} {
		err := in.Reserve(in.ctx, adapter.Reservation{Name: "accordion-9-1", User: "alice", Nodes: []string{c.node}, Start: now + c.from, End: now + 900, OverManaged: c.over})
		if c.free {
			in.must(err)
		} else {
			in.mustBe(err, adapter.ErrBusy)
		}
		in.must(in.Unreserve(in.ctx, "accordion-9-1"))
		in.must(in.Unreserve(in.ctx, "accordion-9-1"))
	}
	for says, r := range map[string]adapter.Reservation{
		"must begin with":       {Name: "mine", User: "alice", Nodes: []string{"n3"}, Start: now, End: now + 9},
		"no nodes":              {Name: "accordion-9-1", User: "alice", Start: now, End: now + 9},
		"nobody may use it":     {Name: "accordion-9-1", Nodes: []string{"n3"}, Start: now, End: now + 9},
		"ends before it begins": {Name: "accordion-9-1", User: "alice", Nodes: []string{"n3"}, Start: now, End: now},
		"is past":               {Name: "accordion-9-1", User: "alice", Nodes: []string{"n3"}, Start: now - 20, End: now - 10},
		"OAR has no node":       {Name: "accordion-9-1", User: "alice", Nodes: []string{"n3", "n'; --"}, Start: now, End: now + 9},
	} {
		in.mustFail(in.Reserve(in.ctx, r), says)
	}
	in.mustFail(in.Unreserve(in.ctx, "mine"), "not ours")
	if after := tables(); after != before {
		in.Errorf("rows were %s, and after all are deleted %s", before, after)
	}

	r := adapter.Reservation{Name: "accordion-9-1", User: "alice", Nodes: []string{"n3", "n4"}, Start: now + 400, End: now + 900, Idle: 60}
	in.must(in.Reserve(in.ctx, r))
	r.Nodes, r.Start, r.End = []string{"n4", "n5"}, now+300, now+800
	in.must(in.Reserve(in.ctx, r))
	in.sees("accordion-9-1 n4,n5 300-800", now)
	r.Start, r.Nodes = now, []string{"n5"}
	in.must(in.Reserve(in.ctx, r))
	r.Start = now + 200 // the reservation is active, so its start stays
	in.must(in.Reserve(in.ctx, r))
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	if got := snapshot.Reservations[0]; got.Start > now+100 || got.Idle != 60 || got.User != "alice" {
		in.Errorf("it is %+v", got)
	}
	// Reservations of Accordion may overlap each other.
	r.Name = "accordion-10-1"
	in.must(in.Reserve(in.ctx, r))
	in.must(in.Unreserve(in.ctx, r.Name))
	in.must(in.Unreserve(in.ctx, "accordion-9-1"))
}

// sees fails the test unless a reading has the wanted reservations.
func (in *inside) sees(want string, now core.Time) {
	in.Helper()
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	var all []string
	for _, r := range snapshot.Reservations {
		all = append(all, fmt.Sprintf("%s %s %d-%d", r.Name, strings.Join(r.Nodes, ","), r.Start-now, r.End-now))
	}
	if got := strings.Join(all, "; "); got != want {
		in.Errorf("reservations are %q, want %q", got, want)
	}
}

func snapshotOfJobs(in *inside) {
	besteffort := in.Submit("bob", "", "sleep 1000", "-q", "besteffort", "-t", "besteffort", "-l", "nodes=1,walltime=0:10:0", "-p", "network_address='n1'")
	elsewhere := in.Submit("bob", "", "sleep 1000", "-q", "default", "-l", "nodes=1,walltime=0:10:0", "-p", "network_address='n2'")
	for _, job := range []adapter.Key{besteffort, elsewhere} {
		in.wait("running", func() string { return strings.Fields(in.shows(job))[0] })
	}
	wide := in.Submit("bob", "", "sleep 1000", "-l", "nodes=9,walltime=0:7:0")
	after := in.Submit("bob", "", "sleep 1000", "-l", "nodes=2,walltime=0:3:0", "-l", "nodes=1,walltime=0:5:0", "-a", fmt.Sprint(wide.ID))
	held := in.Submit("bob", "", "sleep 1000", "--hold", "-l", "nodes=1,walltime=0:1:0")
	in.exec("UPDATE resources SET state = 'Absent' WHERE network_address = 'n3'")
	in.exec("UPDATE resources SET drain = 'YES' WHERE network_address = 'n4'")
	in.exec("UPDATE resources SET state = 'Dead' WHERE network_address = 'n9'")
	defer in.exec("UPDATE resources SET state = 'Alive', drain = 'NO'")
	in.reserve("accordion-9-1", 0, 100, "n5")
	defer func() { in.must(in.Unreserve(in.ctx, "accordion-9-1")) }()
	// The message of the pass says that there is no room for the job, and no other job waits because of that job.
	in.must(in.Repair(in.ctx, nil))
	in.wait("true", func() string {
		snapshot, err := in.Observe(in.ctx)
		in.must(err)
		return fmt.Sprint(slices.ContainsFunc(snapshot.Jobs, func(j adapter.Job) bool { return j.Key == wide && j.Blocked }))
	})
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	var nodes, jobs []string
	for _, n := range snapshot.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s usable=%v idle=%v %s", n.Name, n.Usable, n.Idle, n.Why))
	}
	for _, j := range snapshot.Jobs {
		jobs = append(jobs, fmt.Sprintf("%d %s want=%d limit=%d held=%v blocked=%v %s", j.ID-besteffort.ID, j.State, j.Want, j.Limit, j.Held, j.Blocked, strings.Join(j.Nodes, ",")))
	}
	wantNodes := `n1 usable=true idle=true Alive
n2 usable=true idle=false Alive
n3 usable=false idle=true Absent
n4 usable=false idle=true drained
n5 usable=true idle=true Alive
n6 usable=true idle=true Alive
n7 usable=true idle=true Alive
n8 usable=true idle=true Alive`
	wantJobs := fmt.Sprintf(`%d pending want=9 limit=420 held=false blocked=true 
%d pending want=2 limit=180 held=false blocked=true 
%d pending want=1 limit=60 held=true blocked=false 
%d running want=0 limit=600 held=false blocked=false n2`, wide.ID-besteffort.ID, after.ID-besteffort.ID, held.ID-besteffort.ID, elsewhere.ID-besteffort.ID)
	if got := strings.Join(nodes, "\n"); got != wantNodes {
		in.Errorf("nodes:\n%s\nwant\n%s", got, wantNodes)
	}
	if got := strings.Join(jobs, "\n"); got != wantJobs {
		in.Errorf("jobs:\n%s\nwant\n%s", got, wantJobs)
	}
}

// The sidecar acts on a running job's node as the job's user, and writes only files of that user.
func aJobIsReached(in *inside) {
	home := in.as("alice", "sh", "-c", "pwd")
	home = strings.TrimSpace(home)
	in.as("alice", "sh", "-c", `printf '#!/bin/sh\ntrap "echo caught" USR1\ntouch ready; while :; do sleep 0.1; done\n# accordion step\n' >its.sh; chmod 755 its.sh`)
	job := in.Submit("alice", "2x20s,3x20s", "sh -e ./its.sh", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n2", "n3")
	in.wait("true", func() string { _, err := os.Stat(home + "/ready"); return fmt.Sprint(err == nil) })
	in.must(in.Tell(in.ctx, job, "it's\n$HOME `id`"))
	in.wait("accordion: it's $HOME `id`\n", func() string { return file(home + fmt.Sprintf("/OAR.%d.stderr", job.ID)) })
	in.must(in.Signal(in.ctx, job, "B:USR1"))
	in.wait("caught\n", func() string { return file(home + fmt.Sprintf("/OAR.%d.stdout", job.ID)) })
	running, err := in.Inspect(in.ctx, job)
	in.must(err)
	running.Nodes = []string{"n2", "n3", "n4"}
	elsewhere, err := in.Publish(in.ctx, running, "# generation=1\nn2\nn3\nn4\n")
	in.must(err)
	if elsewhere != "" {
		in.Errorf("its hosts file is in %s", elsewhere)
	}
	hosts := fmt.Sprintf("/tmp/accordion-%d/localhost-%d.hosts", uidOf("alice"), job.ID)
	if got := file(in.on("n2", hosts)); got != "# generation=1\nn2\nn3\nn4\n" {
		in.Errorf("its hosts file has %q", got)
	}
	if got := file(in.on("n2", fmt.Sprintf("/var/lib/oar/%d", job.ID))); got != "n2\nn3\nn4\n" {
		in.Errorf("its node file has %q", got)
	}
	if speaks, err := in.Speaks(in.ctx, job); err != nil || !speaks {
		in.Errorf("a script with `accordion step` speaks: %v, %v", speaks, err)
	}
	silent := in.Submit("bob", "2x20s,3x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	_, err = in.Speaks(in.ctx, silent)
	in.mustBe(err, adapter.ErrGone)
	in.mustBe(in.Tell(in.ctx, silent, "hello"), adapter.ErrGone)
	in.mustBe(in.Signal(in.ctx, silent, "USR1"), adapter.ErrGone)
	_, err = in.Publish(in.ctx, &adapter.Job{Key: silent}, "")
	in.mustBe(err, adapter.ErrGone)
	in.start(silent, 500, "n5", "n6")
	if speaks, err := in.Speaks(in.ctx, silent); err != nil || speaks {
		in.Errorf("sleep speaks: %v, %v", speaks, err)
	}
	in.must(in.End(in.ctx, job, "it is late"))
	in.quietBut(silent)
	if got := file(home + fmt.Sprintf("/OAR.%d.stderr", job.ID)); !strings.Contains(got, "accordion ends this job: it is late\n") {
		in.Errorf("its messages: %q", got)
	}
}

func (in *inside) quietBut(job adapter.Key) {
	in.Helper()
	in.wait("", func() string {
		return in.answer(fmt.Sprintf("SELECT j.job_id, j.state FROM jobs j WHERE %s AND j.job_id <> %d", isLive, job.ID))
	})
}

// on returns the path, seen from inside the lab, of a file on a node.
func (in *inside) on(node, path string) string {
	in.Helper()
	pid := strings.TrimSpace(file("/run/lab/" + node + ".pid"))
	if pid == "" {
		in.Fatalf("node %s is not up", node)
	}
	return "/proc/" + pid + "/root" + path
}

// exists reports whether there is a file of this name.
func exists(in *inside, name string) bool {
	in.Helper()
	_, err := os.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		in.Error(err)
	}
	return err == nil
}

// file returns the content of a file, or "" when there is none.
func file(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}
