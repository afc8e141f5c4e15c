package moldable_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

const launcherCases = 10_000

// someView draws a small view, and the second at which it begins.
func someView(random *rand.Rand, clusters int) (moldable.View, core.Time) {
	view := make(moldable.View, clusters)
	for c := range view {
		view[c].Hosts = 1 + random.IntN(5)
		p := profile.New(view[c].Hosts)
		for range random.IntN(5) {
			from := random.Int64N(14)
			to := from + 1 + random.Int64N(8)
			if n := view[c].Hosts - p.Max(from, to); n > 0 {
				p.Change(from, to, 1+random.IntN(n))
			}
		}
		if random.IntN(4) > 0 { // otherwise there are no points and nothing is occupied
			view[c].Points = p.Points(0, nil)
		}
	}
	return view, random.Int64N(6)
}

// fits reports whether the hosts of a cluster are free in all of [from, from+d).
func fits(c moldable.Cluster, hosts int, from, d core.Time) bool {
	for t := from; t < from+d; t++ {
		if c.Free(t) < hosts {
			return false
		}
	}
	return true
}

// shrinking draws a walltime that does not grow with the hosts.
func shrinking(random *rand.Rand, clusters int) func(cluster, hosts int) core.Time {
	table := make([][]core.Time, clusters)
	for c := range table {
		d := 1 + random.Int64N(9)
		table[c] = []core.Time{0}
		for range 6 {
			table[c] = append(table[c], d)
			d = max(1, d-random.Int64N(3))
		}
	}
	return func(c, n int) core.Time { return table[c][n] }
}

// The second implementation tries every start and every size.
func TestAMoldableRequestIsTheEarliestOfAllStartsAndSizes(t *testing.T) {
	for seed := range uint64(launcherCases) {
		random := rand.New(rand.NewPCG(1, seed))
		view, now := someView(random, 1+random.IntN(3))
		m := moldable.Moldable{Least: 1 + random.IntN(3), Walltime: shrinking(random, len(view))}
		m.Most = m.Least + random.IntN(4)*random.IntN(2)
		m.Most = min(m.Most, 5)
		if m.Least > m.Most {
			m.Least = m.Most
		}
		want := moldable.Found{Start: core.Forever}
		for start := now; start < now+60; start++ {
			for c := range view {
				for n := m.Most; n >= m.Least; n-- {
					d := m.Walltime(c, n)
					if fits(view[c], n, start, d) && (!want.OK || start+d < want.End()) {
						want = moldable.Found{Request: moldable.Request{Parts: []moldable.Part{{Cluster: c, Hosts: n}}, Walltime: d}, Start: start, OK: true}
					}
				}
			}
		}
		if got := m.Find(view, now); !same(got, want) {
			t.Fatalf("seed %d: view %v from %d on, %d to %d hosts: found %+v, the earliest is %+v", seed, view, now, m.Least, m.Most, got, want)
		}
	}
}

func same(a, b moldable.Found) bool {
	return a.OK == b.OK && (!a.OK || a.Start == b.Start && a.Walltime == b.Walltime && slices.Equal(a.Parts, b.Parts))
}

// someSelection draws a monotone selection. The selection has a few vectors of hosts, each with a walltime, and takes the
// fastest vector that fits into the offer.
func someSelection(random *rand.Rand, view moldable.View) moldable.Selection {
	type option struct {
		hosts    []int
		walltime core.Time
	}
	var options []option
	for c := range view { // one host is always enough
		o := option{make([]int, len(view)), 9 + random.Int64N(4)}
		o.hosts[c] = 1
		options = append(options, o)
	}
	for range 1 + random.IntN(6) {
		o := option{make([]int, len(view)), 1 + random.Int64N(10)}
		for c := range o.hosts {
			o.hosts[c] = random.IntN(view[c].Hosts + 1)
		}
		if slices.Max(o.hosts) > 0 {
			options = append(options, o)
		}
	}
	return func(offered []int) ([]int, core.Time) {
		var best *option
		for i := range options {
			o := &options[i]
			possible := true
			for c, n := range o.hosts {
				possible = possible && n <= offered[c]
			}
			if possible && (best == nil || o.walltime < best.walltime) {
				best = o
			}
		}
		return best.hosts, best.walltime
	}
}

