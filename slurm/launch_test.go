package slurm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// lua_test.go tests the plug-in's messages in general, without Slurm.
func TestAPartOfAnApplicationIsRefusedWhereItNamesNone(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	for _, test := range []struct{ script, comment, says string }{
		{"true", "launch=", "launch= is not the number of an application"},
		{"true", "launch=0", "launch=0 is not the number of an application"},
		{"true", "launch=x", "launch=x is not the number of an application"},
		{"true", "launch=7 ep=2x20s", `launch=7 together with "ep=2x20s"`},
		{"#EP 2x20s", "launch=7", "launch=7 together with the script's #EP line"},
	} {
		id, said, err := lab.Sbatch("alice", test.script, "-H", "--comment="+test.comment)
		if line, _, _ := strings.Cut(said, "\n"); err == nil || !strings.Contains(line, "accordion: ") || !strings.Contains(line, test.says) {
			t.Errorf("%s in a job with %q is answered with job %q, %q; want a refusal with %q", test.comment, test.script, id, said, test.says)
		}
	}
	if got := lab.Run(t, "root", "squeue", "-h", "-a", "-o", "%A %T %k"); got != "" {
		t.Errorf("in the queue is %q", got)
	}
}

// listNodes prints the nodes of a part.
const listNodes = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"\nexec sleep 1000"

func TestAPartOfAnApplicationRunsOnTheNodesThatItIsGiven(t *testing.T) {
	t.Parallel()
	w := worldOn(t, submitLab(t))
	key := w.submit(listNodes, "-H", "--comment=launch=7 mine", "-t1:00:00", "-o", "out")
	j := w.inspect(key)
	if application, ok := adapter.LaunchOf(j); application != 7 || !ok || j.Mark != "accordion:launch=7" || j.Comment != "launch=7 mine" || j.State != adapter.Pending || !j.Held {
		t.Fatalf("submitted: %+v", j)
	}
	for _, change := range [][]string{{"release"}, {"update", "AdminComment=accordion:launch=8"}, {"update", "TimeLimit=5"}, {"update", "Nice=5"}} {
		command := append([]string{"scontrol", change[0]}, fmt.Sprint(key.ID))
		if change[0] == "update" {
			command = []string{"scontrol", "update", fmt.Sprintf("JobId=%d", key.ID), change[1]}
		}
		_, _, _ = w.lab.Exec("alice", "", command...)
	}
	if j = w.inspect(key); j.Mark != "accordion:launch=7" || !j.Held || j.Limit != 3600 {
		t.Fatalf("its owner could change it: %+v", j)
	}

	for range 2 { // each call must succeed again when repeated
		w.ok(w.sys.Adopt(w.ctx, key))
	}
	if j = w.inspect(key); !j.Held || j.HeldByUser || j.Reservation != output.Park || j.Mark != "accordion:launch=7" {
		t.Fatalf("adopted: %+v", j)
	}
	start := reservation("accordion-launch", "n1", "n2", "n4")
	start.Idle = 60
	for range 2 {
		w.ok(w.sys.Reserve(w.ctx, start))
		w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 3, On: start.Nodes, Limit: 290}))
	}
	if j = w.inspect(key); !j.Held || j.Want != 3 || j.Limit != 300 {
		t.Fatalf("prepared: %+v", j)
	}
	w.ok(w.sys.Unreserve(w.ctx, start.Name)) // as after the other batch system refused its part
	start.Name += "-again"
	w.ok(w.sys.Reserve(w.ctx, start))
	w.ok(w.sys.Attach(w.ctx, key, start.Name))
	w.ok(w.sys.Release(w.ctx, key))
	if j = w.await(key, adapter.Running); !slices.Equal(j.Nodes, start.Nodes) || j.Limit != 300 {
		t.Errorf("it runs on %v for %d s, want %v and 300 s", j.Nodes, j.Limit, start.Nodes)
	}
	for range 2 {
		w.ok(w.sys.Detach(w.ctx, key))
		w.ok(w.sys.Unreserve(w.ctx, start.Name))
	}
	if got := w.nodesOf(key); got != "RUNNING 3 n[1-2,4]" {
		t.Errorf("without its reservation: %s", got)
	}
	seen := w.observe().Jobs
	if i := slices.IndexFunc(seen, func(o adapter.Job) bool { return o.Key == key }); i < 0 || seen[i].Base != 3 || seen[i].Unfit != "" {
		t.Errorf("it can give back none of its three nodes: %+v", seen)
	}
	w.lab.Await(t, patience, "it prints where it is", func() bool { return w.lab.File("alice", "out") == "n1\nn2\nn4\n" })
	w.ok(w.sys.End(w.ctx, key, "enough"))
	w.assertClean()
}

