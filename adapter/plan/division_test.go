package plan

import (
	"slices"
	"strings"
	"testing"
)

// names returns the kinds of each machine, such as "thin fat | slow".
func names(machines [][]*nodeClass) string {
	var all []string
	for _, m := range machines {
		var one []string
		for _, k := range m {
			one = append(one, k.Name)
		}
		all = append(all, strings.Join(one, " "))
	}
	return strings.Join(all, " | ")
}

func TestKindsThatNoJobDistinguishesAreOneMachine(t *testing.T) {
	type need struct {
		nodes int
		kinds string
	}
	for _, c := range []struct {
		name, nodes string
		apart       []string
		needs       []need // needs of jobs that are joined one after the other, after the division
		want        string
	}{
		{"no node", "", nil, nil, ""},
		{"one kind", "thin:2", []string{"*", "thin"}, nil, "thin"},
		{"no job distinguishes them", "thin:2 fat:2", []string{"*"}, nil, "thin fat"},
		{"a job takes one of them only", "thin:2 fat:2 slow:1", []string{"fat"}, nil, "thin slow | fat"},
		{"each is taken by another job", "thin:2 fat:2 slow:1", []string{"fat", "slow"}, nil, "thin | fat | slow"},
		{"two lists that overlap", "thin:2 fat:2 slow:1", []string{"thin fat", "fat slow"}, nil, "thin | fat | slow"},
		{"builds never mix", "thin:2 fat:2/b slow:1", nil, nil, "thin slow | fat"},
		{"a machine has nodes enough", "thin:2 fat:2", []string{"fat"}, []need{{2, "*"}}, "thin | fat"},
		{"one job needs both", "thin:2 fat:2 slow:1", []string{"fat", "slow"}, []need{{3, "*"}}, "thin fat slow"},
		{"one job needs two of three", "thin:2 fat:2 slow:1", []string{"fat", "slow"}, []need{{3, "thin slow"}}, "thin slow | fat"},
		{"more than there are of a build", "thin:2 fat:2/b", []string{"fat"}, []need{{3, "*"}}, "thin | fat"},
		{"the build that has enough", "thin:2 fat:2/b wide:2/b", []string{"fat"}, []need{{4, "*"}}, "thin | fat wide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDivision(poolOf(c.nodes))
			for _, list := range c.apart {
				d.TellApart(kindsOf(list))
			}
			d.Divide()
			for _, n := range c.needs {
				d.Join(d.Together(kindsOf(n.kinds), n.nodes))
			}
			if got := names(d.Machines()); got != c.want {
				t.Errorf("the machines are %q, want %q", got, c.want)
			}
		})
	}
}

func TestJobRunsOnBuildsThatHaveEnoughNodes(t *testing.T) {
	for _, c := range []struct {
		nodes, kinds string
		fewest       int
		want, says   string
	}{
		{"thin:4 fat:2/b", "*", 3, "thin", "4 of thin, 2 of fat"},
		{"thin:4 fat:2/b", "*", 2, "thin fat", "4 of thin, 2 of fat"},
		{"thin:4 fat:2/b", "fat", 2, "fat", "2 of fat"},
		{"thin:4 fat:2/b", "fat", 3, "", "2 of fat"},
		{"thin:2 wide:2", "*", 4, "thin wide", "2 of thin, 2 of wide"},
		{"thin:2 wide:2", "wide", 3, "", "2 of wide"},
		{"thin:2", "gone", 1, "", "none"},
	} {
		d := newDivision(poolOf(c.nodes))
		if got := names([][]*nodeClass{d.RunsOn(kindsOf(c.kinds), c.fewest)}); got != c.want {
			t.Errorf("%d nodes of %s in the pool %s: it runs on %q, want %q", c.fewest, c.kinds, c.nodes, got, c.want)
		}
		if got := d.Describe(kindsOf(c.kinds)); got != c.says {
			t.Errorf("%s in the pool %s: %q, want %q", c.kinds, c.nodes, got, c.says)
		}
	}
}

func TestEveryNodeBelongsToOneMachine(t *testing.T) {
	d := newDivision(poolOf("a:2 b:1/x a:1 c:3 b:2/x"))
	d.TellApart([]string{"a", "b"})
	d.TellApart([]string{"c"})
	d.Divide()
	var all []int
	for _, m := range d.Machines() {
		size := 0
		for _, k := range m {
			all = append(all, k.Nodes...)
			size += len(k.Nodes)
		}
		for _, k := range m {
			if got := d.Size(k); got != size {
				t.Errorf("the machine of %s has %d nodes, want %d", k.Name, got, size)
			}
		}
	}
	slices.Sort(all)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(all, want) {
		t.Errorf("the machines have the nodes %v, want %v", all, want)
	}
	if d.OneBuild() || !newDivision(poolOf("a:1 c:1")).OneBuild() {
		t.Error("the pool has two builds, and the other one has one")
	}
}
