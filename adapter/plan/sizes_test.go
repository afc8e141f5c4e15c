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

// scene is a pool of so many nodes with jobs, for one plan at second 1000.
type scene struct {
	Input
	free []string // nodes that nobody has
	next core.JobID
}

func sceneOf(nodes int, rule sizing.Sizing) *scene {
	s := &scene{Input: given(1000, poolOf(fmt.Sprintf("n:%d", nodes))), next: 1}
	s.Settings = managed.Settings{Policy: sched.Repeated{Sizing: rule}, StartLead: 4, Round: 45}
	for _, n := range s.Snapshot.Nodes {
		s.free = append(s.free, n.Name)
	}
	return s
}

// take is so many nodes that nobody has.
func (s *scene) take(n int) []string {
	nodes := s.free[:n]
	s.free = s.free[n:]
	for i := range s.Snapshot.Nodes {
		if slices.Contains(nodes, s.Snapshot.Nodes[i].Name) {
			s.Snapshot.Nodes[i].Idle = false
		}
	}
	return slices.Clone(nodes)
}

func (s *scene) job(j adapter.Job) *adapter.Job {
	j.ID = s.next
	s.next++
	s.Snapshot.Jobs = append(s.Snapshot.Jobs, j)
	return &s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1]
}

// ordinary jobs run on so many nodes for as long again, or wait for them.
func (s *scene) runsOrdinary(nodes int, left core.Time) {
	s.job(adapter.Job{State: adapter.Running, Started: 900, Limit: 100 + left, Nodes: s.take(nodes)})
}

// runsMolded is one that the batch system molds, of these sizes.
func (s *scene) runsMolded(nodes int, left core.Time, choices ...core.EP) {
	s.runsOrdinary(nodes, left)
	s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1].Choices = choices
}
func (s *scene) ends(nodes int) { s.job(adapter.Job{State: adapter.Ending, Nodes: s.take(nodes)}) }
func (s *scene) waitsOrdinary(nodes int, limit core.Time) {
	s.job(adapter.Job{State: adapter.Pending, Want: nodes, Limit: limit})
}

// waits is a managed job.
func (s *scene) waits(text string) *managed.Job {
	choices, err := moldable.Parse(text)
	if err != nil {
		panic(err)
	}
	seen := s.job(adapter.Job{State: adapter.Pending, Held: true})
	r := managed.New(seen, "mold="+text, choices)
	s.Jobs = append(s.Jobs, r)
	return r
}

// runs is one that began a moment ago on one of its choices.
func (s *scene) runs(text string, choice int) {
	r := s.waits(text)
	ep := r.Choices[choice]
	r.Phase, r.Choice, r.Planned, r.Began, r.Nodes = managed.Running, choice, 990, 990, s.take(ep[0].Nodes)
	r.Promise = make([]core.Time, 1)
	r.SetPromise(990, ep)
	r.Seen.State, r.Seen.Nodes, r.Seen.Held = adapter.Running, r.Nodes, false
}

// plan plans; the jobs' readings have moved with the list since they were made.
func (s *scene) plan() *World {
	s.seeJobs()
	return makePlan(s.Input)
}

// seeJobs points the records at the jobs of the snapshot.
func (s *scene) seeJobs() {
	for _, r := range s.Jobs {
		for i := range s.Snapshot.Jobs {
			if s.Snapshot.Jobs[i].Key == r.Key {
				r.Seen = &s.Snapshot.Jobs[i]
			}
		}
	}
}