// A part that was released is held again before it starts, because another part cannot start. The held part can
// start later.
func TestAPartThatDoesNotComeUpIsHeldAgain(t *testing.T) {
	t.Parallel()
	w := worldOn(t, submitLab(t))
	key := w.submit(listNodes, "-H", "--comment=launch=7")
	w.ok(w.sys.Adopt(w.ctx, key))
	later := reservation("accordion-launch", "n1", "n2")
	later.Start += 300
	w.ok(w.sys.Reserve(w.ctx, later))
	w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 2, On: later.Nodes, Limit: 120}))
	w.ok(w.sys.Attach(w.ctx, key, later.Name))
	w.ok(w.sys.Release(w.ctx, key))
	if j := w.inspect(key); j.Held || j.Reservation != later.Name {
		t.Errorf("let go: %+v", j)
	}
	w.ok(w.sys.Hold(w.ctx, key))
	w.ok(w.sys.Unreserve(w.ctx, later.Name))
	if j := w.inspect(key); !j.Held || j.HeldByUser || j.Mark != "accordion:launch=7" {
		t.Errorf("taken back: %+v", j)
	}
	start := reservation("accordion-launch", "n3")
	w.ok(w.sys.Reserve(w.ctx, start))
	w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 1, On: start.Nodes, Limit: 60}))
	w.ok(w.sys.Attach(w.ctx, key, start.Name))
	if j := w.await(key, adapter.Running); !slices.Equal(j.Nodes, start.Nodes) {
		t.Errorf("in another size it runs on %v", j.Nodes)
	}
	w.ok(w.sys.Detach(w.ctx, key))
	w.ok(w.sys.Unreserve(w.ctx, start.Name))
	w.ok(w.sys.End(w.ctx, key, ""))
	w.assertClean()
}

// A sidecar that is killed during a start leaves no nodes reserved. A parked job starts by one update, which moves
// it to the reservation. So it is never both in the reservation and held. Slurm cannot delete a reservation while a
// held job is in it. The test omits calls, as if the sidecar had died before them.
func TestAStartThatEndsAfterAnyOfItsActsLeavesNoNodesReserved(t *testing.T) {
	t.Parallel()
	w := worldOn(t, submitLab(t))
	begin := func(comment, name string, nodes ...string) adapter.Key {
		key := w.submit("exec sleep 5", "-H", "--comment="+comment)
		w.ok(w.sys.Adopt(w.ctx, key))
		start := reservation(name, nodes...)
		start.End, start.Idle = start.Start+3600, 60
		w.ok(w.sys.Reserve(w.ctx, start))
		w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: len(nodes), On: nodes, Limit: 60}))
		return key
	}
	prepared := begin("launch=7", "accordion-prepared", "n4")
	attached := []adapter.Key{begin("ep=2x1m", "accordion-evolves", "n1", "n2"), begin("launch=8", "accordion-launched", "n3")}
	w.ok(w.sys.Attach(w.ctx, attached[0], "accordion-evolves"))
	w.ok(w.sys.Attach(w.ctx, attached[1], "accordion-launched"))
	died := time.Now()
	for _, key := range attached { // they are neither released nor detached
		if j := w.inspect(key); j.State == adapter.Pending && j.Held {
			t.Errorf("tied to its reservation and held: %+v", j)
		}
		w.await(key, adapter.Done)
	}
	w.lab.Await(t, 2*patience, "no reservation keeps nodes", func() bool { return !strings.Contains(reservations(t, w.lab), adapter.Prefix) })
	t.Logf("they went %v after the last act", time.Since(died).Round(time.Second))
	if j := w.inspect(prepared); !j.Held || j.State != adapter.Pending {
		t.Errorf("the job that was only prepared is %+v", j)
	}
	w.ok(w.sys.End(w.ctx, prepared, ""))
	w.assertClean()
}
