package plan

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// A situation is a pool with jobs, for one plan at second 1000.
type situation struct {
	Input
	free []string // nodes that no job holds
	next core.JobID
}

func newSituation(nodes int, rule sizing.Sizing) *situation {
	s := &situation{Input: given(1000, poolOf(fmt.Sprintf("n:%d", nodes))), next: 1}
	s.Settings = managed.Settings{Policy: sched.Repeated{Sizing: rule}, StartLead: 4, Round: 45}
	for _, n := range s.Snapshot.Nodes {
		s.free = append(s.free, n.Name)
	}
	return s
}

// take returns n free nodes, and removes them from the free nodes.
func (s *situation) take(n int) []string {
	nodes := s.free[:n]
	s.free = s.free[n:]
	for i := range s.Snapshot.Nodes {
		if slices.Contains(nodes, s.Snapshot.Nodes[i].Name) {
			s.Snapshot.Nodes[i].Idle = false
		}
	}
	return slices.Clone(nodes)
}

func (s *situation) job(j adapter.Job) *adapter.Job {
	j.ID = s.next
	s.next++
	s.Snapshot.Jobs = append(s.Snapshot.Jobs, j)
	return &s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1]
}

// runsOrdinary adds a running ordinary job that reaches its time limit in `left` seconds.
func (s *situation) runsOrdinary(nodes int, left core.Time) {
	s.job(adapter.Job{State: adapter.Running, Started: 900, Limit: 100 + left, Nodes: s.take(nodes)})
}

// runsMolded adds a running job whose size the batch system chose among the choices.
func (s *situation) runsMolded(nodes int, left core.Time, choices ...core.EP) {
	s.runsOrdinary(nodes, left)
	s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1].Choices = choices
}
func (s *situation) ends(nodes int) { s.job(adapter.Job{State: adapter.Ending, Nodes: s.take(nodes)}) }
func (s *situation) waitsOrdinary(nodes int, limit core.Time) {
	s.job(adapter.Job{State: adapter.Pending, Want: nodes, Limit: limit})
}

// waits adds a moldable managed job.
func (s *situation) waits(text string) *managed.Job {
	choices, err := moldable.Parse(text)
	if err != nil {
		panic(err)
	}
	seen := s.job(adapter.Job{State: adapter.Pending, Held: true})
	r := managed.New(seen, "mold="+text, choices)
	s.Jobs = append(s.Jobs, r)
	return r
}

// runs adds a managed job that started at 990 with the given choice.
func (s *situation) runs(text string, choice int) {
	r := s.waits(text)
	ep := r.Choices[choice]
	r.Phase, r.Choice, r.Planned, r.Began, r.Nodes = managed.Running, choice, 990, 990, s.take(ep[0].Nodes)
	r.Promise = make([]core.Time, 1)
	r.SetPromise(990, ep)
	r.Seen.State, r.Seen.Nodes, r.Seen.Held = adapter.Running, r.Nodes, false
}

// plan computes a plan and applies it.
func (s *situation) plan() *World {
	s.seeJobs()
	return makePlan(s.Input)
}

// seeJobs makes the records point to the jobs of the snapshot again, because these move in memory
// when the slice grows.
func (s *situation) seeJobs() {
	for _, r := range s.Jobs {
		for i := range s.Snapshot.Jobs {
			if s.Snapshot.Jobs[i].Key == r.Key {
				r.Seen = &s.Snapshot.Jobs[i]
			}
		}
	}
}

