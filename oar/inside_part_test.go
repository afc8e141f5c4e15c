package oar

import (
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
)

// The admission rules for parts are tested without OAR, in rules_test.go.
func aPartOfAnApplication(in *inside) {
	for _, wrong := range []struct {
		types []string
		says  string
	}{
		{[]string{"launch="}, "launch= is not the number of an application"},
		{[]string{"launch=0"}, "launch=0 is not the number of an application"},
		{[]string{"launch=x"}, "launch=x is not the number of an application"},
		{[]string{"launch=7", "ep=2x20s"}, "launch=7 together with -t ep="},
	} {
		before := in.answer("SELECT COUNT(*) FROM jobs")
		command := []string{"-q", "evolve"}
		for _, one := range wrong.types {
			command = append(command, "-t", one)
		}
		said, err := in.attempt("alice", "oarsub", append(command, "true")...)
		if err == nil || !strings.Contains(said, "accordion: -t ") || !strings.Contains(said, wrong.says) || in.answer("SELECT COUNT(*) FROM jobs") != before {
			in.Errorf("the types %q are answered with %v, %q; want a refusal with %q, and nothing queued", wrong.types, err, said, wrong.says)
		}
	}

	job := in.Submit("alice", "", "sort -u $OAR_NODEFILE >where; exec sleep 1000", "-t", "launch=7", "-l", "nodes=2,walltime=0:30:0")
	j, err := in.Inspect(in.ctx, job)
	in.must(err)
	if application, ok := adapter.LaunchOf(j); application != 7 || !ok || j.Mark != "" || !j.Held || j.HeldByUser || j.Unfit != "" || j.Want != 1 {
		in.Errorf("submitted it is %+v", j)
	}
	in.wait("a part of an application, waits for its launcher", func() string {
		_, why, _ := strings.Cut(in.answer(fmt.Sprintf("SELECT message FROM jobs WHERE job_id = %d", job.ID)), "(Accordion: ")
		return strings.TrimSuffix(why, ")")
	})
	in.must(in.Adopt(in.ctx, job))
	in.must(in.Adopt(in.ctx, job)) // every action may be repeated without harm
	if j, err = in.Inspect(in.ctx, job); err != nil || j.Mark != "accordion:launch=7" || !j.Held {
		in.Errorf("adopted it is %+v, %v", j, err)
	}

	in.prepared(job, "accordion-launch-a", 290, "n2", "n3")
	if j, err = in.Inspect(in.ctx, job); err != nil || !j.Held || j.Want != 2 || j.Limit != 290 {
		in.Errorf("prepared it is %+v, %v", j, err)
	}
	in.must(in.Unreserve(in.ctx, "accordion-launch-a")) // the other cluster has refused its part
	in.prepared(job, "accordion-launch-b", 120, "n1", "n2", "n4")
	in.must(in.Attach(in.ctx, job, "accordion-launch-b"))
	in.must(in.Release(in.ctx, job))
	in.until(job, "running n1,n2,n4")
	for range 2 {
		in.must(in.Detach(in.ctx, job))
		in.must(in.Unreserve(in.ctx, "accordion-launch-b"))
	}
	j, err = in.Inspect(in.ctx, job)
	in.must(err)
	if j.Base != 3 || j.Limit != 120 || j.Mark != "accordion:launch=7" || j.Reservation != "" {
		in.Errorf("of its three nodes it can give none back: %+v", j)
	}
	if got := in.answer(fmt.Sprintf("SELECT COUNT(*) FROM accordion_jobs WHERE base = %d", job.ID)); got != "0" {
		in.Errorf("it has %s companions", got)
	}
	in.wait("n1\nn2\nn4\n", func() string { said, _ := in.attempt("alice", "cat", "where"); return said })
	in.must(in.End(in.ctx, job, "enough"))
	in.wait("done", func() string { return strings.Fields(in.shows(job))[0] })

	in.aPartIsTakenBack()
}

// prepared makes a part ready to start.
func (in *inside) prepared(job adapter.Key, name string, limit int64, nodes ...string) {
	in.Helper()
	now := time.Now().Unix()
	for range 2 {
		in.must(in.Reserve(in.ctx, adapter.Reservation{Name: name, Nodes: nodes, Start: now, End: now + limit + 200, User: "alice", Idle: 60}))
		in.must(in.Shape(in.ctx, job, adapter.Shape{Nodes: len(nodes), On: nodes, Limit: limit}))
	}
}

// A released part is taken back before it starts, for example because another part does not come up. It can start again later.
func (in *inside) aPartIsTakenBack() {
	in.Helper()
	in.exec("UPDATE resources SET state = 'Absent' WHERE network_address = 'n2'")
	again := in.Submit("alice", "", "sleep 1000", "-t", "launch=8")
	in.must(in.Adopt(in.ctx, again))
	in.prepared(again, "accordion-launch-c", 120, "n1", "n2")
	in.must(in.Attach(in.ctx, again, "accordion-launch-c"))
	in.must(in.Release(in.ctx, again))
	in.until(again, "pending")
	in.must(in.Hold(in.ctx, again))
	in.must(in.Unreserve(in.ctx, "accordion-launch-c"))
	in.until(again, "pending held")
	in.exec("UPDATE resources SET state = 'Alive' WHERE network_address = 'n2'")
	in.prepared(again, "accordion-launch-d", 120, "n3")
	in.must(in.Attach(in.ctx, again, "accordion-launch-d"))
	in.must(in.Release(in.ctx, again))
	in.until(again, "running n3")
	in.must(in.Detach(in.ctx, again))
	in.must(in.Unreserve(in.ctx, "accordion-launch-d"))
	if left := in.answer(fmt.Sprintf("SELECT COUNT(*) FROM accordion_jobs WHERE base = %d", again.ID)); left != "0" {
		in.Errorf("it has %s companions", left)
	}
}
