package place_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/place"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// old returns a job's earlier nodes: pairs of a beginning and a node.
func old(pairs ...int) []place.Named {
	var named []place.Named
	for i := 0; i < len(pairs); i += 2 {
		named = append(named, place.Named{Layer: place.Layer{From: core.Time(pairs[i]), Count: 1}, Nodes: pairs[i+1 : i+2]})
	}
	return named
}

func TestName(t *testing.T) {
	const ever = core.Forever
	for _, c := range []struct {
		name     string
		nodes    int
		claims   []place.Claim
		requests []place.Request
		want     [][][]int // nodes of each layer of each request; if a request fails, its last element is nil
	}{
		{"the lowest free nodes serve a new job", 4, []place.Claim{{1, -9, 20}},
			[]place.Request{{Job: 1, Start: 0, EP: epOf("2x10")}},
			[][][]int{{{0, 2}}}},
		{"held nodes stay, those that leave last in the layer that lasts longest", 5, nil,
			[]place.Request{{Job: 1, EP: epOf("3x10 1x10 2x10"), Held: []int{4, 2, 3}}},
			[][][]int{{{4}, {2, 3}, {0}}}},
		{"a held node stays even when it is down for everybody else", 3, []place.Claim{{2, 0, ever}},
			[]place.Request{{Job: 1, EP: epOf("2x10"), Held: []int{2, 0}}, {Job: 2, EP: epOf("1x10")}},
			[][][]int{{{2, 0}}, {{1}}}},
		{"a job that holds too few is given the rest", 3, nil,
			[]place.Request{{Job: 1, EP: epOf("3x10"), Held: []int{2}}},
			[][][]int{{{2, 0, 1}}}},
		{"a node freed at a second can be given in that second", 2, []place.Claim{{0, -5, 7}, {1, -5, 9}},
			[]place.Request{{Job: 1, Start: 7, EP: epOf("1x5")}, {Job: 2, Start: 9, EP: epOf("1x1")}},
			[][][]int{{{0}}, {{1}}}},
		{"so can one that another layer leaves", 2, nil,
			[]place.Request{{Job: 1, EP: epOf("1x5 2x5")}, {Job: 2, EP: epOf("1x5")}, {Job: 3, Start: 10, EP: epOf("2x1")}},
			[][][]int{{{0}, {1}}, {{1}}, {{0, 1}}}},
		{"of two that begin together the earlier request chooses first", 2, nil,
			[]place.Request{{Job: 2, EP: epOf("1x5")}, {Job: 1, EP: epOf("1x5")}},
			[][][]int{{{0}}, {{1}}}},
		{"a short job takes the gap before a reservation, and leaves the long ones to others", 2, []place.Claim{{1, 10, 20}},
			[]place.Request{{Job: 1, EP: epOf("1x10")}, {Job: 2, EP: epOf("1x11")}},
			[][][]int{{{1}}, {{0}}}},
		{"names given before stay", 4, nil,
			[]place.Request{{Job: 1, EP: epOf("1x20")}, {Job: 2, Start: 5, EP: epOf("1x10 2x10"), Prefer: old(5, 0, 15, 3)}},
			[][][]int{{{1}}, {{0}, {3}}}},
		{"old names give way when somebody would have none", 2, []place.Claim{{1, -5, 6}},
			[]place.Request{{Job: 1, EP: epOf("1x10")}, {Job: 2, Start: 6, EP: epOf("1x10"), Prefer: old(6, 0)}},
			[][][]int{{{0}}, {{1}}}},
		{"firm names do not: the other goes without", 2, []place.Claim{{1, -5, 6}},
			[]place.Request{{Job: 1, EP: epOf("1x10")}, {Job: 2, Start: 6, EP: epOf("1x10"), Prefer: old(6, 0), Firm: true}},
			[][][]int{{nil}, {{0}}}},
		{"firm names give way to another firm request", 2, []place.Claim{{1, -5, 6}},
			[]place.Request{{Job: 1, EP: epOf("1x10"), Firm: true}, {Job: 2, Start: 6, EP: epOf("1x10"), Prefer: old(6, 0), Firm: true}},
			[][][]int{{{0}}, {{1}}}},
		{"around firm names the others change theirs", 3, []place.Claim{{1, -5, 6}},
			[]place.Request{{Job: 1, EP: epOf("1x10")}, {Job: 2, Start: 6, EP: epOf("1x10"), Prefer: old(6, 0)}, {Job: 3, Start: 7, EP: epOf("1x3"), Prefer: old(7, 2), Firm: true}},
			[][][]int{{{0}}, {{1}}, {{2}}}},
		{"a request that fails anyway costs no other request its earlier nodes", 3, nil,
			[]place.Request{{Job: 1, EP: epOf("4x10")}, {Job: 2, EP: epOf("1x20")}, {Job: 3, Start: 5, EP: epOf("1x10"), Prefer: old(5, 0)}},
			[][][]int{{nil}, {{1}}, {{0}}}},
		{"a preferred node with a claim in between is not taken", 2, []place.Claim{{0, 12, 30}},
			[]place.Request{{Job: 1, Start: 5, EP: epOf("1x10"), Prefer: old(5, 0)}, {Job: 2, Start: 5, EP: epOf("2x10"), Prefer: old(5, 1)}},
			[][][]int{{{1}}, {nil}}},
		{"who cannot be named does not stop the others", 2, nil,
			[]place.Request{{Job: 1, EP: epOf("3x10")}, {Job: 2, EP: epOf("2x10")}},
			[][][]int{{nil}, {{0, 1}}}},
		{"a growth that cannot be named leaves what is held", 2, []place.Claim{{1, 0, ever}},
			[]place.Request{{Job: 1, EP: epOf("1x10 2x10"), Held: []int{0}}},
			[][][]int{{{0}, nil}}},
		{"what comes later lies above the first node of a job", 4, []place.Claim{{3, 30, 90}},
			[]place.Request{{Job: 1, EP: epOf("1x10 3x10"), Held: []int{1}}},
			[][][]int{{{1}, {3, 2}}}},
		{"also for a job that waits", 3, []place.Claim{{0, -9, 8}},
			[]place.Request{{Job: 1, Start: 5, EP: epOf("1x5 2x5")}},
			[][][]int{{{1}, {2}}}},
		{"but where there is none it takes one below", 3, nil,
			[]place.Request{{Job: 1, EP: epOf("1x10 3x10"), Held: []int{1}}},
			[][][]int{{{1}, {2, 0}}}},
		{"even those that it was to have, when its first nodes are others now", 6, nil,
			[]place.Request{{Job: 1, Start: 9, EP: epOf("2x10 4x10"), Prefer: old(0, 0, 0, 1, 10, 2, 10, 3)}},
			[][][]int{{{2, 3}, {4, 5}}}},
		{"but they stay when there are no others", 4, nil,
			[]place.Request{{Job: 1, Start: 9, EP: epOf("2x10 4x10"), Prefer: old(0, 1, 0, 0, 10, 2, 10, 3)}},
			[][][]int{{{2, 3}, {1, 0}}}},
		{"and when it runs, and they are reserved for it", 6, nil,
			[]place.Request{{Job: 1, EP: epOf("2x10 4x10"), Held: []int{2, 3}, Prefer: old(10, 0, 10, 1), Firm: true}},
			[][][]int{{{2, 3}, {0, 1}}}},
		{"nodes that do not exist are ignored", 1, []place.Claim{{-1, 0, 9}, {1, 0, 9}, {0, 9, 9}},
			[]place.Request{{Job: 1, EP: epOf("1x5"), Held: []int{7, -7}, Prefer: old(0, 3, 0, -1)}},
			[][][]int{{{0}}}},
		{"a node is held once", 2, nil,
			[]place.Request{{Job: 1, EP: epOf("1x5"), Held: []int{1}}, {Job: 2, EP: epOf("1x5"), Held: []int{1}}},
			[][][]int{{{1}}, {{0}}}},
		{"a machine without nodes names nothing", -1, nil,
			[]place.Request{{Job: 1, EP: epOf("1x5")}},
			[][][]int{{nil}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := place.Name(c.nodes, c.claims, c.requests)
			names := make([][][]int, len(got))
			for i, n := range got {
				if n.Job != c.requests[i].Job {
					t.Errorf("naming %d is of job %d", i, n.Job)
				}
				failed := false
				for _, l := range n.Layers {
					names[i] = append(names[i], l.Nodes)
					failed = failed || len(l.Nodes) < l.Count
				}
				if failed != (n.Err != nil) {
					t.Errorf("job %d: layers %v, error %v", n.Job, n.Layers, n.Err)
				}
			}
			if d := cmp.Diff(c.want, names); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAShortageSaysWhichLayerLacksHowMany(t *testing.T) {
	named := place.Name(3, []place.Claim{{Node: 2, From: 12, To: 40}}, []place.Request{{Job: 5, EP: epOf("1x10 3x10"), Held: []int{0}}})
	var short *place.ShortageError
	if !errors.As(named[0].Err, &short) {
		t.Fatalf("error %v is not a shortage", named[0].Err)
	}
	want := place.ShortageError{Job: 5, Layer: place.Layer{From: 10, To: 20, Count: 2, Step: 1}, Free: 1, Needs: 2}
	if d := cmp.Diff(want, *short); d != "" {
		t.Error(d)
	}
}

// drawing is a random case: some nodes are claimed, running jobs hold nodes, and jobs wait.
type drawing struct {
	nodes    int
	claims   []place.Claim
	requests []place.Request
}

func draw(t *rapid.T, future bool) drawing {
	d := drawing{nodes: rapid.IntRange(1, 7).Draw(t, "machine")}
	node := rapid.IntRange(0, d.nodes-1)
	first := -3
	if future {
		first = 12
	}
	for range rapid.IntRange(0, 5).Draw(t, "claims") {
		from := core.Time(rapid.IntRange(-3, max(first, -1)).Draw(t, "from"))
		d.claims = append(d.claims, place.Claim{Node: node.Draw(t, "claimed"), From: from, To: from + core.Time(rapid.IntRange(1, 12).Draw(t, "for"))})
	}
	free := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
		for n := range d.nodes {
			if !slices.ContainsFunc(d.claims, func(c place.Claim) bool { return c.Node == n }) && !yield(n) {
				return
			}
		}
	})).Draw(t, "free")
	for i := range rapid.IntRange(1, 6).Draw(t, "requests") {
		w := place.Request{Job: core.JobID(i), EP: drawEP(t, 4, 5, 4)}
		if held := min(w.EP[0].Nodes, len(free)); rapid.Bool().Draw(t, "runs") {
			held = rapid.IntRange(0, held).Draw(t, "held")
			w.Held, free = free[:held], free[held:]
		} else {
			w.Start = core.Time(rapid.IntRange(0, 9).Draw(t, "start"))
			for range rapid.IntRange(0, 3).Draw(t, "old") {
				w.Prefer = append(w.Prefer, old(rapid.IntRange(0, 9).Draw(t, "from"), rapid.IntRange(-1, d.nodes).Draw(t, "prefer"))...)
			}
		}
		d.requests = append(d.requests, w)
	}
	return d
}

// check fails if the result violates what Name guarantees in every case.
func (d drawing) check(t *rapid.T, namings []place.Naming) {
	used := map[[2]core.Time]core.JobID{} // by node and second
	for i, n := range namings {
		w := d.requests[i]
		var kept []int
		for _, l := range n.Layers {
			if len(l.Nodes) > l.Count || n.Err == nil && len(l.Nodes) != l.Count {
				t.Fatalf("job %d: layer %+v, error %v", n.Job, l, n.Err)
			}
			if l.From == w.Start {
				kept = append(kept, l.Nodes...)
			}
			for _, node := range l.Nodes {
				for x := l.From; x < l.To; x++ {
					at := [2]core.Time{core.Time(node), x}
					if other, taken := used[at]; taken {
						t.Fatalf("node %d at second %d is in jobs %d and %d", node, x, other, n.Job)
					}
					used[at] = n.Job
					if d.claimed(node, x) && !slices.Contains(w.Held, node) {
						t.Fatalf("node %d at second %d is claimed and in job %d", node, x, n.Job)
					}
				}
			}
		}
		for _, node := range w.Held {
			if !slices.Contains(kept, node) {
				t.Fatalf("job %d holds node %d and loses it: %v", n.Job, node, n.Layers)
			}
		}
	}
}

func (d drawing) claimed(node int, x core.Time) bool {
	return slices.ContainsFunc(d.claims, func(c place.Claim) bool { return c.Node == node && c.From <= x && x < c.To })
}

// fits reports whether the claims and requests together fit the machine in every second.
func (d drawing) fits() bool {
	for x := range core.Time(40) {
		sum := 0
		for node := range d.nodes {
			if d.claimed(node, x) {
				sum++
			}
		}
		for _, w := range d.requests {
			sum += w.EP.At(x - w.Start)
		}
		if sum > d.nodes {
			return false
		}
	}
	return true
}

func TestANodeIsNeverInTwoJobsAndHeldNodesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, true)
		d.check(t, place.Name(d.nodes, d.claims, d.requests))
	})
}