// The second implementation tries every start and every duration. It offers the hosts that stay free for this duration and
// checks whether the selection ends within it.
func TestAComplexRequestIsTheEarliestOfAllStartsAndDurations(t *testing.T) {
	for seed := range uint64(launcherCases) {
		random := rand.New(rand.NewPCG(2, seed))
		view, now := someView(random, 1+random.IntN(3))
		f := someSelection(random, view)
		end, start := core.Forever, core.Forever
		for s := now; s < now+60; s++ {
			for d := core.Time(1); d <= 15; d++ {
				offered := make([]int, len(view))
				for c := range view {
					for n := view[c].Hosts; n > 0 && offered[c] == 0; n-- {
						if fits(view[c], n, s, d) {
							offered[c] = n
						}
					}
				}
				if slices.Max(offered) == 0 {
					continue
				}
				if _, walltime := f(offered); walltime <= d && s+walltime < end {
					end, start = s+walltime, s
				}
			}
		}
		got, err := moldable.NewComplex(f).Find(view, now)
		if err != nil || !got.OK || got.End() != end || got.Start != start {
			t.Fatalf("seed %d: view %v from %d on: found %+v (%v), the earliest is from %d to %d", seed, view, now, got, err, start, end)
		}
		for _, p := range got.Parts {
			if !fits(view[p.Cluster], p.Hosts, got.Start, got.Walltime) {
				t.Fatalf("seed %d: view %v: %+v does not fit", seed, view, got)
			}
		}
	}
}

func TestAComplexApplicationAsksOnceForEachVector(t *testing.T) {
	asked := 0
	x := moldable.NewComplex(func(offered []int) ([]int, core.Time) { asked++; return offered, 7 })
	for now := range core.Time(5) {
		if found, err := x.Find(moldable.View{{Hosts: 3}, {Hosts: 2}}, now); err != nil || found.Start != now || len(found.Parts) != 2 {
			t.Fatalf("at %d: %+v, %v", now, found, err)
		}
	}
	kept := 0
	for range x.Asked {
		kept++
	}
	if asked != 1 || kept != 1 {
		t.Errorf("asked %d times, %d answers are kept", asked, kept)
	}
}

func TestASelectionThatIsNotMonotoneIsFoundOut(t *testing.T) {
	// One host is free from now on and a second host later. The selection takes longer with both hosts.
	view := moldable.View{{Hosts: 2, Points: []profile.Point{{At: 0, Used: 1}, {At: 5}}}}
	x := moldable.NewComplex(func(offered []int) ([]int, core.Time) { return offered, core.Time(10 * offered[0]) })
	_, err := x.Find(view, 0)
	var wrong *moldable.NotMonotoneError
	if !errors.As(err, &wrong) || !slices.Equal(wrong.More, []int{2}) || !slices.Equal(wrong.Fewer, []int{1}) || wrong.WithMore != 20 || wrong.WithFewer != 10 {
		t.Errorf("%v", err)
	}
}

func TestASelectionThatTakesWhatItCannotHaveIsRefused(t *testing.T) {
	for name, f := range map[string]moldable.Selection{
		"more":     func([]int) ([]int, core.Time) { return []int{3}, 1 },
		"less":     func([]int) ([]int, core.Time) { return []int{-1}, 1 },
		"nothing":  func([]int) ([]int, core.Time) { return []int{0}, 1 },
		"no time":  func([]int) ([]int, core.Time) { return []int{1}, 0 },
		"for ever": func([]int) ([]int, core.Time) { return []int{1}, core.MaxTotal + 1 },
		"nobody":   func([]int) ([]int, core.Time) { return nil, 1 },
	} {
		_, err := moldable.NewComplex(f).Find(moldable.View{{Hosts: 2}}, 0)
		if wrong := (*moldable.WrongChoiceError)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After the first calls, a launcher allocates no more memory.
func TestLauncherAllocatesNothingAfterTheFirstCalls(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	view, now := someView(random, 4)
	m := moldable.Moldable{Least: 1, Most: 3, Walltime: shrinking(random, len(view))}
	x := moldable.NewComplex(someSelection(random, view))
	find := func() {
		if _, err := x.Find(view, now); err != nil || !m.Find(view, now).OK {
			t.Fatal(err)
		}
	}
	find()
	if n := testing.AllocsPerRun(100, find); n > 0 {
		t.Errorf("finding allocates %g times", n)
	}
}

func TestNoRequestIsFoundWhereNoHostIs(t *testing.T) {
	m := moldable.Moldable{Least: 2, Most: 4, Walltime: func(int, int) core.Time { return 1 }}
	for _, view := range []moldable.View{nil, {{Hosts: 1}}, {{}, {Hosts: 1}}} {
		if found := m.Find(view, 3); found.OK {
			t.Errorf("%v: %+v", view, found)
		}
	}
	x := moldable.NewComplex(func(offered []int) ([]int, core.Time) { return offered, 1 })
	if found, err := x.Find(moldable.View{{}, {}}, 3); found.OK || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
}
