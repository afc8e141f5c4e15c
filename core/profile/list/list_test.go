package list_test

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/profile/list"
)

// seconds is the plain implementation: the nodes used in each second from -width to width. Only occupations without
// an end are drawn near its ends.
type seconds [2*width + 1]int

const width = 80

func (s *seconds) at(t core.Time) *int { return &s[max(-width, min(t, width))+width] }

func (s *seconds) add(from, to core.Time, n int) {
	for t := max(from, -width); t < to && t <= width; t++ {
		*s.at(t) += n
	}
}

// most returns the largest number in [from, to).
func (s *seconds) most(from, to core.Time) int {
	most := *s.at(from)
	for t := from; t < to && t <= width; t++ {
		most = max(most, *s.at(t))
	}
	return most
}

// fit tries every second in [from, until): from it on, at most `most` nodes must be used for d seconds.
func (s *seconds) fit(most int, d, from, until core.Time) (core.Time, bool) {
	for t := from; t < until && t <= width; t++ {
		if s.most(t, t+max(d, 1)) <= most {
			return t, true
		}
	}
	return core.Forever, false
}

// room is a list, and the plain implementation with the same occupation.
type room struct {
	list  list.List
	plain seconds
}

// check compares the two implementations, and checks the invariant of the list.
func (r *room) check(t *rapid.T) {
	l := &r.list
	if len(l.At) != len(l.Used) || len(l.At) == 0 || l.At[0] != -core.Forever {
		t.Fatalf("the list has the points %v and %v", l.At, l.Used)
	}
	for i := 1; i < len(l.At); i++ {
		if l.At[i] <= l.At[i-1] || l.Used[i] == l.Used[i-1] || l.EndOf(i-1) != l.At[i] {
			t.Fatalf("point %d of %v, %v is none", i, l.At, l.Used)
		}
	}
	if l.EndOf(len(l.At)-1) != list.EndOfTime {
		t.Fatal("the last point ends")
	}
	for at := core.Time(-width); at <= width; at++ {
		i := l.Index(at)
		if got, want := l.Used[i], *r.plain.at(at); got != want || l.Near(at) != i {
			t.Fatalf("at %d %d nodes are used (point %d, Near says %d), want %d: %v %v", at, got, i, l.Near(at), want, l.At, l.Used)
		}
	}
}

var (
	instants = rapid.Int64Range(-20, 40)
	lengths  = rapid.Int64Range(1, 15)
	counts   = rapid.IntRange(0, 6)
	steps    = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
		return core.Step{Duration: rapid.OneOf(rapid.Int64Range(0, 8), rapid.Just(core.Forever)).Draw(t, "duration"), Nodes: counts.Draw(t, "nodes")}
	}), 1, 5)
)

// change adds or removes the steps of a profile.
func (r *room) change(t *rapid.T) {
	start, ep, sign := instants.Draw(t, "start"), core.EP(steps.Draw(t, "steps")), rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
	at := start
	for _, s := range ep {
		end := list.Later(at, s.Duration)
		r.plain.add(at, end, sign*s.Nodes)
		at = end
	}
	for at := start; len(ep) > 0; {
		var c list.Change
		if c, at, ep = list.NextChange(at, ep, sign); c.From < c.To {
			r.list.Change(c)
		}
	}
}

// rectangle adds nodes for a time, or forever.
func (r *room) rectangle(t *rapid.T) {
	from, n := instants.Draw(t, "from"), rapid.IntRange(1, 6).Draw(t, "nodes")
	to := rapid.OneOf(rapid.Just(list.EndOfTime), rapid.Int64Range(from+1, from+15)).Draw(t, "to")
	r.list.Change(list.Rectangle(from, to, n))
	r.plain.add(from, to, n)
}

// slide adds a rectangle and moves it: second by second, as long as there is room in front of it.
func (r *room) slide(t *rapid.T) {
	start, d, n, most := instants.Draw(t, "start"), lengths.Draw(t, "length"), rapid.IntRange(1, 6).Draw(t, "nodes"), counts.Draw(t, "most")
	earliest := start - lengths.Draw(t, "earliest")
	r.list.Change(list.Rectangle(start, start+d, n))
	r.plain.add(start, start+d, n)
	want := start
	for want > earliest && *r.plain.at(want - 1) <= most {
		want--
	}
	if got := r.list.Slide(n, most, d, start, earliest); got != want {
		t.Fatalf("%d nodes slide from %d to %d, want %d: %v %v", n, start, got, want, r.list.At, r.list.Used)
	}
	r.plain.add(start, start+d, -n)
	r.plain.add(want, want+d, n)
}

// forget discards everything before a time.
func (r *room) forget(t *rapid.T) {
	before := rapid.Int64Range(-30, 0).Draw(t, "before")
	r.list.Forget(before)
	used := *r.plain.at(before)
	for at := core.Time(-width); at < before; at++ {
		*r.plain.at(at) = used
	}
}

