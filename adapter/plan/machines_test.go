package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/core/sched"
)

// poolOf parses a pool: "thin:4 fat:2/b" has four nodes of kind thin and two of kind fat and build
// b.
func poolOf(text string) []adapter.Node {
	var all []adapter.Node
	for _, word := range strings.Fields(text) {
		name, rest, _ := strings.Cut(word, ":")
		count, build, _ := strings.Cut(rest, "/")
		n := 0
		fmt.Sscan(count, &n)
		for i := range n {
			all = append(all, adapter.Node{Name: fmt.Sprintf("%s%d", name, i+1), Usable: true, Idle: true, Kind: name, Build: build})
		}
	}
	return all
}

// kindsOf parses a list of kinds, such as "thin fat". It returns nil, which means all, for "*".
func kindsOf(text string) []string {
	if text == "*" {
		return nil
	}
	return strings.Fields(text)
}

// waiterOf parses a waiting job: "m3 thin" is a managed job of three nodes that runs on thin nodes;
// "o3 thin" is an ordinary one.
func waiterOf(id core.JobID, text string) Waiter {
	size, kinds, _ := strings.Cut(text[1:], " ")
	nodes := 0
	fmt.Sscan(size, &nodes)
	seen := &adapter.Job{Key: adapter.Key{ID: id}, State: adapter.Pending, Held: true, Kinds: kindsOf(kinds)}
	choices := []core.EP{{{Duration: 60, Nodes: nodes}}}
	w := Waiter{Job: core.Job{ID: id, Choices: choices}, Seen: seen}
	if text[0] == 'm' {
		w.Managed = managed.New(seen, "", choices)
		w.plan = &JobPlan{Job: w.Managed}
	}
	return w
}

// planned plans a queue on a pool in which nothing runs.
func planned(nodes []adapter.Node, jobs ...string) *World {
	v := newWorld(given(1000, nodes))
	for i, text := range jobs {
		v.Queue = append(v.Queue, waiterOf(core.JobID(i+1), text))
	}
	v.planUntilStable()
	v.JobPlans = v.jobPlans()
	v.Apply()
	return v
}

// given returns the input of a plan on a pool whose nodes are all in service.
func given(now core.Time, nodes []adapter.Node, jobs ...*managed.Job) Input {
	return Input{
		Now: now, Instant: time.Unix(now, 0), Snapshot: &adapter.Snapshot{Nodes: nodes}, Jobs: jobs, Settled: true,
		OutOfService: func(adapter.Node) bool { return false }, Fresh: func(*managed.Job) bool { return true },
		Settings: managed.Settings{Policy: sched.Repeated{}, Round: 45},
	}
}