func TestWithoutFutureClaimsEveryRequestIsServedIfTheCountsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, false)
		fits := d.fits()
		named := place.Name(d.nodes, d.claims, d.requests)
		d.check(t, named)
		all := !slices.ContainsFunc(named, func(n place.Naming) bool { return n.Err != nil })
		if all != fits {
			t.Fatalf("the counts fit: %v; every request is named: %v\n%+v", fits, all, named)
		}
	})
}

func TestALoneLayerFailsOnlyWhenTooFewNodesAreFreeThroughout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, true)
		d.requests = []place.Request{{Job: 1, Start: 3, EP: core.EP{{Duration: 5, Nodes: rapid.IntRange(1, 7).Draw(t, "count")}}, Prefer: d.requests[0].Prefer}}
		free := 0
		for node := range d.nodes {
			busy := false
			for x := core.Time(3); x < 8; x++ {
				busy = busy || d.claimed(node, x)
			}
			if !busy {
				free++
			}
		}
		named := place.Name(d.nodes, d.claims, d.requests)
		if (named[0].Err == nil) != (d.requests[0].EP[0].Nodes <= free) {
			t.Fatalf("%d nodes free throughout, asked for %d, error %v", free, d.requests[0].EP[0].Nodes, named[0].Err)
		}
	})
}