// On 32 nodes. A list's reference is 4 where nothing else is said; by the rule share it may have 4·min(s·√(M/8), max(1, s/3)).
func TestAMoldableJobGetsItsPartOfTheMachine(t *testing.T) {
	const list = "2x1000s|4x650s|8x520s"
	for _, c := range []struct {
		name  string
		rule  sizing.Sizing
		list  string
		scene func(s *scene)
		want  int
	}{
		{"alone (s = 8) it may have more than its reference", sizing.Share{}, list, func(*scene) {}, 8},
		{"… and by another rule it may not", sizing.Reference{}, list, func(*scene) {}, 4},
		{"… or gets its floor", sizing.Least{}, list, func(*scene) {}, 2},
		{"without a rule it ends first", nil, "1x1000s|4x650s|32x649s", func(*scene) {}, 32},
		{"what is held counts (s = 32/12)", sizing.Share{}, list, func(s *scene) { s.runsOrdinary(8, 500) }, 4},
		{"what waits counts, ordinary jobs too (s = 32/100, M = 25)", sizing.Share{}, list, func(s *scene) {
			for range 3 {
				s.waitsOrdinary(32, 500)
			}
		}, 2},
		{"what just ended does not (s = 8)", sizing.Share{}, list, func(s *scene) { s.ends(8) }, 8},
		{"nodes that are out of service are none of the machine (s = 3)", sizing.Share{}, list, func(s *scene) { s.away(20) }, 4},
		{"… nor those in a reservation of others", sizing.Share{}, list, func(s *scene) { s.closed(20) }, 4},
		{"where the machine lost so many that it has not the least size, it gets a smaller one", sizing.Reference{}, "1x2000s|4x650s",
			func(s *scene) { s.away(29) }, 1},
		{"a running job counts with its reference (s = 32/48, M = 38/3)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *scene) {
			s.runs("2x1000s|12x900s", 1)
			s.waitsOrdinary(32, 500)
		}, 3},
		{"… one that the batch system molds, too (s = 32/48, M = 38/3)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *scene) {
			s.runsMolded(12, 500, core.EP{{Duration: 1000, Nodes: 2}}, core.EP{{Duration: 900, Nodes: 12}})
			s.waitsOrdinary(32, 500)
		}, 3},
		{"… where what it holds would give more (s = 32/48, M = 16)", sizing.Share{}, "2x1000s|3x800s|4x650s", func(s *scene) {
			s.runsMolded(12, 500)
			s.waitsOrdinary(32, 500)
		}, 4},
	} {
		s := sceneOf(32, c.rule)
		c.scene(s)
		r := s.waits(c.list)
		s.plan()
		if r.Course == nil || r.Course.EP[0].Nodes != c.want || r.Choices[r.Course.Choice][0] != r.Course.EP[0] {
			t.Errorf("%s: %+v, want %d nodes", c.name, r.Course, c.want)
		}
	}
}

// away takes nodes out of service, closed puts others' reservation over them.
func (s *scene) away(n int) {
	gone := s.take(n)
	for i := range s.Snapshot.Nodes {
		s.Snapshot.Nodes[i].Usable = s.Snapshot.Nodes[i].Usable && !slices.Contains(gone, s.Snapshot.Nodes[i].Name)
	}
	s.OutOfService = func(n adapter.Node) bool { return !n.Usable }
}
func (s *scene) closed(n int) {
	s.Snapshot.Reservations = append(s.Snapshot.Reservations, adapter.Reservation{Name: "maint", Nodes: s.free[:n], Start: 0, End: 5000})
}

// dumb is the rule share in the words of docs/sizes.md: the most nodes that a job of a reference may get.
func dumb(machine, held int, waiting, all []int, reference int) int {
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

// listOf draws a list of sizes, each faster than the smaller ones, and says its reference.
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

// What users write and clocks show: a size, or a word.
func TestOddListsAndClocksHaveASizeOrAWord(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       int // nodes; 0: it is impossible
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
			s := sceneOf(32, rule)
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

// OAR's passes size OAR's own moldable jobs; the sidecar counts with their references, and tells why they have their sizes.
func TestAJobThatTheBatchSystemMoldsIsExplainedToo(t *testing.T) {
	s := sceneOf(32, sizing.Share{})
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

func TestEveryMoldableJobGetsASizeBetweenItsFloorAndItsPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes = 24
		s := sceneOf(nodes, sizing.Share{})
		held := 0
		var all, waiting []int
		for range rapid.IntRange(0, 4).Draw(t, "running") {
			n := rapid.IntRange(1, 5).Draw(t, "holds")
			s.runsOrdinary(n, rapid.Int64Range(50, 900).Draw(t, "left"))
			held, all = held+n, append(all, n)
		}
		if rapid.Bool().Draw(t, "a moldable one runs") {
			s.runs("2x1000s|3x900s", 1)
			held, all = held+3, append(all, 3) // of 3 nodes, and 2·1000² is less than 3·900²
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
			target := dumb(nodes, held, waiting, all, reference)
			floor := (reference + 1) / 2
			var may []int
			for _, ep := range r.Choices {
				if ep[0].Nodes >= floor && ep[0].Nodes <= target {
					may = append(may, ep[0].Nodes)
				}
			}
			if may == nil { // the least that is not below the floor
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
