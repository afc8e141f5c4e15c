package profile

import (
	"testing"
	"unsafe"

	"accordion/core"
)

// packed returns the profile after the workload "pack", and what was placed in it.
func packed(jobs int) (*Profile, []core.Allocation) {
	p, w := New(packNodes), newPacker()
	placed := make([]core.Allocation, jobs)
	for i := range placed {
		step := w.job()
		start, _ := p.FirstFit(step.Nodes, step.Duration, 0)
		placed[i] = core.Allocation{Start: start, EP: core.EP{step}}
		p.Add(start, placed[i].EP)
	}
	return p, placed
}

// churn removes one allocation after the other and places it again, at the earliest hole from its old start on.
func churn(p *Profile, placed []core.Allocation) {
	for i := range placed {
		a := &placed[i]
		p.Remove(a.Start, a.EP)
		a.Start, _ = p.FirstFit(a.EP[0].Nodes, a.EP[0].Duration, a.Start/2)
		p.Add(a.Start, a.EP)
	}
}

func TestPlanningOnALargeProfileAllocatesNothing(t *testing.T) {
	p, placed := packed(5000)
	if p.tree == nil {
		t.Fatal("5000 jobs leave a list: the test shows nothing")
	}
	churn(p, placed) // now the tree has nearly its final size; one or two more leaves are not a leak
	if got := testing.AllocsPerRun(1, func() { churn(p, placed) }); got > 20 {
		t.Errorf("placing 5000 jobs anew allocates %v times", got)
	}
	p.Remove(placed[0].Start, placed[0].EP)
	if got := testing.AllocsPerRun(1000, func() {
		p.Add(placed[0].Start, placed[0].EP)
		p.Remove(placed[0].Start, placed[0].EP)
	}); got > 0 {
		t.Errorf("adding and removing a rectangle allocates %v times", got)
	}
	q := p.Clone()
	for what, do := range map[string]func(){
		"CopyFrom": func() { q.CopyFrom(p) },
		"a search": func() { p.Hole(50, 3600, 1000) },
		"the maximum": func() {
			p.Max(1000, 100_000)
			p.FreeSince(50, 200_000)
		},
	} {
		if got := testing.AllocsPerRun(3, do); got > 0 {
			t.Errorf("%s allocates %v times", what, got)
		}
	}
}

func TestASmallProfileIsCopiedFilledAndMirroredWithoutAllocation(t *testing.T) {
	empty, p, mirror := New(100), New(100), New(100)
	ep := core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}
	fill := func() {
		p.CopyFrom(empty)
		for range 20 {
			start, _ := p.FirstFit(10, 4100, 0)
			p.Add(start, ep)
		}
		mirror.MirrorOf(p, 1000, 20_000)
	}
	if got := testing.AllocsPerRun(3, fill); got > 0 {
		t.Errorf("filling and mirroring it again allocates %v times", got)
	}
}

func TestARectangleTakesAtMost120Bytes(t *testing.T) {
	for _, jobs := range []int{3000, 5000, 30_000} {
		p, _ := packed(jobs)
		if got := float64(p.tree.bytes()) / float64(jobs); got > 120 {
			t.Errorf("%d jobs: %.0f bytes a rectangle", jobs, got)
		}
	}
}

// bytes returns the size of the tree with its spare memory.
func (t *tree) bytes() int {
	var below func(b *branch) int
	below = func(b *branch) int {
		sum := int(unsafe.Sizeof(*b)) + cap(b.runs)*int(unsafe.Sizeof([width]runs{}))
		for i := range b.n {
			if b.lowest() {
				sum += int(unsafe.Sizeof(*b.leaves[i]))
			} else {
				sum += below(b.branches[i])
			}
		}
		return sum
	}
	return below(t.root) + int(unsafe.Sizeof(*t)) + len(t.leaves)*int(unsafe.Sizeof(leaf{})) +
		len(t.branches)*(int(unsafe.Sizeof(branch{}))+t.top*int(unsafe.Sizeof([width]runs{})))
}

func TestALargeProfileBecomesSmallAgain(t *testing.T) {
	const rectangles = 4 * indexed
	p := New(10)
	rectangle := core.EP{{Duration: 5, Nodes: 1}, {Duration: 2, Nodes: 2}}
	for i := range core.Time(rectangles) {
		p.Add(10*i, rectangle)
	}
	for i := range core.Time(rectangles) {
		p.Remove(10*(i*7919%rectangles), rectangle) // in scattered places
		if i == rectangles*9/10 {
			if leaves := leavesBelow(p.tree.root); leaves*leafSize/8 > rectangles/10*3 {
				t.Errorf("%d leaves for %d rectangles that are left", leaves, rectangles/10)
			}
		}
	}
	if p.tree != nil {
		t.Errorf("an empty profile is a tree of %d leaves", leavesBelow(p.tree.root))
	}
}

func leavesBelow(b *branch) int {
	if b.lowest() {
		return b.n
	}
	leaves := 0
	for _, child := range b.branches[:b.n] {
		leaves += leavesBelow(child)
	}
	return leaves
}
