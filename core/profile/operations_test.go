package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/profile/list"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// twins are a Profile and a plain profile to which the same operations were applied.
type twins struct {
	ours  *Profile
	plain *plain
}

// world has some pairs for random operations, and the scale of their times and sizes.
type world struct {
	*rapid.T
	pairs []twins
	unit  core.Time // drawn times are multiples of this time, or nearly so
	span  int       // drawn times reach from 0 to about this many units
	nodes int
}

func newWorld(t *rapid.T) *world {
	w := &world{
		T:     t,
		unit:  rapid.SampledFrom([]core.Time{1, 3, 60, 86400, 1 << 30, 1 << 34, 1 << 45}).Draw(t, "unit"),
		span:  rapid.SampledFrom([]int{20, 200, 2000}).Draw(t, "span"),
		nodes: rapid.SampledFrom([]int{0, 1, 3, 8, 100, 10_000, 1 << 40}).Draw(t, "nodes"),
	}
	w.pairs = []twins{{New(w.nodes), newPlain(w.nodes)}}
	count := 0
	if rapid.IntRange(0, 100).Draw(t, "throng") == 100 {
		count = 5000
	}
	w.crowd(&w.pairs[0], count)
	return w
}

// crowd adds or removes many short rectangles, so that the tree grows to two or three levels and shrinks again.
func (w *world) crowd(p *twins, count int) {
	back := rapid.IntRange(0, 2).Draw(w.T, "back") == 2
	random := rand.New(rand.NewPCG(rapid.Uint64Range(0, 3).Draw(w.T, "seed"), 1))
	ep := make(core.EP, 1)
	for range count {
		start := random.Int64N(int64(4*w.span)) * w.unit
		ep[0] = core.Step{Duration: 1 + random.Int64N(w.unit), Nodes: random.IntN(w.nodes/8 + 2)}
		if back {
			p.ours.Remove(start, ep)
			p.plain.Remove(start, ep)
		} else {
			p.ours.Add(start, ep)
			p.plain.Add(start, ep)
		}
	}
}

func (w *world) time(label string) core.Time {
	t := core.Time(rapid.IntRange(-2, w.span+2).Draw(w.T, label)) * w.unit
	return t + core.Time(rapid.IntRange(-1, 1).Draw(w.T, "near"))
}

func (w *world) length(label string) core.Time {
	// One rectangle in four is long. The others are so short that many fit one after the other.
	longest := w.span/16 + 1
	if rapid.IntRange(0, 3).Draw(w.T, "long") == 3 {
		longest = w.span
	}
	return core.Time(rapid.IntRange(0, longest).Draw(w.T, label))*w.unit + core.Time(rapid.IntRange(0, 1).Draw(w.T, "more"))
}

// size draws a number of nodes, small ones as often as large ones.
func (w *world) size(label string) int {
	bound := w.nodes >> rapid.IntRange(0, 12).Draw(w.T, "smaller")
	return rapid.IntRange(0, bound+1).Draw(w.T, label)
}

func (w *world) ep() core.EP {
	// Some have more steps than a leaf has room for.
	ep := make(core.EP, rapid.IntRange(1, rapid.SampledFrom([]int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 12, 2 * leafSize}).Draw(w.T, "most")).Draw(w.T, "steps"))
	for i := range ep {
		ep[i] = core.Step{Duration: w.length("duration"), Nodes: w.size("nodes")}
	}
	if rapid.IntRange(0, 60).Draw(w.T, "endless") == 60 {
		ep[len(ep)-1].Duration = core.Forever
	}
	return ep
}

