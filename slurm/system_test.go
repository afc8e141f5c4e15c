package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/internal/lab"
	"accordion/slurm"
	"accordion/slurm/output"
)

// world is a real Slurm without our plug-in, which would hold and mark jobs before the tests can, and a System that
// controls it.
type world struct {
	*testing.T
	lab *lab.SlurmLab
	sys *slurm.System
	ctx context.Context
}

const patience = 2 * time.Minute // the deadline for changes that usually take Slurm seconds

func newWorld(t *testing.T) *world {
	t.Helper()
	lab := lab.TakeSlurm(t, 6, lab.Users("alice", "bob"), lab.Fast(), lab.NoPlugin())
	sys, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: time.Minute, Reconfigure: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sys.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return &world{T: t, lab: lab, sys: sys, ctx: ctx}
}

// ok fails the test if an act failed.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// errIs fails the test unless an act failed for the given reason.
func (w *world) errIs(err, reason error) {
	w.Helper()
	if !errors.Is(err, reason) {
		w.Fatalf("%v; want: %v", err, reason)
	}
}

// submit submits a script as alice and returns the job.
func (w *world) submit(script string, options ...string) adapter.Key {
	w.Helper()
	id, err := strconv.ParseInt(w.lab.Submit(w.T, "alice", script, options...), 10, 64)
	w.ok(err)
	for _, j := range w.observe().Jobs {
		if j.ID == core.JobID(id) {
			return j.Key
		}
	}
	w.Fatalf("job %d was accepted and is not seen", id)
	return adapter.Key{}
}

const sleeps = "exec sleep 1000"

// evolving submits an evolving job with the options that users need without our plug-in.
func (w *world) evolving() adapter.Key {
	w.Helper()
	return w.submit(sleeps, "-H", "-N1", "--ntasks-per-node=2", "-t5", "--comment=ep=2x1m,5x1m,3x1m my run", "-o", "out")
}

// running submits a job that runs on the given nodes.
func (w *world) running(nodes string) *adapter.Job {
	w.Helper()
	key := w.submit(sleeps, "-N1", "-t5", "-w", nodes)
	return w.await(key, adapter.Running)
}

// managed starts a job on the node as the sidecar does, so that it can grow.
func (w *world) managed(node string) *adapter.Job {
	w.Helper()
	key, start := w.evolving(), reservation("accordion-start-"+node, node)
	w.ok(w.sys.Adopt(w.ctx, key))
	w.ok(w.sys.Reserve(w.ctx, start))
	w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 1, Limit: 300}))
	w.ok(w.sys.Attach(w.ctx, key, start.Name))
	w.ok(w.sys.Release(w.ctx, key))
	w.await(key, adapter.Running)
	w.ok(w.sys.Detach(w.ctx, key))
	w.ok(w.sys.Unreserve(w.ctx, start.Name))
	return w.inspect(key)
}

// expand allocates an expander in the reservation. On a busy machine Slurm reports idle nodes as busy for a moment,
// for example if their daemons answer late. The sidecar retries in this case, and so does expand.
func (w *world) expand(parent *adapter.Job, in adapter.Reservation) (expander adapter.Key) {
	w.Helper()
	w.lab.Await(w.T, patience, fmt.Sprintf("job %d is expanded", parent.ID), func() bool {
		var err error
		if expander, err = w.sys.Expand(w.ctx, parent, in.Nodes, in.Name); err != nil {
			w.errIs(err, adapter.ErrBusy)
			if strings.Contains(err.Error(), "insufficient priority") {
				w.Fatalf("another job comes before it: %v", err)
			}
		}
		return err == nil
	})
	return expander
}

func (w *world) observe() *adapter.Snapshot {
	w.Helper()
	s, err := w.sys.Observe(w.ctx)
	w.ok(err)
	return s
}

func (w *world) inspect(key adapter.Key) *adapter.Job {
	w.Helper()
	j, err := w.sys.Inspect(w.ctx, key)
	w.ok(err)
	return j
}

