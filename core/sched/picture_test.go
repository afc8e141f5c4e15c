package sched_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/place"
	"accordion/core/sched"
	"accordion/core/sched/schedtest"
)

func epOf(text string) core.EP { return schedtest.EP(text) }

// draw draws allocations: a row is a node, a column a second, job 1 is a, job 2 is b. # is a job that ran before.
func draw(t *testing.T, nodes int, all []core.Allocation) string {
	t.Helper()
	named, err := place.Assign(nodes, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	end := core.Time(0)
	for _, a := range all {
		end = max(end, a.End())
	}
	rows := make([][]byte, nodes)
	for i := range rows {
		rows[i] = []byte(strings.Repeat(".", int(end)))
	}
	for i, intervals := range named {
		letter := byte('#')
		if all[i].Job > 0 {
			letter = byte('a' + all[i].Job - 1)
		}
		for _, s := range intervals {
			for _, node := range s.Nodes {
				copy(rows[node][s.From:s.To], strings.Repeat(string(letter), int(s.To-s.From)))
			}
		}
	}
	slices.Reverse(rows)
	return "\n" + string(bytes.Join(rows, []byte("\n")))
}

func TestPictures(t *testing.T) {
	jobs := func(requests ...string) []core.Job {
		var all []core.Job
		for i, r := range requests {
			j := core.Job{ID: core.JobID(i + 1)}
			for choice := range strings.SplitSeq(r, "|") {
				j.Choices = append(j.Choices, epOf(choice))
			}
			all = append(all, j)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		policy  sched.Repeated
		running []core.Allocation
		jobs    []core.Job
		want    string
	}{
		{
			name:    "a small job goes by where it delays nobody before it",
			running: []core.Allocation{{EP: epOf("3x6")}},
			jobs:    jobs("4x4", "2x5", "1x6"),
			want: `
ccccccaaaa.....
######aaaa.....
######aaaabbbbb
######aaaabbbbb`,
		},
		{
			name:    "a job that would delay another goes behind it",
			running: []core.Allocation{{EP: epOf("3x6")}},
			jobs:    jobs("4x4", "1x7"),
			want: `
......aaaa.......
######aaaa.......
######aaaa.......
######aaaabbbbbbb`,
		},
		{
			name: "evolving jobs lock into each other",
			jobs: jobs("1x4 3x4 1x4", "3x4 1x4 3x4", "4x2"),
			want: `
bbbbaaaabbbbcc
bbbbaaaabbbbcc
bbbbbbbbbbbbcc
aaaaaaaaaaaacc`,
		},
		{
			name:    "without expansion a job begins when all its steps fit",
			running: []core.Allocation{{Start: 0, EP: epOf("2x10")}},
			jobs:    jobs("1x3 4x4 1x2"),
			want: `
..........aaaa..
.......aaaaaaaaa
##########aaaa..
##########aaaa..`,
		},
		{
			name:    "with an expand limit a middle step waits for the nodes of the next",
			policy:  sched.Repeated{Limit: ep.Twice},
			running: []core.Allocation{{EP: epOf("1x4 3x2 1x6")}},
			jobs:    jobs("1x2 2x5 4x4"),
			want: `
....aaaaaaaaaaaa
....##......aaaa
....##aaaaaaaaaa
############aaaa`,
		},
		{
			name:    "without a limit it begins as soon as its first step fits the second",
			policy:  sched.Repeated{Limit: ep.Unlimited},
			running: []core.Allocation{{EP: epOf("1x14")}},
			jobs:    jobs("3x2 2x2 4x3"),
			want: `
aa............aaa
aaaaaaaaaaaaaaaaa
aaaaaaaaaaaaaaaaa
##############aaa`,
		},
		{
			name:    "compacted, it wastes nothing and ends at the same second",
			policy:  sched.Repeated{Limit: ep.Unlimited, Compact: true},
			running: []core.Allocation{{EP: epOf("1x14")}},
			jobs:    jobs("3x2 2x2 4x3"),
			want: `
..........aa..aaa
..........aaaaaaa
..........aaaaaaa
##############aaa`,
		},
		{
			name:    "a moldable job takes the choice that completes first, the smaller of two that complete together",
			running: []core.Allocation{{EP: epOf("2x6")}},
			jobs:    jobs("1x9|2x8|4x2", "4x4|2x8|1x16"),
			want: `
aaaaaaaabbbb
aaaaaaaabbbb
######..bbbb
######..bbbb`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := load(c.policy.New(core.Machine{Nodes: 4}), 0, c.running, c.jobs)
			all := slices.Clone(c.running)
			for _, p := range s.Plan(0).Jobs {
				all = append(all, p.Allocation)
			}
			if got := draw(t, 4, all); got != c.want {
				t.Errorf("got:%s\nwant:%s", got, c.want)
			}
		})
	}
}