// The machine has 32 nodes. The reference of the list of sizes is 4 nodes. The rule `share` allows
// a job 4·min(s·√(M/8), max(1, s/3)) nodes.
func TestMoldableJobGetsItsShareOfTheMachine(t *testing.T) {
	const list = "2x1000s|4x650s|8x520s"
	for _, c := range []struct {
		name  string
		rule  sizing.Sizing
		list  string
		scene func(s *situation)
		want  int
	}{
		{"alone (s = 8) it may have more than its reference", sizing.Share{}, list, func(*situation) {}, 8},
		{"… and by another rule it may not", sizing.Reference{}, list, func(*situation) {}, 4},
		{"… or gets its floor", sizing.Least{}, list, func(*situation) {}, 2},
		{"without a rule it ends first", nil, "1x1000s|4x650s|32x649s", func(*situation) {}, 32},
		{"what is held counts (s = 32/12)", sizing.Share{}, list, func(s *situation) { s.runsOrdinary(8, 500) }, 4},
		{"what waits counts, ordinary jobs too (s = 32/100, M = 25)", sizing.Share{}, list, func(s *situation) {
			for range 3 {
				s.waitsOrdinary(32, 500)
			}
		}, 2},
		{"what just ended does not (s = 8)", sizing.Share{}, list, func(s *situation) { s.ends(8) }, 8},
		{"nodes that are out of service do not count (s = 3)", sizing.Share{}, list, func(s *situation) { s.away(20) }, 4},
		{"… nor those in a foreign reservation", sizing.Share{}, list, func(s *situation) { s.closed(20) }, 4},
		{"if the machine lost nodes and the least size does not fit, it gets a smaller one", sizing.Reference{}, "1x2000s|4x650s",
			func(s *situation) { s.away(29) }, 1},
		{"a running job counts with its reference (s = 32/48, M = 38/3)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *situation) {
			s.runs("2x1000s|12x900s", 1)
			s.waitsOrdinary(32, 500)
		}, 3},
		{"… also one whose size the batch system chose (s = 32/48, M = 38/3)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *situation) {
			s.runsMolded(12, 500, core.EP{{Duration: 1000, Nodes: 2}}, core.EP{{Duration: 900, Nodes: 12}})
			s.waitsOrdinary(32, 500)
		}, 3},
		{"… while by the nodes it holds there would be more (s = 32/48, M = 16)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *situation) {
			s.runsMolded(12, 500)
			s.waitsOrdinary(32, 500)
		}, 4},
	} {
		s := newSituation(32, c.rule)
		c.scene(s)
		r := s.waits(c.list)
		s.plan()
		if r.Course == nil || r.Course.EP[0].Nodes != c.want || r.Choices[r.Course.Choice][0] != r.Course.EP[0] {
			t.Errorf("%s: %+v, want %d nodes", c.name, r.Course, c.want)
		}
	}
}

// `away` takes n free nodes out of service.
func (s *situation) away(n int) {
	gone := s.take(n)
	for i := range s.Snapshot.Nodes {
		s.Snapshot.Nodes[i].Usable = s.Snapshot.Nodes[i].Usable && !slices.Contains(gone, s.Snapshot.Nodes[i].Name)
	}
	s.OutOfService = func(n adapter.Node) bool { return !n.Usable }
}

// `closed` puts a foreign reservation over n free nodes.
func (s *situation) closed(n int) {
	s.Snapshot.Reservations = append(s.Snapshot.Reservations, adapter.Reservation{Name: "maint", Nodes: s.free[:n], Start: 0, End: 5000})
}

// mostByShare computes, by the formula of the rule `share` in docs/sizes.md, the most nodes that a
// job with the given reference may get.
func mostByShare(machine, held int, waiting, all []int, reference int) int {
	wanted, sum := held, 0
	for _, n := range waiting {
		wanted += n
	}
	for _, n := range all {
		sum += n
	}
	s := float64(machine) / float64(wanted)
	mean := float64(sum) / float64(len(all))
	return int(math.Floor(float64(reference)*min(s*math.Sqrt(mean/(2*float64(reference))), max(1, s/3)) + .5))
}

// listOf draws a list of sizes in which each size is faster than all smaller ones. It returns the
// list and its reference.
func listOf(t *rapid.T, most int) (text string, reference int) {
	nodes, seconds := rapid.IntRange(1, 4).Draw(t, "fewest"), rapid.IntRange(200, 2000).Draw(t, "seconds")
	best := math.Inf(1)
	for range rapid.IntRange(2, 5).Draw(t, "sizes") {
		if text != "" {
			text += "|"
		}
		text += fmt.Sprintf("%dx%ds", nodes, seconds)
		if cost := float64(nodes) * float64(seconds) * float64(seconds); cost < best {
			best, reference = cost, nodes
		}
		nodes, seconds = nodes+rapid.IntRange(1, 4).Draw(t, "more"), seconds*rapid.IntRange(50, 95).Draw(t, "faster")/100
		if nodes > most {
			break
		}
	}
	return text, reference
}