// change applies one operation to a pair, and sometimes makes another pair.
func (w *world) change(p *twins) {
	other := &w.pairs[rapid.IntRange(0, len(w.pairs)-1).Draw(w.T, "other")]
	made := twins{}
	switch what := rapid.IntRange(0, 50).Draw(w.T, "change"); what {
	case 0, 1, 2:
		made = twins{p.ours.Clone(), p.plain.Clone()}
	case 3:
		p.ours.CopyFrom(other.ours)
		p.plain.CopyFrom(other.plain)
	case 4, 5, 6, 7:
		from, to := w.time("from"), w.time("to")
		if rapid.IntRange(0, 3).Draw(w.T, "to the end") == 3 {
			to = core.Forever
		}
		if p != other { // other becomes the mirror of p in its own memory
			other.ours.MirrorOf(p.ours, from, to)
			*other.plain = *p.plain.Mirror(from, to)
			break
		}
		mirror := New(p.ours.Nodes())
		mirror.MirrorOf(p.ours, from, to)
		made = twins{mirror, p.plain.Mirror(from, to)}
	case 8, 9, 10: // a tree, however small
		p.ours.force()
	case 11:
		w.crowd(p, rapid.SampledFrom([]int{60, 60, 300, 700}).Draw(w.T, "crowd"))
	case 12, 13, 14, 15, 16, 17, 18, 19, 20: // remove a profile that may not have been added
		start, ep := w.time("start"), w.ep()
		p.ours.Remove(start, ep)
		p.plain.Remove(start, ep)
	case 21, 22, 23, 24, 25, 26, 27, 28, 29, 30: // add at a first fit
		n, d, from := w.size("n"), w.length("d"), w.time("from")
		if start, ok := p.ours.FirstFit(n, d, from); ok && d > 0 {
			p.ours.Add(start, core.EP{{Duration: d, Nodes: n}})
			p.plain.Add(start, core.EP{{Duration: d, Nodes: n}})
		}
	default:
		start, ep := w.time("start"), w.ep()
		p.ours.Add(start, ep)
		p.plain.Add(start, ep)
	}
	switch {
	case made.ours == nil:
	case len(w.pairs) < 4:
		w.pairs = append(w.pairs, made)
	default:
		*other = made
	}
}

// force converts a list to a tree, unless it is a single stretch.
func (p *Profile) force() {
	if p.tree == nil && len(p.list.At) > 1 {
		p.buildTree()
	}
}

// ask compares all results of a pair that are quick to compare.
func (w *world) ask(p *twins) {
	t := w.T
	n, d, from, to := w.size("n"), w.length("d"), w.time("from"), w.time("to")
	switch rapid.IntRange(0, 40).Draw(t, "far") {
	case 0:
		from = -core.Forever
	case 1:
		to = core.Forever
	case 2:
		d = core.Forever
	case 3:
		from = core.Forever
	}
	equal := func(what string, ours, plain any) {
		if ours != plain {
			t.Fatalf("%s for n = %d, d = %d, from = %d, to = %d is %v, want %v", what, n, d, from, to, ours, plain)
		}
	}
	type instant struct {
		at core.Time
		ok bool
	}
	both := func(at core.Time, ok bool) instant { return instant{at, ok} }
	equal("Nodes", p.ours.Nodes(), p.plain.Nodes())
	equal("At", p.ours.At(from), p.plain.At(from))
	equal("Free", p.ours.Free(from), p.plain.Free(from))
	equal("Max", p.ours.Max(from, to), p.plain.Max(from, to))
	equal("FirstFit", both(p.ours.FirstFit(n, d, from)), both(p.plain.FirstFit(n, d, from)))
	equal("FirstBelow", both(p.ours.FirstBelow(n, from)), both(p.plain.FirstBelow(n, from)))
	equal("FreeSince", p.ours.FreeSince(n, from), p.plain.FreeSince(n, from))
	start, end, ok := p.ours.Hole(n, d, from)
	start2, end2, ok2 := p.plain.Hole(n, d, from)
	equal("Hole", fmt.Sprint(start, end, ok), fmt.Sprint(start2, end2, ok2))
	if rapid.IntRange(0, 7).Draw(t, "lift") > 0 {
		return
	}
	place, ep := w.time("start"), w.ep()
	lifted, without := p.ours.Without(place, ep), p.plain.Clone()
	without.Remove(place, ep)
	at, ok := without.FirstFit(n, d, from)
	got, found := lifted.FirstFit(n, d, from, list.EndOfTime)
	equal("FirstFit without a place, or none,", found, ok)
	if ok {
		equal("FirstFit without a place", got, at)
	}
	equal("FirstBelow without a place", both(lifted.FirstBelow(n, from)), both(without.FirstBelow(n, from)))
	if from < to {
		equal("FreeSince without a place", lifted.FreeSince(n, from, to), max(from, without.FreeSince(n, to)))
	}
}