// starts returns when and where each job is planned to start, such as "0 thin[1-2]; -". Starts are
// in seconds from now, and "-" is a job without a place in the plan.
func starts(v *World) string {
	var all []string
	for _, w := range v.Queue {
		text := "-"
		for _, p := range v.Planned.Jobs {
			if p.Job == w.Job.ID {
				text = fmt.Sprint(p.Start - v.Now)
			}
		}
		if w.Managed != nil && w.Managed.Course != nil && w.Managed.Course.Err == nil {
			text += " " + hostlist.Compact(w.Managed.Course.Added(0))
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestAPoolOfSeveralKindsIsPlannedAsSeveralMachines(t *testing.T) {
	for _, test := range []struct {
		name, pool string
		jobs       []string
		want       string
	}{
		{"no job distinguishes kinds: one machine", "fat:2 thin:2", []string{"m4 *", "m1 *"}, "0 fat[1-2],thin[1-2]; 60 fat1"},
		{"a job for one kind waits for it", "fat:2 thin:4", []string{"m2 fat", "m1 fat", "m1 *"}, "0 fat[1-2]; 60 fat1; 0 thin1"},
		{"a job for all kinds goes where it ends first", "fat:2 thin:2", []string{"m2 fat", "m2 *", "m1 *"}, "0 fat[1-2]; 0 thin[1-2]; 60 fat1"},
		{"an ordinary job is in the way on its kind only", "fat:2 thin:2", []string{"o2 fat", "m2 fat", "m2 thin"}, "0; 60 fat[1-2]; 0 thin[1-2]"},
		{"an ordinary job of all nodes is in the way on all", "fat:2 thin:2", []string{"m1 fat", "o4 *", "m2 thin"}, "0 fat1; 60; 60 thin[1-2]"},
		{"a job that needs both kinds has both", "fat:2 thin:2", []string{"m3 *", "m1 fat"}, "0 fat[1-2],thin1; -"},
		{"… but not before jobs for one of them", "fat:2 thin:2", []string{"m1 fat", "m3 *"}, "0 fat1; -"},
		{"builds are never mixed", "fat:2/x thin:2/y", []string{"m2 *", "m2 *", "m3 *"}, "0 fat[1-2]; 0 thin[1-2]; -"},
		{"no kind at all", "fat:2 thin:2", []string{"m1 ", "m2 *"}, "-; 0 fat[1-2]"},
	} {
		if v := planned(poolOf(test.pool), test.jobs...); starts(v) != test.want {
			t.Errorf("%s: %s, want %s", test.name, starts(v), test.want)
		}
	}
}

func TestJobThatNoKindCanHoldIsRefusedWithReason(t *testing.T) {
	for _, test := range []struct {
		pool, job string
		most      adapter.NodeLimit
		says      string // the reason of the refusal; "" if the job is not refused
	}{
		{"fat:2 thin:2", "m4 *", adapter.NodeLimit{}, ""},
		{"fat:2 thin:2", "m5 *", adapter.NodeLimit{}, "more nodes than the 4 of the pool"},
		{"fat:2 thin:2", "m3 fat", adapter.NodeLimit{}, "of one sort on which the job can run: 2 of fat"},
		{"fat:2 thin:2", "m1 ", adapter.NodeLimit{}, "none"},
		{"fat:2/x thin:2/y", "m3 *", adapter.NodeLimit{}, "2 of fat, 2 of thin"},
		{"fat:4", "m3 *", adapter.NodeLimit{Nodes: 2, Why: "the limit"}, "more than the 2 nodes that it may ever have: the limit"},
		{"fat:4", "m3 *", adapter.NodeLimit{Nodes: 3, Why: "the limit"}, ""},
	} {
		v := planned(poolOf(test.pool), test.job)
		r := v.Queue[0].Managed
		r.Seen.Most = test.most
		if got := v.Impossible(r); (got == "") != (test.says == "") || !strings.Contains(got, test.says) {
			t.Errorf("%s on %s: %q, want %q", test.job, test.pool, got, test.says)
		}
	}
}

func TestJobIsNeverPlannedOnNodeOnWhichItCannotRun(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		kinds := []string{"a", "b", "c"}
		var pool, jobs []string
		for _, k := range kinds {
			pool = append(pool, fmt.Sprintf("%s:%d/%d", k, 1+random.IntN(5), random.IntN(2)))
		}
		for range 1 + random.IntN(12) {
			on := "*"
			if random.IntN(2) == 0 {
				on = strings.Join(kinds[random.IntN(3):], " ")
			}
			jobs = append(jobs, fmt.Sprintf("%c%d %s", "mmo"[random.IntN(3)], 1+random.IntN(6), on))
		}
		nodes := poolOf(strings.Join(pool, " "))
		v := planned(nodes, jobs...)
		at := map[string]adapter.Node{}
		for _, n := range nodes {
			at[n.Name] = n
		}
		taken := map[string]core.JobID{} // the job that holds each node in the first second
		for _, w := range v.Queue {
			if w.Managed == nil || w.Managed.Course == nil || w.Managed.Course.Err != nil {
				continue
			}
			builds := map[string]bool{}
			for _, name := range w.Managed.Course.Added(0) {
				builds[at[name].Build] = true
				if w.Seen.Kinds != nil && !slices.Contains(w.Seen.Kinds, at[name].Kind) {
					t.Fatalf("seed %d: job %d of %v on %v is put on %s", seed, w.Job.ID, jobs, pool, name)
				}
				if w.Managed.Course.Start == v.Now {
					if other := taken[name]; other != 0 {
						t.Fatalf("seed %d: jobs %d and %d of %v on %v both get %s", seed, other, w.Job.ID, jobs, pool, name)
					}
					taken[name] = w.Job.ID
				}
			}
			if len(builds) > 1 {
				t.Fatalf("seed %d: job %d of %v on %v gets nodes of two builds", seed, w.Job.ID, jobs, pool)
			}
		}
	}
}

func TestJobThatDistinguishesKindsBreaksNoPromise(t *testing.T) {
	nodes := poolOf("fat:3 thin:3")
	runs := runs(1, 900, 0, 0, core.EP{{Duration: 100, Nodes: 2}, {Duration: 50, Nodes: 5}, {Duration: 50, Nodes: 1}}, 1050, 1100, 1150)
	runs.Nodes, runs.Seen = []string{"thin1", "thin2"}, &adapter.Job{Key: runs.Key, State: adapter.Running, Nodes: []string{"thin1", "thin2"}}
	see := func(now core.Time, jobs ...string) *World {
		v := newWorld(given(now, nodes, runs))
		for i, text := range jobs {
			v.Queue = append(v.Queue, waiterOf(core.JobID(i+2), text))
		}
		v.planUntilStable()
		v.JobPlans = v.jobPlans()
		v.Apply()
		return v
	}
	see(1000)
	before := runs.Course.Added(1)
	if len(before) != 3 {
		t.Fatalf("alone it is to grow by %v", before)
	}
	v := see(1001, "m2 fat", "m1 fat", "m1 *")
	if got := runs.Course.Added(1); !slices.Equal(got, before) || !slices.Equal(runs.Promise, []core.Time{1050, 1100, 1150}) {
		t.Errorf("with jobs for one kind it is to grow by %v, not %v, and is promised %v", got, before, runs.Promise)
	}
	for _, w := range v.Queue {
		c := w.Managed.Course
		if c == nil || c.Err != nil {
			t.Errorf("job %d has no place: %+v", w.Job.ID, c)
			continue
		}
		for _, l := range c.Layers {
			for _, n := range l.Nodes {
				if slices.Contains(before, n) && l.From < 1100 && l.To > 1050 || slices.Contains(runs.Nodes, n) && l.From < 1100 {
					t.Errorf("job %d is planned on %s from %d to %d, which the running job has", w.Job.ID, n, l.From, l.To)
				}
			}
		}
	}
}