// Jobs whose nodes are reserved have firm requests. Other requests change nothing for firm requests that can
// keep their nodes, whether or not the others can be served.
func TestFirmRequestsKeepTheirNodesWhateverTheOthersRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, true)
		firm := slices.DeleteFunc(slices.Clone(d.requests), func(w place.Request) bool { return int(w.Job)%2 == 1 })
		before := place.Name(d.nodes, d.claims, firm)
		if slices.ContainsFunc(before, func(n place.Naming) bool { return n.Err != nil }) {
			return
		}
		want := map[core.JobID]place.Naming{}
		for _, n := range before {
			want[n.Job] = n
		}
		for i := range d.requests {
			if n, ok := want[d.requests[i].Job]; ok {
				d.requests[i].Prefer, d.requests[i].Firm = n.Layers, true
			} else if len(d.requests[i].Held) > 0 {
				return // another job holds this node
			}
		}
		named := place.Name(d.nodes, d.claims, d.requests)
		d.check(t, named)
		for _, n := range named {
			if w, ok := want[n.Job]; ok {
				if d := cmp.Diff(w, n); d != "" {
					t.Fatal(d)
				}
			}
		}
	})
}

func TestNamesGivenBeforeStayWhenNothingChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, true)
		before := place.Name(d.nodes, d.claims, d.requests)
		if slices.ContainsFunc(before, func(n place.Naming) bool { return n.Err != nil }) {
			return
		}
		for i := range d.requests {
			d.requests[i].Prefer = before[i].Layers
		}
		if d := cmp.Diff(before, place.Name(d.nodes, d.claims, d.requests), cmpopts.SortSlices(func(a, b int) bool { return a < b })); d != "" {
			t.Fatal(d)
		}
	})
}

