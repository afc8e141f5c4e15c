package plan

import (
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/core/place"
)

func TestJobPrefersIdleNodesToThoseOfJobsThatWouldHaveToEnd(t *testing.T) {
	before := []place.Named{{Layer: place.Layer{From: 10, To: 20}, Nodes: []int{0, 2}}, {Layer: place.Layer{From: 20, To: 30}, Nodes: []int{1}}}
	for _, c := range []struct {
		yielded []bool
		want    string
	}{
		{[]bool{false, false, false, false}, "[0 2] [1]"},
		{[]bool{true, false, false, false}, "[2] [1] [1 2 3]"},
	} {
		m := &machine{World: &World{Index: map[string]int{}, Input: Input{Snapshot: &adapter.Snapshot{}}}}
		m.taken = make([]Holder, len(c.yielded))
		for i, yielded := range c.yielded {
			name := fmt.Sprint("n", i)
			m.Nodes, m.Index[name] = append(m.Nodes, name), i
			m.Snapshot.Nodes = append(m.Snapshot.Nodes, adapter.Node{Name: name, Usable: true, Idle: true, Yielded: yielded})
		}
		got := ""
		for _, n := range m.yieldedLast(before, m.idle()) {
			got += fmt.Sprint(n.Nodes, " ")
		}
		if got != c.want+" " {
			t.Errorf("with %v yielded it prefers %s, want %s", c.yielded, got, c.want)
		}
	}
	if fmt.Sprint(before[0].Nodes) != "[0 2]" {
		t.Errorf("its earlier naming became %v", before)
	}
}