// Users write lists like these, and clocks are set like this. Each job must get a size or a
// message.
func TestUnusualListsAndClocksGiveSizeOrMessage(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       int // number of nodes; 0 if the job can never run
	}{
		{"one size twice", "4x650s|4x650s|2x1000s", 4},
		{"a size twice, one of them slower", "4x900s|4x650s", 4},
		{"times that grow with nodes", "2x100s|4x200s|8x400s", 2},
		{"one second", "1x1s|2x1s", 2},
		{"ten years", "1x3650d|2x3649d", 2},
		{"every size above the machine", "40x100s|80x60s", 0},
		{"some above it", "8x1000s|40x100s", 8},
		{"the reference above it", "10x1000s|16x900s|40x1s", 16},
	} {
		for _, rule := range []sizing.Sizing{sizing.Share{}, sizing.Reference{}, sizing.Least{}, sizing.Scojo()} {
			s := newSituation(32, rule)
			r := s.waits(c.list)
			r.Submitted, r.Seen.Submitted, s.Snapshot.Jobs[0].Submitted = 2000, 2000, 2000 // the clock was set back since
			v := s.plan()
			switch why := v.Impossible(r); {
			case c.want == 0 && (why == "" || r.Course != nil):
				t.Errorf("%s: %+v, %q", c.name, r.Course, why)
			case c.want > 0 && (r.Course == nil || r.Course.EP[0].Nodes > c.want || r.Course.Start != 1004):
				t.Errorf("%s by %T: %+v, want at most %d nodes at once", c.name, rule, r.Course, c.want)
			}
		}
	}
}

// OAR chooses the sizes of its own moldable jobs. The sidecar counts their references and explains
// their sizes.
func TestSizeChosenByBatchSystemIsExplainedToo(t *testing.T) {
	s := newSituation(32, sizing.Share{})
	s.Settings.Passes = s.Settings.Policy
	s.runsOrdinary(32, 500)
	s.waitsOrdinary(8, 520)
	j := &s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1]
	j.Choices = []core.EP{{{Duration: 1000, Nodes: 2}}, {{Duration: 650, Nodes: 4}}, {{Duration: 520, Nodes: 8}}}
	v := s.plan()
	// s = 32/36, M = 18: 4·min(1.33, 1)
	if x := v.Sizes[j.ID]; x.Sized == nil || x.Sized.Reference != 4 || x.Sized.Least != 2 || x.Sized.Most != 4 || v.Sizing[0].Wanted != 4 {
		t.Errorf("%+v by %+v", x.Sized, v.Sizing)
	}
}

func TestEveryMoldableJobGetsSizeBetweenItsFloorAndItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes = 24
		s := newSituation(nodes, sizing.Share{})
		held := 0
		var all, waiting []int
		for range rapid.IntRange(0, 4).Draw(t, "running") {
			n := rapid.IntRange(1, 5).Draw(t, "holds")
			s.runsOrdinary(n, rapid.Int64Range(50, 900).Draw(t, "left"))
			held, all = held+n, append(all, n)
		}
		if rapid.Bool().Draw(t, "a moldable one runs") {
			s.runs("2x1000s|3x900s", 1)
			held, all = held+3, append(all, 3) // the job holds 3 nodes, but its reference is 2, because 2·1000² is less than 3·900²
			all[len(all)-1] = 2
		}
		references := map[*managed.Job]int{}
		for range rapid.IntRange(1, 5).Draw(t, "waiting") {
			if rapid.Bool().Draw(t, "ordinary") {
				n := rapid.IntRange(1, nodes).Draw(t, "wants")
				s.waitsOrdinary(n, rapid.Int64Range(10, 900).Draw(t, "limit"))
				all, waiting = append(all, n), append(waiting, n)
				continue
			}
			text, reference := listOf(t, nodes)
			references[s.waits(text)] = reference
			all, waiting = append(all, reference), append(waiting, reference)
		}
		v := s.plan()
		for r, reference := range references {
			target := mostByShare(nodes, held, waiting, all, reference)
			floor := (reference + 1) / 2
			var may []int
			for _, ep := range r.Choices {
				if ep[0].Nodes >= floor && ep[0].Nodes <= target {
					may = append(may, ep[0].Nodes)
				}
			}
			if may == nil { // the smallest size that is not below the floor
				for _, ep := range r.Choices {
					if may == nil && ep[0].Nodes >= floor {
						may = []int{ep[0].Nodes}
					}
				}
			}
			if r.Course == nil || !slices.Contains(may, r.Course.EP[0].Nodes) {
				t.Fatalf("%s of reference %d, target %d, got %+v, want one of %v", r.Request, reference, target, r.Course, may)
			}
			if x := v.Sizes[r.ID]; x.Sized == nil || x.Sized.Reference != reference || x.Sized.Least != may[0] || x.Sized.Most != may[len(may)-1] {
				t.Fatalf("%s is explained by %+v, want %v", r.Request, x.Sized, may)
			}
		}
	})
}