// compare compares everything that a pair contains.
func (w *world) compare(p *twins) {
	from := w.time("steps from")
	if rapid.Bool().Draw(w.T, "all") {
		from = -core.Forever
	}
	if want, got := p.plain.Steps(from), p.ours.Steps(from); !slices.Equal(want, got) {
		w.Fatalf("Steps(%d) (-want +got):\n%s", from, cmp.Diff(want, got))
	}
	if err := p.ours.check(); err != nil {
		w.Fatal(err)
	}
}

// operations is the largest number of operations in a random case.
const operations = 400

func TestProfileMatchesThePlainOneAfterAnyOperations(t *testing.T) {
	checks(t, "400", "10000")
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, operations).Draw(t, "operations") {
			p := &w.pairs[rapid.IntRange(0, len(w.pairs)-1).Draw(t, "pair")]
			w.change(p)
			w.ask(p)
		}
		for i := range w.pairs {
			w.compare(&w.pairs[i])
		}
	})
}

// check returns an error if a profile violates an invariant.
func (p *Profile) check() error {
	t := p.tree
	if t == nil {
		for i := range p.list.At {
			if i > 0 && (p.list.At[i] <= p.list.At[i-1] || p.list.Used[i] == p.list.Used[i-1]) {
				return fmt.Errorf("change point %d of %v, %v", i, p.list.At, p.list.Used)
			}
		}
		return nil
	}
	if t.nodes != p.nodes {
		return fmt.Errorf("the tree is of %d nodes, the profile of %d", t.nodes, p.nodes)
	}
	if t.root.at[0] != -core.Forever {
		return fmt.Errorf("the tree begins at %d", t.root.at[0])
	}
	_, err := t.check(t.root, list.EndOfTime)
	return err
}

// check checks everything below a branch. Leaves have height 0, and each branch adds one.
func (t *tree) check(b *branch, end core.Time) (height int, err error) {
	if b.n < 1 || b.n > width || len(b.runs) != t.top {
		return 0, fmt.Errorf("a branch of %d children and %d levels of %d", b.n, len(b.runs), t.top)
	}
	if slices.ContainsFunc(b.at[b.n:], func(t core.Time) bool { return t != list.EndOfTime }) {
		return 0, fmt.Errorf("behind %d children: %v", b.n, b.at[b.n:])
	}
	for i := range b.n {
		childEnd, below, begin := b.endOf(i, end), 0, core.Time(0)
		if b.lowest() {
			begin, err = b.leaves[i].at[0], b.leaves[i].check(childEnd)
		} else {
			c := b.branches[i]
			begin = c.at[0]
			below, err = t.check(c, childEnd)
		}
		switch {
		case err != nil:
			return 0, err
		case begin != b.at[i] || begin >= childEnd:
			return 0, fmt.Errorf("child %d, from %d to %d, begins at %d", i, b.at[i], childEnd, begin)
		case i > 0 && below+1 != height:
			return 0, fmt.Errorf("leaves at depths %d and %d, at %d", below+1, height, begin)
		}
		height = below + 1
	}
	return height, t.checkRuns(b, end)
}

// checkRuns measures everything again and compares.
func (t *tree) checkRuns(b *branch, end core.Time) error {
	again := *b
	again.runs = slices.Clone(b.runs)
	for i := range b.n {
		if b.lowest() {
			t.measureLeaf(&again, i, b.endOf(i, end), 0, t.top)
		} else {
			t.measureBranch(&again, i, ^levels(0)>>(maxLevels-t.top))
		}
		if again.most[i] != b.most[i] {
			return fmt.Errorf("at most %d used below the child at %d, want %d", b.most[i], b.at[i], again.most[i])
		}
		for level := range b.runs {
			if got, want := b.runs[level][i], again.runs[level][i]; got != want {
				return fmt.Errorf("runs of level %d of the child at %d: %d, want %d", level, b.at[i], got, want)
			}
		}
	}
	return nil
}

func (l *leaf) check(end core.Time) error {
	if l.n < 1 || l.n > leafSize {
		return fmt.Errorf("a leaf of %d change points", l.n)
	}
	if slices.ContainsFunc(l.at[l.n:], func(t core.Time) bool { return t != list.EndOfTime }) {
		return fmt.Errorf("behind %d change points: %v", l.n, l.at[l.n:])
	}
	for k := range l.n {
		if l.at[k] >= l.endOf(k, end) || k > 0 && l.used[k] == l.used[k-1] {
			return fmt.Errorf("change point %d of %v, %v", k, l.at[:l.n], l.used[:l.n])
		}
	}
	return nil
}
