package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/traces/workload"
)

// hand returns a replay written by hand: jobs of one size, and evolving jobs with the sizes that they held.
func hand(nodes int, jobs ...Outcome) (workload.Workload, Result) {
	w := workload.Workload{Name: "hand", Machine: core.Machine{Nodes: nodes}}
	for i, o := range jobs {
		j := workload.Job{Number: int64(i + 1), Submit: o.Start, Run: o.End - o.Start, Request: o.End - o.Start, Size: o.Choice}
		if o.Held != nil {
			j.Choices, j.Size = []core.EP{o.Held}, o.Held.Peak()
		}
		w.Jobs = append(w.Jobs, j)
		jobs[i].Choice = 0
	}
	return w, Result{Policy: "hand", Outcomes: jobs}
}

// picture draws which job holds which node: a row per node, a column per second. Jobs are letters.
func picture(w workload.Workload, r Result, p *Placement) string {
	last := core.Time(0)
	for _, o := range r.Outcomes {
		last = max(last, o.End)
	}
	rows := make([][]byte, w.Machine.Nodes)
	for n := range rows {
		rows[n] = []byte(strings.Repeat(".", int(last)))
	}
	for i := range w.Jobs {
		for _, s := range p.Steps(i, r) {
			for _, span := range s.Nodes {
				for n := span.First; n <= span.Last; n++ {
					for t := s.From; t < s.To; t++ {
						rows[n][t] = "abcdefghijklmnopqrstuvwxyz"[i]
					}
				}
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s\n", row)
	}
	return b.String()
}

func TestJobsGetTheLowestFreeNodesAndEvolvingJobsKeepTheirs(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []Outcome // Choice is the size of a job with one size
		want string
	}{
		{"what ends frees its nodes before another begins", []Outcome{
			{Start: 0, End: 3, Choice: 2}, {Start: 1, End: 6, Choice: 1}, {Start: 3, End: 6, Choice: 3},
		}, `
aaaccc
aaaccc
.bbbbb
...ccc
......
`},
		{"of two that begin together the first of the workload has the lower nodes", []Outcome{
			{Start: 1, End: 3, Choice: 1}, {Start: 1, End: 2, Choice: 3}, {Start: 2, End: 4, Choice: 2},
		}, `
.aa.
.bcc
.bcc
.b..
....
`},
		{"an evolving job grows by the lowest free nodes and frees those that came last", []Outcome{
			{Start: 0, End: 8, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 2, Nodes: 3}, {Duration: 2, Nodes: 2}, {Duration: 2, Nodes: 4}}},
			{Start: 1, End: 4, Choice: 1},
		}, `
aaaaaaaa
.bbb..aa
..aaaaaa
..aa..aa
........
`},
		{"a step without nodes leaves a gap", []Outcome{
			{Start: 0, End: 6, Held: core.EP{{Duration: 2, Nodes: 2}, {Duration: 2, Nodes: 0}, {Duration: 2, Nodes: 1}}},
			{Start: 3, End: 5, Choice: 1},
		}, `
aa.bb.
aa..aa
......
......
......
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, r := hand(5, c.jobs...)
			p, err := Place(w, r)
			if err != nil {
				t.Fatal(err)
			}
			if got := "\n" + picture(w, r, p); got != c.want {
				t.Errorf("drawn%swant%s", got, c.want)
			}
		})
	}
}

func TestOverbookedMachineIsAnError(t *testing.T) {
	w, r := hand(3, Outcome{Start: 0, End: 5, Choice: 2}, Outcome{Start: 4, End: 6, Choice: 2})
	_, err := Place(w, r)
	const want = "place job 2 at second 4: it holds 2 nodes from then on, and only 1 of 3 are free"
	if err == nil || err.Error() != want {
		t.Errorf("Place says %v, want %q", err, want)
	}
}

func TestJobThatNeverBeganHasNoNodes(t *testing.T) {
	w, r := hand(3, Outcome{Start: -1, End: 0, Choice: 2})
	p, err := Place(w, r)
	if err != nil || len(p.Job(0)) > 0 || len(p.Steps(0, r)) > 0 {
		t.Errorf("it has nodes %v, steps %v, error %v", p.Job(0), p.Steps(0, r), err)
	}
}

// drawReplay draws a result that fits its machine. Each job begins as soon as its sizes are free, from a drawn second on.
func drawReplay(t *rapid.T) (workload.Workload, Result) {
	nodes := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(60, 200)).Draw(t, "nodes")
	const horizon = 200
	var used [3 * horizon]int
	var outcomes []Outcome
	for range rapid.IntRange(0, 25).Draw(t, "jobs") {
		var held core.EP
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			held = append(held, core.Step{Duration: rapid.Int64Range(1, 10).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "size")})
		}
		if rapid.Bool().Draw(t, "rigid") {
			held = held[:1]
		}
		start := rapid.Int64Range(0, horizon).Draw(t, "from")
		fits := func() bool {
			for d := range held.Total() {
				if used[start+d]+held.At(d) > nodes {
					return false
				}
			}
			return true
		}
		for !fits() && start < 2*horizon {
			start++
		}
		if !fits() {
			continue
		}
		for d := range held.Total() {
			used[start+d] += held.At(d)
		}
		o := Outcome{Start: start, End: start + held.Total(), Choice: held[0].Nodes}
		if len(held) > 1 {
			o.Held = held
		}
		outcomes = append(outcomes, o)
	}
	return hand(nodes, outcomes...)
}

// naivePlacement does what Place does, in the simplest way. In each second first all jobs free nodes, and then
// all jobs take nodes from a list.
func naivePlacement(w workload.Workload, r Result) [][][]int {
	var (
		last   core.Time
		free   = make([]bool, w.Machine.Nodes)
		held   = make([][]int, len(w.Jobs))
		placed = make([][][]int, len(w.Jobs)) // the nodes of each job in each second, from second 0 on
	)
	for n := range free {
		free[n] = true
	}
	for _, o := range r.Outcomes {
		last = max(last, o.End)
	}
	for now := range last {
		want := make([]int, len(w.Jobs))
		for i, o := range r.Outcomes {
			if now < o.Start || now >= o.End {
				continue
			}
			want[i] = w.Jobs[i].Size
			if o.Held != nil {
				want[i] = o.Held.At(now - o.Start)
			}
		}
		for i := range w.Jobs {
			for len(held[i]) > want[i] {
				n := held[i][len(held[i])-1]
				held[i], free[n] = held[i][:len(held[i])-1], true
			}
		}
		for i := range w.Jobs {
			for n := 0; len(held[i]) < want[i]; n++ {
				if free[n] {
					held[i], free[n] = append(held[i], n), false
				}
			}
			placed[i] = append(placed[i], slices.Clone(held[i]))
		}
	}
	return placed
}

// list returns the nodes of a job in one second.
func (p *Placement) list(i int, r Result, now core.Time) []int {
	var nodes []int
	for _, s := range p.Steps(i, r) {
		if s.From <= now && now < s.To {
			for _, span := range s.Nodes {
				for n := span.First; n <= span.Last; n++ {
					nodes = append(nodes, int(n))
				}
			}
		}
	}
	return nodes
}

func TestPlacementEqualsAPlainListOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r := drawReplay(t)
		p, err := Place(w, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, seconds := range naivePlacement(w, r) {
			for now, want := range seconds {
				slices.Sort(want)
				if got := p.list(i, r, core.Time(now)); !slices.Equal(got, want) {
					t.Fatalf("job %d has nodes %v at second %d, want %v", i, got, now, want)
				}
			}
		}
	})
}

func TestNoNodeIsInTwoJobsAndAnEvolvingJobKeepsItsNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r := drawReplay(t)
		p, err := Place(w, r)
		if err != nil {
			t.Fatal(err)
		}
		for now := range core.Time(600) {
			owner := map[int]int{}
			for i, o := range r.Outcomes {
				nodes := p.list(i, r, now)
				want := 0
				if o.Start <= now && now < o.End {
					want = w.Jobs[i].Size
					if o.Held != nil {
						want = o.Held.At(now - o.Start)
					}
				}
				if len(nodes) != want {
					t.Fatalf("job %d has %d nodes at second %d, want %d", i, len(nodes), now, want)
				}
				for _, n := range nodes {
					if other, taken := owner[n]; taken || n >= w.Machine.Nodes {
						t.Fatalf("node %d is in jobs %d and %d at second %d, on %d nodes", n, other, i, now, w.Machine.Nodes)
					}
					owner[n] = i
				}
				if before := p.list(i, r, now-1); len(before) > 0 && len(nodes) > 0 {
					kept := slices.DeleteFunc(slices.Clone(before), func(n int) bool { return !slices.Contains(nodes, n) })
					if len(kept) != min(len(before), len(nodes)) {
						t.Fatalf("job %d has nodes %v at second %d and %v before: it kept only %v", i, nodes, now, before, kept)
					}
				}
			}
		}
	})
}

func TestNodesAreWrittenAsIntervals(t *testing.T) {
	for want, nodes := range map[string]Nodes{
		"": nil, "7": {{7, 7}}, "0-3 7": {{0, 3}, {7, 7}}, "1-2 5 10-50": {{1, 2}, {5, 5}, {10, 50}}, // the last one is the example of evalys
	} {
		if got := nodes.String(); got != want {
			t.Errorf("%v is written %q, want %q", []Span(nodes), got, want)
		}
	}
}

// A time of millions of years and the index of one of thousands of jobs do not fit together into 64 bits. Then the slower sort is used.
func TestJobsAreSortedOverAnyDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		far := rapid.SampledFrom([]core.Time{100, 1 << 40, 1 << 61}).Draw(t, "far")
		var all []Outcome
		var want []int32
		for job := range rapid.IntRange(0, 30).Draw(t, "jobs") {
			all = append(all, Outcome{Start: rapid.Int64Range(-1, 3).Draw(t, "at") * (far / 3)})
			if all[job].Start >= 0 {
				want = append(want, int32(job))
			}
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(all[a].Start, all[b].Start) })
		if got := byStart(all); !slices.Equal(got, want) {
			t.Fatalf("sorted %v, want %v", got, want)
		}
	})
}

func TestArenaKeepsItsSpans(t *testing.T) {
	var (
		a     arena
		given [][]Span
		at    []stored
		next  int32
	)
	for _, n := range []int{0, 1, piece - 1, 1, 3 * piece, 0, 5, piece, 7} {
		spans := make([]Span, n)
		for i := range spans {
			spans[i] = Span{next, next}
			next++
		}
		given, at = append(given, slices.Clone(spans)), append(at, a.store(spans))
		clear(spans) // the memory belongs to the caller
	}
	for i, want := range given {
		if got := a.at(at[i]); !slices.Equal(got, want) {
			t.Errorf("the %d spans of store %d are not those that were given", len(want), i)
		}
	}
}