func (w *world) await(key adapter.Key, state adapter.State) *adapter.Job {
	w.Helper()
	var j *adapter.Job
	w.lab.Await(w.T, patience, fmt.Sprintf("job %d is %s", key.ID, state), func() bool {
		j = w.inspect(key)
		return j.State == state
	})
	return j
}

// reservation returns a reservation for alice that begins now.
func reservation(name string, nodes ...string) adapter.Reservation {
	now := time.Now().Unix()
	return adapter.Reservation{Name: name, Nodes: nodes, Start: now, End: now + 600, User: "alice"}
}

// assertClean checks with Slurm's client programs that the sidecar left nothing behind and every node is idle.
func (w *world) assertClean() {
	w.Helper()
	w.lab.Await(w.T, patience, "no job is left and every node is idle", func() bool {
		return w.lab.Run(w.T, "root", "squeue", "-h", "-a", "-o", "%A %T %j") == "" &&
			len(strings.Fields(w.lab.Run(w.T, "root", "sinfo", "-h", "-p", "shared", "-t", "idle", "-N", "-o", "%N"))) == w.lab.Nodes
	})
	if r := reservations(w.T, w.lab); strings.Contains(r, adapter.Prefix) {
		w.Errorf("left behind: %s", r)
	}
}

// nodesOf returns a job's nodes as squeue prints them.
func (w *world) nodesOf(key adapter.Key) string {
	w.Helper()
	return w.lab.Run(w.T, "root", "squeue", "-h", "-j", fmt.Sprint(key.ID), "-o", "%T %D %N")
}

func TestAJobStartsGrowsShrinksAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.evolving()
	w.ok(w.sys.Adopt(w.ctx, key))
	w.ok(w.sys.Adopt(w.ctx, key)) // each call must succeed again when repeated
	j := w.inspect(key)
	if !j.Held || j.HeldByUser || j.Mark != "accordion:ep=2x1m,5x1m,3x1m" || j.Comment != "ep=2x1m,5x1m,3x1m my run" {
		t.Fatalf("adopted: %+v", j)
	}
	if _, said, err := w.lab.Exec("alice", "", "scontrol", "release", fmt.Sprint(key.ID)); err != nil {
		t.Errorf("its owner's release, which frees nothing: %s", said)
	}
	if j := w.inspect(key); !j.Held || j.Reservation != output.Park {
		t.Fatalf("its owner could release it: %+v", j)
	}

	start := reservation("accordion-start", "n1", "n3")
	later := start // its start must be later than all of the repeated calls, because the job's owner has released the job
	later.Start += 120
	for range 2 {
		w.ok(w.sys.Reserve(w.ctx, later))
		w.ok(w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 2, Limit: 190}))
		w.ok(w.sys.Attach(w.ctx, key, later.Name))
	}
	w.ok(w.sys.Reserve(w.ctx, start)) // from here on the job may start at any time
	w.ok(w.sys.Release(w.ctx, key))
	j = w.await(key, adapter.Running)
	if !slices.Equal(j.Nodes, start.Nodes) || j.Want != 2 || j.Tasks != 4 || j.Limit != 240 || j.Started == 0 {
		t.Fatalf("started: %+v", j)
	}
	w.ok(w.sys.Release(w.ctx, key))
	if w.lab.Slurm > "21" { // 20.11 deletes the reservation, and the job continues
		w.errIs(w.sys.Unreserve(w.ctx, start.Name), adapter.ErrBusy)
	}
	for range 2 {
		w.ok(w.sys.Detach(w.ctx, key))
		w.ok(w.sys.Unreserve(w.ctx, start.Name))
	}

	grow := reservation("accordion-grow", "n2", "n5", "n6")
	w.ok(w.sys.Reserve(w.ctx, grow))
	expander := w.expand(j, grow)
	seen := slices.IndexFunc(w.observe().Jobs, func(o adapter.Job) bool { return o.Key == expander && o.Expands == key.ID })
	if seen < 0 {
		t.Errorf("expander %v is not distinguished from ordinary jobs", expander)
	}
	for range 2 {
		w.ok(w.sys.Merge(w.ctx, key, expander))
	}
	w.ok(w.sys.Unreserve(w.ctx, grow.Name))
	if got := w.nodesOf(key); got != "RUNNING 5 n[1-3,5-6]" {
		t.Fatalf("grown: %s", got)
	}

	if err := w.sys.Shrink(w.ctx, key, []string{"n2", "n3", "n5"}); err == nil || !strings.Contains(err.Error(), "n1 runs its script") {
		t.Errorf("giving back the node of the script: %v", err)
	}
	if err := w.sys.Shrink(w.ctx, key, []string{"n1", "n4"}); err == nil || !strings.Contains(err.Error(), "does not hold n4") {
		t.Errorf("keeping a node that it does not have: %v", err)
	}
	for range 2 {
		w.ok(w.sys.Shrink(w.ctx, key, []string{"n6", "n1", "n2"}))
	}
	if got := w.nodesOf(key); got != "RUNNING 3 n[1-2,6]" {
		t.Fatalf("shrunk: %s", got)
	}

	for range 2 {
		w.ok(w.sys.End(w.ctx, key, "its time is \"over\"\nreally"))
	}
	w.await(key, adapter.Done)
	w.lab.Await(t, patience, "the job's output says why it ended", func() bool {
		return strings.Contains(w.lab.File("alice", "out"), "accordion ends this job: its time is over really")
	})
	w.assertClean()
}

func TestNothingIsTakenThatIsNotFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parent := w.running("n1")
	w.running("n2")
	w.errIs(w.sys.Reserve(w.ctx, reservation("accordion-a", "n2", "n3")), adapter.ErrBusy)
	w.ok(w.sys.Reserve(w.ctx, reservation("accordion-b", "n4")))
	w.errIs(w.sys.Reserve(w.ctx, reservation("accordion-b", "n2", "n4")), adapter.ErrBusy) // a change is rejected as a whole
	w.lab.Run(t, "root", "scontrol", "create", "reservation", "ReservationName=maint", "StartTime=now", "Duration=60", "Users=root", "Nodes=n6")
	w.errIs(w.sys.Reserve(w.ctx, reservation("accordion-a", "n5", "n6")), adapter.ErrBusy)
	w.lab.Run(t, "root", "scontrol", "delete", "ReservationName=maint")
	if got := w.observe().Reservations; len(got) != 1 || !slices.Equal(got[0].Nodes, []string{"n4"}) || got[0].User != "alice" {
		t.Errorf("reservations: %+v", got)
	}

	future := reservation("accordion-later", "n2", "n5")
	future.Start, future.End = future.Start+3600, future.End+3600
	w.ok(w.sys.Reserve(w.ctx, future)) // the job on the node reaches its limit before the reservation starts
	future.Start, future.Nodes = future.Start+60, []string{"n2", "n6"}
	w.ok(w.sys.Reserve(w.ctx, future))
	sooner := future
	sooner.Start -= 3640
	w.errIs(w.sys.Reserve(w.ctx, sooner), adapter.ErrBusy) // the job on the node reaches its limit after the reservation starts
	over := reservation("accordion-over", "n2", "n3")
	over.Start, over.OverManaged = over.Start+20, true
	w.ok(w.sys.Reserve(w.ctx, over)) // the job on the node is managed, and the plan has ended it before the start
	for _, r := range w.observe().Reservations {
		switch {
		case r.Name == future.Name && (r.Start != future.Start || !slices.Equal(r.Nodes, future.Nodes) || r.OverManaged):
			t.Errorf("moved: %+v, want %+v", r, future)
		case r.Name == over.Name && !r.OverManaged:
			t.Errorf("over managed jobs: %+v", r)
		}
	}

	_, err := w.sys.Expand(w.ctx, parent, []string{"n2"}, "")
	w.errIs(err, adapter.ErrBusy)
	_, err = w.sys.Expand(w.ctx, parent, []string{"n3"}, "accordion-nosuch")
	w.errIs(err, adapter.ErrBusy)
	if jobs := w.observe().Jobs; len(jobs) != 2 {
		t.Errorf("a refused expander is left: %+v", jobs)
	}
	for _, name := range []string{"accordion-a", "accordion-b", "accordion-later", "accordion-over", "accordion-over"} {
		w.ok(w.sys.Unreserve(w.ctx, name))
	}
	w.lab.Clear(t)
	w.assertClean()
}

