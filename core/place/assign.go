package place

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/core"
)

// Interval is a step with its nodes: from second From to second To a job has Nodes, in ascending order.
type Interval struct {
	From, To core.Time
	Nodes    []int
}

// Choose returns which n of its nodes an application frees (condition C4 of RR-7205). `held` is in the order in which
// the nodes were added. Choose must not keep or change it.
type Choose func(job core.JobID, held []int, n int) []int

// FreeLast frees the nodes that were added last. So the first nodes, among them the one on which the job's script
// runs, stay until the end.
func FreeLast(_ core.JobID, held []int, n int) []int { return held[len(held)-n:] }

// Assign assigns nodes of 0 … nodes−1 to every scheduled EP: Algorithm 1 of RR-7205 (section 4.1). At each
// change point the applications that shrink free nodes of their choice; if `choose` is nil they use FreeLast.
// Then the applications that grow get free nodes, in the order of the allocations. The report assigns nodes at
// random. Assign takes the lowest free nodes, so that equal input gives equal output. The result has one
// interval for each step of each allocation.
//
// Assign returns an error if the allocations together exceed the machine, if a node count or a duration is negative,
// or if an application chooses nodes that it does not hold.
func Assign(nodes int, allocations []core.Allocation, choose Choose) ([][]Interval, error) {
	if choose == nil {
		choose = FreeLast
	}
	answer, changes, err := changePoints(allocations)
	if err != nil {
		return nil, err
	}
	m := newMapping(nodes, len(allocations), choose)
	for _, c := range changes {
		job := allocations[c.owner].Job
		if have := len(m.held[c.owner]); c.nodes < have {
			err = m.shrink(job, c.owner, have-c.nodes)
		} else {
			err = m.grow(job, c.owner, c.nodes-have)
		}
		if err != nil {
			return nil, fmt.Errorf("assigning nodes at second %d: %w", c.at, err)
		}
		if c.step >= 0 {
			answer[c.owner][c.step].Nodes = slices.Sorted(slices.Values(m.held[c.owner]))
		}
	}
	return answer, nil
}

// change is a new node count of one allocation from a time on.
type change struct {
	at    core.Time
	grows bool // applications that grow come after those that shrink in the same second
	owner int  // index of the allocation
	step  int  // index of the step that begins; -1 for the allocation's end
	nodes int
}

// changePoints returns every change of every allocation in the order in which they happen, and the intervals without
// nodes.
func changePoints(allocations []core.Allocation) ([][]Interval, []change, error) {
	answer := make([][]Interval, len(allocations))
	var changes []change
	for i, a := range allocations {
		t, before := a.Start, 0
		answer[i] = make([]Interval, len(a.EP))
		for k, s := range a.EP {
			if s.Duration < 0 || s.Nodes < 0 {
				return nil, nil, fmt.Errorf("assigning nodes: step %d of job %d is %d nodes for %d seconds; neither may be negative",
					k+1, a.Job, s.Nodes, s.Duration)
			}
			answer[i][k] = Interval{From: t, To: later(t, s.Duration)}
			if s.Duration > 0 && t < core.Forever {
				changes = append(changes, change{at: t, grows: s.Nodes > before, owner: i, step: k, nodes: s.Nodes})
				t, before = later(t, s.Duration), s.Nodes
			}
		}
		changes = append(changes, change{at: t, owner: i, step: -1})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		switch {
		case a.at != b.at || a.grows == b.grows:
			return cmp.Compare(a.at, b.at)
		case b.grows:
			return -1
		}
		return 1
	})
	return answer, changes, nil
}

// mapping records which allocation holds which node at one time: S and the S(i) of the report.
type mapping struct {
	nodes  int
	free   *nodeSet
	held   [][]int // by allocation, in the order in which they were added
	owner  []int   // by node: the index of an allocation, or -1 if it is free
	choose Choose
}

func newMapping(nodes, allocations int, choose Choose) *mapping {
	nodes = max(nodes, 0)
	m := &mapping{
		nodes:  nodes,
		free:   newNodeSet(nodes),
		held:   make([][]int, allocations),
		owner:  make([]int, nodes),
		choose: choose,
	}
	for node := range nodes {
		m.free.add(node)
		m.owner[node] = -1
	}
	return m
}

// grow adds the n lowest free nodes to an allocation.
func (m *mapping) grow(job core.JobID, owner, n int) error {
	if n > m.free.count {
		return fmt.Errorf("job %d needs %d more nodes, but only %d of %d are free: the schedule does not fit the machine",
			job, n, m.free.count, m.nodes)
	}
	for range n {
		node := m.free.lowest()
		m.free.remove(node)
		m.owner[node] = owner
		m.held[owner] = append(m.held[owner], node)
	}
	return nil
}

// shrink frees n nodes of the application's choice.
func (m *mapping) shrink(job core.JobID, owner, n int) error {
	chosen := m.held[owner]
	if n < len(chosen) { // at its end the allocation frees all its nodes, and there is nothing to choose
		chosen = m.choose(job, slices.Clone(chosen), n)
	}
	if len(chosen) != n {
		return fmt.Errorf("job %d has to free %d of its nodes, but it chose %d", job, n, len(chosen))
	}
	for _, node := range chosen {
		if node < 0 || node >= m.nodes || m.owner[node] != owner {
			return fmt.Errorf("job %d chose to free node %d, which it does not hold", job, node)
		}
		m.owner[node] = -1
		m.free.add(node)
	}
	m.held[owner] = slices.DeleteFunc(m.held[owner], func(node int) bool { return m.owner[node] != owner })
	return nil
}