// search compares all queries.
func (r *room) search(t *rapid.T) {
	l, s := &r.list, &r.plain
	most, from, d := rapid.IntRange(-3, 9).Draw(t, "most"), instants.Draw(t, "from"), rapid.Int64Range(0, 20).Draw(t, "length")
	to := from + lengths.Draw(t, "to")
	start, ok := l.Fit(most, d, from)
	ok = ok && start <= width // a need without end ends with the array
	if want, fits := s.fit(most, d, from, width+1); ok != fits || ok && start != want {
		t.Fatalf("Fit(%d, %d, %d) is %d, %v, want %d, %v: %v %v", most, d, from, start, ok, want, fits, l.At, l.Used)
	}
	start, ok, _ = l.Earlier(most, max(d, 1), from, to)
	if want, fits := s.fit(most, d, from, to); ok != fits || ok && start != want {
		t.Fatalf("Earlier(%d, %d, %d, %d) is %d, %v, want %d, %v: %v %v", most, d, from, to, start, ok, want, fits, l.At, l.Used)
	}
	if got, want := l.Max(from, to), s.most(from, to); got != want {
		t.Fatalf("Max(%d, %d) is %d, want %d: %v %v", from, to, got, want, l.At, l.Used)
	}
	first, last := core.Forever, core.Forever
	for at := to - 1; at >= from; at-- {
		if *s.at(at) > most {
			first, last = at, max(at, min(last, at))
		}
	}
	if got, above := l.FirstAbove(most, from, to); above != (first < core.Forever) || above && got != first {
		t.Fatalf("FirstAbove(%d, %d, %d) is %d, %v, want %d: %v %v", most, from, to, got, above, first, l.At, l.Used)
	}
	end := core.Time(0)
	for at := from; at < to; at++ {
		if *s.at(at) > most {
			end = l.EndOf(l.Index(at)) // check has compared the points themselves
		}
	}
	if got, above := l.LastAbove(most, from, to); above != (first < core.Forever) || above && got != end {
		t.Fatalf("LastAbove(%d, %d, %d) is %d, %v, want %d: %v %v", most, from, to, got, above, end, l.At, l.Used)
	}
}

func TestAListIsWhatIsUsedInEachSecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &room{list: list.List{At: []core.Time{-core.Forever}, Used: []int{0}}}
		t.Repeat(map[string]func(*rapid.T){
			"": r.check, "change": r.change, "rectangle": r.rectangle, "slide": r.slide, "forget": r.forget, "search": r.search,
		})
	})
}

func TestSumsOfInstantsStayWithinTime(t *testing.T) {
	for _, c := range []struct{ at, d, want core.Time }{
		{0, 5, 5},
		{-3, 5, 2},
		{core.Forever, 1, core.Forever},
		{1, core.Forever, core.Forever},
		{core.Forever, core.Forever, core.Forever},
		{list.EndOfTime, list.EndOfTime, core.Forever},
		{-core.Forever, core.Forever, 0},
		{-core.Forever, -1, -core.Forever},
	} {
		if got := list.Later(c.at, c.d); got != c.want {
			t.Errorf("%d s after %d is %d, want %d", c.d, c.at, got, c.want)
		}
	}
}

// A profile is split at steps without nodes, and ends at a step that lasts forever.
func TestAProfileIsOneChangeForEachStretchInWhichItHoldsNodes(t *testing.T) {
	for _, c := range []struct {
		name string
		ep   core.EP
		want [][2]core.Time // from, to
	}{
		{"one step", core.EP{{Duration: 5, Nodes: 1}}, [][2]core.Time{{10, 15}}},
		{"three steps", core.EP{{Duration: 5, Nodes: 1}, {Duration: 2, Nodes: 3}, {Duration: 1, Nodes: 2}}, [][2]core.Time{{10, 18}}},
		{"a pause", core.EP{{Duration: 5, Nodes: 1}, {Duration: 2}, {Duration: 1, Nodes: 2}}, [][2]core.Time{{10, 15}, {17, 18}}},
		{"a delay", core.EP{{Duration: 5}, {Duration: 2, Nodes: 1}}, [][2]core.Time{{15, 17}}},
		{"a step without time", core.EP{{Duration: 5, Nodes: 1}, {Nodes: 9}, {Duration: 1, Nodes: 2}}, [][2]core.Time{{10, 15}, {15, 16}}},
		{"no end", core.EP{{Duration: 5, Nodes: 1}, {Duration: core.Forever, Nodes: 2}, {Duration: 1, Nodes: 3}}, [][2]core.Time{{10, list.EndOfTime}}},
	} {
		var got [][2]core.Time
		for at, ep := core.Time(10), c.ep; len(ep) > 0; {
			var change list.Change
			if change, at, ep = list.NextChange(at, ep, 1); change.From < change.To {
				got = append(got, [2]core.Time{change.From, change.To})
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: the changes are %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: the changes are %v, want %v", c.name, got, c.want)
			}
		}
	}
}