func TestAGrowthDoesNotWaitForAnotherJobsStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parent := w.managed("n1")
	w.ok(w.sys.Reserve(w.ctx, reservation("accordion-start", "n2")))
	w.await(w.submit(sleeps, "-N1", "--exclusive", "-t5", "--reservation=accordion-start"), adapter.Running)
	next := w.submit(sleeps, "-N1", "--exclusive", "-t5", "--reservation=accordion-start") // this job is released, and has a higher priority than an expander
	grow := reservation("accordion-grow", "n3")
	w.ok(w.sys.Reserve(w.ctx, grow))
	w.ok(w.sys.Merge(w.ctx, parent.Key, w.expand(parent, grow)))
	if got := w.inspect(next).State; got != adapter.Pending {
		t.Errorf("the other job is %s: the test shows nothing", got)
	}
	w.lab.Clear(t)
	w.assertClean()
}

func TestAFinishedParentIsNeverMergedInto(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parent := w.running("n1")
	grow := reservation("accordion-grow", "n2", "n3")
	w.ok(w.sys.Reserve(w.ctx, grow))
	expander := w.expand(parent, grow)
	w.lab.Run(t, "alice", "scancel", fmt.Sprint(parent.ID))
	w.await(parent.Key, adapter.Done)
	w.errIs(w.sys.Merge(w.ctx, parent.Key, expander), adapter.ErrGone)
	if got := w.nodesOf(expander); got != "RUNNING 2 n[2-3]" {
		t.Errorf("the expander: %s", got)
	}
	w.ok(w.sys.End(w.ctx, expander, ""))
	w.await(expander, adapter.Done)
	w.errIs(w.sys.Merge(w.ctx, parent.Key, expander), adapter.ErrGone)
	_, err := w.sys.Expand(w.ctx, parent, grow.Nodes, grow.Name)
	w.errIs(err, adapter.ErrGone)
	w.ok(w.sys.Unreserve(w.ctx, grow.Name))
	w.assertClean()
}

// Without the sidecar, Slurm loses nodes in about half of these cases.
func TestNoNodeIsLostWhenAMergeRacesWithItsParentsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range 4 {
		parent := w.managed("n1")
		grow := reservation("accordion-grow", "n2", "n3")
		w.ok(w.sys.Reserve(w.ctx, grow))
		expander := w.expand(parent, grow)
		ended := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(round) * 8 * time.Millisecond) // each round ends the parent at another moment of the merge
			ended <- w.sys.End(w.ctx, parent.Key, "")
		}()
		if err := w.sys.Merge(w.ctx, parent.Key, expander); err != nil && !errors.Is(err, adapter.ErrGone) {
			t.Fatalf("round %d: %v", round, err)
		}
		w.ok(<-ended)
		w.ok(w.sys.End(w.ctx, expander, ""))
		w.await(expander, adapter.Done)
		w.ok(w.sys.Mend(w.ctx, []string{"n1", "n2", "n3"})) // without this a parent may stay COMPLETING (24.11)
		w.await(parent.Key, adapter.Done)
		w.lab.Await(t, patience, "the reservation can be deleted", func() bool { return w.sys.Unreserve(w.ctx, grow.Name) == nil })
		w.assertClean()
	}
}