func TestWhatComesLaterLiesAboveAJobsFirstNodeWhereverItCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, rapid.Bool().Draw(t, "future"))
		namings := place.Name(d.nodes, d.claims, d.requests)
		for i, n := range namings {
			if n.Err != nil {
				continue
			}
			first := d.nodes
			for _, l := range n.Layers {
				if l.From == d.requests[i].Start && len(l.Nodes) > 0 {
					first = min(first, slices.Min(l.Nodes))
				}
			}
			if held := d.requests[i].Held; len(held) > 0 {
				first = held[0]
			}
			for _, l := range n.Layers {
				if l.From == d.requests[i].Start || !slices.ContainsFunc(l.Nodes, func(node int) bool { return node < first }) {
					continue
				}
				for node := first + 1; node < d.nodes; node++ {
					if d.free(node, l.Layer, namings) {
						t.Fatalf("job %d begins on node %d, and has %v from second %d on, with node %d free", n.Job, first, l.Nodes, l.From, node)
					}
				}
			}
		}
	})
}

// free reports whether a node is in no claim and no layer while a layer lasts.
func (d drawing) free(node int, during place.Layer, namings []place.Naming) bool {
	for _, n := range namings {
		for _, l := range n.Layers {
			if l.From < during.To && during.From < l.To && slices.Contains(l.Nodes, node) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(d.claims, func(c place.Claim) bool {
		return c.Node == node && c.From < during.To && during.From < c.To
	})
}

// busyMachine returns the claims and requests of a machine of n nodes with running jobs on all nodes, and of a queue of 2,500 jobs.
func busyMachine(n int) ([]place.Claim, []place.Request) {
	r := rand.New(rand.NewPCG(1, 2))
	ends := make([]core.Time, n)
	var claims []place.Claim
	for node := range n {
		ends[node] = 1 + core.Time(r.IntN(3600))
		claims = append(claims, place.Claim{Node: node, From: -100, To: ends[node]})
	}
	requests := make([]place.Request, 0, 2500)
	for i := range cap(requests) {
		slices.Sort(ends) // every job takes the nodes that become free first, so that the counts fit
		k := 1 << r.IntN(6)
		start, long := ends[2*k-1], core.Time(60+r.IntN(7200))
		ep := core.EP{{Duration: long, Nodes: k}}
		last := start + long
		if i%5 == 0 {
			ep = core.EP{ep[0], {Duration: long, Nodes: 2 * k}, ep[0]}
			last = start + 3*long
		}
		for j := range 2 * k {
			ends[j] = last
		}
		requests = append(requests, place.Request{Job: core.JobID(i), Start: start, EP: ep})
	}
	return claims, requests
}

func BenchmarkName(b *testing.B) {
	for _, size := range []struct {
		name  string
		nodes int
	}{{"1000", 1000}, {"10000", 10000}} {
		claims, requests := busyMachine(size.nodes)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, n := range place.Name(size.nodes, claims, requests) {
					if n.Err != nil {
						b.Fatal(n.Err)
					}
				}
			}
		})
	}
	b.Run("1000 with old names", func(b *testing.B) {
		claims, requests := busyMachine(1000)
		for i, n := range place.Name(1000, claims, requests) {
			requests[i].Prefer = n.Layers
		}
		b.ReportAllocs()
		for b.Loop() {
			place.Name(1000, claims, requests)
		}
	})
}

func TestNameAcceptsAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 9), rapid.SampledFrom([]core.Time{core.Forever, -core.Forever}))
		number := rapid.OneOf(rapid.Int(), rapid.IntRange(-2, 5))
		numbers := rapid.SliceOfN(number, 0, 4)
		profile := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
			return core.Step{Duration: wild.Draw(t, "duration"), Nodes: number.Draw(t, "nodes")}
		}), 0, 4)
		d := drawing{nodes: rapid.IntRange(-1, 5).Draw(t, "machine")}
		var jobs []core.Allocation
		for i := range rapid.IntRange(0, 4).Draw(t, "requests") {
			w := place.Request{Job: core.JobID(i), Start: wild.Draw(t, "start"), EP: profile.Draw(t, "ep"), Held: numbers.Draw(t, "held")}
			for range rapid.IntRange(0, 2).Draw(t, "old") {
				w.Prefer = append(w.Prefer, place.Named{Layer: place.Layer{From: wild.Draw(t, "from"), To: wild.Draw(t, "to")}, Nodes: numbers.Draw(t, "prefer")})
			}
			d.requests = append(d.requests, w)
			jobs = append(jobs, core.Allocation{Job: w.Job, Start: w.Start, EP: w.EP})
		}
		for range rapid.IntRange(0, 4).Draw(t, "claims") {
			d.claims = append(d.claims, place.Claim{Node: number.Draw(t, "node"), From: wild.Draw(t, "claimed from"), To: wild.Draw(t, "claimed to")})
		}
		for _, n := range place.Name(d.nodes, d.claims, d.requests) {
			for _, l := range n.Layers {
				if l.From >= l.To || n.Err == nil && len(l.Nodes) != l.Count {
					t.Fatalf("%+v, error %v", l, n.Err)
				}
				for _, node := range l.Nodes {
					if node < 0 || node >= d.nodes {
						t.Fatalf("node %d of %d", node, d.nodes)
					}
				}
			}
		}
		if named, err := place.Assign(d.nodes, jobs, nil); err == nil && len(named) != len(jobs) {
			t.Fatalf("%d answers to %d jobs", len(named), len(jobs))
		}
	})
}