// After a crash of slurmctld a job's id may belong to another job.
func TestAnActOnAnothersNumberDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waits, runs := w.evolving(), w.running("n1")
	before := func() string {
		return w.lab.Run(t, "root", "squeue", "-h", "-S", "i", "-o", "%A %T %D %l %v %k")
	}
	then := before()
	for _, key := range []adapter.Key{{ID: waits.ID, Submitted: waits.Submitted - 1}, {ID: runs.ID, Submitted: runs.Submitted - 1},
		{ID: 1 << 20, Submitted: 1}, {ID: 1 << 40, Submitted: 1}, {ID: -1, Submitted: 1}} {
		job := &adapter.Job{Key: key}
		_, inspecting := w.sys.Inspect(w.ctx, key)
		_, expanding := w.sys.Expand(w.ctx, job, []string{"n2"}, "")
		for name, err := range map[string]error{
			"Inspect": inspecting, "Expand": expanding,
			"Adopt": w.sys.Adopt(w.ctx, key), "Shape": w.sys.Shape(w.ctx, key, adapter.Shape{Nodes: 3, Limit: 60}),
			"Attach": w.sys.Attach(w.ctx, key, "accordion-a"), "Release": w.sys.Release(w.ctx, key),
			"Hold": w.sys.Hold(w.ctx, key), "Detach": w.sys.Detach(w.ctx, key),
			"Merge": w.sys.Merge(w.ctx, key, runs.Key), "Shrink": w.sys.Shrink(w.ctx, key, []string{"n1"}),
		} {
			if !errors.Is(err, adapter.ErrGone) {
				t.Errorf("%s %v: %v", name, key, err)
			}
		}
		w.ok(w.sys.Refuse(w.ctx, key, "no")) // Refuse returns no error if the job no longer exists
		w.ok(w.sys.End(w.ctx, key, "no"))
	}
	if now := before(); now != then {
		t.Errorf("jobs were changed from\n%s\nto\n%s", then, now)
	}
}

// For each call of a start, the test cancels a job just before that call.
func TestAJobThatIsCancelledBetweenTwoActsIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := reservation("accordion-start", "n2")
	acts := []func(adapter.Key) error{
		func(k adapter.Key) error { return w.sys.Adopt(w.ctx, k) },
		func(k adapter.Key) error { return w.sys.Shape(w.ctx, k, adapter.Shape{Nodes: 1, Limit: 60}) },
		func(k adapter.Key) error { return w.sys.Attach(w.ctx, k, r.Name) },
		func(k adapter.Key) error { return w.sys.Release(w.ctx, k) },
		func(k adapter.Key) error { w.await(k, adapter.Running); return w.sys.Detach(w.ctx, k) },
		func(k adapter.Key) error { return w.sys.Shrink(w.ctx, k, []string{"n2"}) },
	}
	for n := range acts {
		key := w.evolving()
		r = reservation(r.Name, r.Nodes...)
		w.ok(w.sys.Reserve(w.ctx, r))
		for _, act := range acts[:n] {
			w.ok(act(key))
		}
		w.lab.Run(t, "alice", "scancel", fmt.Sprint(key.ID))
		w.await(key, adapter.Done)
		if n != 4 { // call 4 waits for the start itself
			w.errIs(acts[n](key), adapter.ErrGone)
		}
		w.errIs(w.sys.Detach(w.ctx, key), adapter.ErrGone)
		w.errIs(w.sys.Hold(w.ctx, key), adapter.ErrGone)
		w.ok(w.sys.End(w.ctx, key, "over"))
		w.ok(w.sys.Unreserve(w.ctx, r.Name))
	}
	w.assertClean()
}

func TestAReleasedJobThatHasNotStartedIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.evolving()
	r := reservation("accordion-later", "n2")
	r.Start, r.End = r.Start+3600, r.End+3600
	w.ok(w.sys.Reserve(w.ctx, r))
	w.ok(w.sys.Adopt(w.ctx, key))
	w.ok(w.sys.Attach(w.ctx, key, r.Name))
	w.ok(w.sys.Release(w.ctx, key))
	if j := w.inspect(key); j.Held || j.Reservation != r.Name {
		t.Fatalf("released: %+v", j)
	}
	for range 2 {
		w.ok(w.sys.Hold(w.ctx, key))
	}
	if j := w.inspect(key); !j.Held || j.HeldByUser || j.Reservation != output.Park || j.State != adapter.Pending {
		t.Errorf("taken back: %+v", j)
	}
	w.ok(w.sys.Unreserve(w.ctx, r.Name))
	if j := w.inspect(key); !j.Held {
		t.Errorf("without its reservation: %+v", j)
	}
	w.ok(w.sys.End(w.ctx, key, "over"))
	w.assertClean()
}

func TestARefusedJobsOwnerCanReadWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.submit(sleeps, "-H", "-N1", "--comment=ep=99x1m")
	w.ok(w.sys.Refuse(w.ctx, key, "99 nodes are more than the pool's 6"))
	w.await(key, adapter.Done)
	if show := w.lab.Run(t, "alice", "scontrol", "-o", "show", "job", fmt.Sprint(key.ID)); !strings.Contains(show, "accordion refused this job: 99 nodes are more") {
		t.Errorf("alice reads %s", show)
	}
	w.ok(w.sys.Refuse(w.ctx, key, "again"))
	w.errIs(w.sys.Refuse(w.ctx, w.running("n1").Key, "it runs"), adapter.ErrGone)
}

func TestHeterogeneousJobsAreNotAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.submit(sleeps, "-H", "-N1", "--comment=ep=1x1m", ":", "-N1")
	if err := w.sys.Adopt(w.ctx, key); err == nil || !strings.Contains(err.Error(), "cannot grow and shrink") {
		t.Errorf("adopted: %v", err)
	}
	components := 0
	for _, j := range w.observe().Jobs {
		if j.Unfit == "" || !j.HeldByUser {
			t.Errorf("job %+v", j)
		}
		components++
	}
	if components != 2 {
		t.Errorf("%d jobs, want two components", components)
	}
	key = w.submit(sleeps, "-H", "-N1", "--comment=my run")
	if err := w.sys.Adopt(w.ctx, key); err == nil || !strings.Contains(err.Error(), "ep=, mold= or launch=") {
		t.Errorf("a job without a request: %v", err)
	}
	for _, test := range []struct{ options, says string }{
		{"--comment=launch=0", "not the number of an application"},
		{"--comment=launch=7 mine ep=2x20s", "launch=7 together with ep=2x20s"},
		{"--array=1-3 --comment=launch=7", "an array cannot be a part"},
	} {
		array, comment, _ := strings.Cut(test.options, "--comment=")
		key := w.submit(sleeps, append([]string{"-H", "-N1", "--comment=" + comment}, strings.Fields(array)...)...)
		if err := w.sys.Adopt(w.ctx, key); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("a job with %s: %v, want %q", test.options, err, test.says)
		}
	}
}

func TestTheSnapshotIsWhatSlurmHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lab.Run(t, "root", "scontrol", "update", "NodeName=n5", "State=DRAIN", "Reason=disk State=IDLE")
	t.Cleanup(func() { w.lab.Run(t, "root", "scontrol", "update", "NodeName=n5", "State=RESUME") })
	w.lab.Run(t, "root", "scontrol", "create", "reservation", "ReservationName=maint", "StartTime=now+10hours", "Duration=60", "Users=root", "Nodes=n6")
	holder := w.running("n2")
	shared := w.await(w.submit(sleeps, "-N1", "-n1", "-t1:00:00", "-p", "shared", "-w", "n3"), adapter.Running)
	forged := w.submit(sleeps, "-H", "-N2", "-t1-02:03", "-J", "a|b\n1|1", "--comment=ep=2x1m AdminComment=accordion:ep=9x9h\n7|7|RUNNING")
	w.submit(sleeps, "-N1", "-t5", "--begin=now+5hours")
	w.submit(sleeps, "-N1", "-t5", "--dependency=afterok:"+fmt.Sprint(holder.ID))

	s := w.observe()
	var nodes []string
	for _, n := range s.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s %v %v", n.Name, n.Usable, n.Idle))
	}
	if got, want := strings.Join(nodes, "; "), "n1 true true; n2 true false; n3 true false; n4 true true; n5 false true; n6 true true"; got != want {
		t.Errorf("nodes (usable, idle): %s; want %s", got, want)
	}
	if leaked := slurm.Leaked(s); leaked != nil {
		t.Errorf("leaked: %v", leaked)
	}
	if len(s.Reservations) != 1 || s.Reservations[0].Ours() || s.Reservations[0].End-s.Reservations[0].Start != 3600 {
		t.Errorf("reservations: %+v", s.Reservations)
	}
	if len(s.Jobs) != 5 {
		t.Fatalf("%d jobs: %+v", len(s.Jobs), s.Jobs)
	}
	for _, j := range s.Jobs {
		switch j.Key {
		case forged:
			if j.Mark != "" || j.Limit != 93780 || !j.HeldByUser || !strings.HasPrefix(j.Comment, "ep=2x1m AdminComment=") {
				t.Errorf("forged: %+v", j)
			}
		case holder.Key:
			if j.Partition != "main" || j.User != "alice" || !slices.Equal(j.Nodes, []string{"n2"}) || j.Limit != 300 {
				t.Errorf("holder: %+v", j)
			}
		case shared.Key:
			if j.Partition != "shared" || !slices.Equal(j.Nodes, []string{"n3"}) {
				t.Errorf("of another partition: %+v", j)
			}
		default:
			if !j.Blocked || j.Held || (j.Why == "BeginTime") != (j.Begin > time.Now().Unix()+4*3600) {
				t.Errorf("neither held nor able to start: %+v", j)
			}
		}
	}
}

func TestWithoutSlurmdbdNothingIsResized(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.submit(sleeps, "-N2", "-t5")
	job := w.await(key, adapter.Running)
	w.lab.Do(t, "dbd-stop")
	if !needsDatabase(w.lab) {
		w.ok(w.sys.Shrink(w.ctx, key, job.Nodes[:1]))
		if found := w.sys.Preflight(w.ctx); slices.ContainsFunc(found, func(f adapter.Finding) bool { return f.Severity == adapter.Fatal }) {
			t.Errorf("preflight without slurmdbd: %v", found)
		}
		w.lab.Do(t, "dbd-start")
		w.ok(w.sys.End(w.ctx, key, "it is over")) // End updates the job, which must succeed although slurmdbd was down at the resize
		w.await(key, adapter.Done)
		w.assertClean()
		return
	}
	_, err := w.sys.Expand(w.ctx, job, []string{"n6"}, "")
	w.errIs(err, adapter.ErrTrap)
	w.errIs(w.sys.Shrink(w.ctx, key, job.Nodes[:1]), adapter.ErrTrap)
	if found := w.sys.Preflight(w.ctx); len(found) == 0 || found[0].Severity != adapter.Fatal || !strings.Contains(found[0].What, "slurmdbd does not answer") {
		t.Errorf("preflight without slurmdbd: %v", found)
	}
	w.lab.Do(t, "dbd-start")
	w.ok(w.sys.Shrink(w.ctx, key, job.Nodes[:1]))
	for _, f := range w.sys.Preflight(w.ctx) {
		if f.Severity == adapter.Fatal {
			t.Errorf("preflight: %v", f)
		}
	}
	guard, err := w.sys.Guard(w.ctx)
	w.ok(err)
	if guard < 30 || guard > 90 {
		t.Errorf("guard: %d s", guard)
	}
	w.lab.Clear(t)
	w.assertClean()
}
