package sched_test

import (
	"fmt"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/core/sched/schedtest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRefit(t *testing.T) {
	const now = 100
	ever := core.Forever
	for _, c := range []struct {
		name   string
		nodes  int
		fixed  []core.Allocation
		broken []sched.Remainder
		want   []string
	}{
		{"what still fits goes on as it would", 8, nil,
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: 5, Next: epOf("8x10 1x3")}},
			[]string{"2x5s,8x10s,1x3s"}},
		{"a growth waits for the nodes of a promise, however long", 8,
			[]core.Allocation{{Job: 9, Start: 90, EP: epOf("3x110")}},
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: 5, Next: epOf("8x10 1x3")}},
			[]string{"2x100s,8x10s,1x3s"}},
		{"a step to come waits too, once a shrink has given back what it can", 8,
			[]core.Allocation{{Job: 9, Start: 90, EP: epOf("3x110")}},
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5, Next: epOf("1x10 8x3")}},
			[]string{"4x5s,1x95s,8x3s"}},
		{"an application that is late keeps its nodes a second at least", 8, nil,
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: -30, Next: epOf("3x10")}},
			[]string{"2x1s,3x10s"}},
		{"the first in the list chooses first", 6, nil,
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: 5, Next: epOf("4x10")}, {Job: 2, Nodes: 2, Left: 5, Next: epOf("4x10")}},
			[]string{"2x5s,4x10s", "2x15s,4x10s"}},
		{"who goes first only with what the other gives back waits for it", 6, nil,
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: 5, Next: epOf("6x10")}, {Job: 2, Nodes: 3, Left: 5, Next: epOf("4x10")}},
			[]string{"2x15s,6x10s", "3x5s,4x10s"}},
		{"the first takes what the second turned out to give back", 8,
			[]core.Allocation{{Job: 9, Start: 90, EP: epOf("2x60")}},
			[]sched.Remainder{{Job: 1, Nodes: 2, Left: 5, Next: epOf("5x10")}, {Job: 2, Nodes: 3, Left: 5, Next: epOf("1x20")}},
			[]string{"2x5s,5x10s", "3x5s,1x20s"}},
		{"who wait for each other hold what they have", 10, nil,
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5, Next: epOf("8x10")}, {Job: 2, Nodes: 4, Left: 5, Next: epOf("8x10")}},
			[]string{"4 for ever", "4 for ever"}},
		{"a step that exceeds what is left of the machine is never reached", 7, nil,
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5, Next: epOf("8x10")}, {Job: 2, Nodes: 3, Left: 5, Next: epOf("3x7")}},
			[]string{"4 for ever", "3x5s,3x7s"}},
		{"a last step ends, even where the machine is exceeded", 4,
			[]core.Allocation{{Job: 9, Start: 90, EP: core.EP{{Duration: ever, Nodes: 2}}}},
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5}},
			[]string{"4x5s"}},
		{"who cannot be made to let go shrinks in time, and grows when there is room", 6,
			[]core.Allocation{{Job: 9, Start: 90, EP: epOf("3x30")}},
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5, Next: epOf("2x10 6x10")}},
			[]string{"4x5s,2x15s,6x10s"}},
		{"a step of no length is never reached", 6, nil,
			[]sched.Remainder{{Job: 1, Nodes: 4, Left: 5, Next: epOf("2x0")}},
			[]string{"4 for ever"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for i, a := range sched.Refit(now, core.Machine{Nodes: c.nodes}, c.fixed, c.broken) {
				if a.Job != c.broken[i].Job || a.Start != now {
					t.Errorf("allocation %d is of job %d from %d on", i, a.Job, a.Start)
				}
				text := a.EP.String()
				if a.End() >= core.Forever {
					text = fmt.Sprintf("%d for ever", a.EP[0].Nodes)
				}
				got = append(got, text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func drawRemainders(t *rapid.T, nodes, most int) []sched.Remainder {
	all := make([]sched.Remainder, rapid.IntRange(1, most).Draw(t, "broken"))
	for i := range all {
		all[i] = sched.Remainder{
			Job:   core.JobID(i + 1),
			Nodes: rapid.IntRange(1, max(1, nodes/2)).Draw(t, "holds"),
			Left:  rapid.Int64Range(0, 6).Draw(t, "left"),
		}
		if rapid.IntRange(0, 4).Draw(t, "goes on") > 0 {
			all[i].Next = drawEP(t, 3, nodes)
		}
	}
	return all
}

func TestNewPromisesFitWhereverWhatIsHeldNowFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 12
		nodes := rapid.IntRange(2, 8).Draw(t, "machine")
		fixed := drawRunning(t, now, nodes/2)
		broken := drawRemainders(t, nodes, 4)
		got := sched.Refit(now, core.Machine{Nodes: nodes}, fixed, broken)

		held := 0
		for i, b := range broken {
			held += b.Nodes
			checkRemainder(t, b, got[i])
		}
		before, after := schedtest.NewSeconds(nodes, fixed...), schedtest.NewSeconds(nodes, append(fixed, got...)...)
		for x := now; x < schedtest.Horizon; x++ {
			if before.Used[x]+held <= nodes && after.Used[x] > nodes {
				t.Fatalf("second %d: %d of %d nodes promised, though what is held fits\n%+v", x, after.Used[x], nodes, got)
			}
		}
		if d := cmp.Diff(got, sched.Refit(now, core.Machine{Nodes: nodes}, fixed, broken)); d != "" {
			t.Fatalf("asked twice, it answers twice: %s", d)
		}
	})
}

// checkRemainder fails if an allocation is not the remainder, possibly expanded.
func checkRemainder(t *rapid.T, b sched.Remainder, a core.Allocation) {
	if a.Start != 12 || a.Job != b.Job || a.EP[0].Nodes != b.Nodes || a.EP[0].Duration < max(b.Left, 1) {
		t.Fatalf("%+v became %+v", b, a)
	}
	if len(a.EP) == 1 && len(b.Next) > 0 && a.End() >= core.Forever {
		return // the remainder never continues
	}
	if len(a.EP) != 1+len(b.Next) {
		t.Fatalf("%+v became %+v", b, a)
	}
	for i, s := range b.Next {
		if p := a.EP[i+1]; p.Nodes != s.Nodes || p.Duration < s.Duration {
			t.Fatalf("%+v became %+v", b, a)
		}
	}
}

func TestALoneRemainderIsFittedAsEarlyAsArraysOfSecondsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 12
		nodes := rapid.IntRange(2, 6).Draw(t, "machine")
		b := drawRemainders(t, nodes, 1)[0]
		fixed := drawRunning(t, now, nodes)
		d := schedtest.NewSeconds(nodes, fixed...)
		wanted := append(core.EP{{Duration: max(b.Left, 1), Nodes: b.Nodes}}, b.Next...)
		_, want, ok := d.Fit(wanted, ep.Unlimited, now, true, false)
		if !ok {
			return // the remainder holds more nodes than are free; the table in TestRefit covers that
		}
		got := sched.Refit(now, core.Machine{Nodes: nodes}, fixed, []sched.Remainder{b})
		if d := cmp.Diff(want, got[0].EP); d != "" {
			t.Fatalf("(-seconds +refit)\n%s", d)
		}
	})
}

func TestFitsSeesTheSecondThatExceeds(t *testing.T) {
	all := []core.Allocation{{Start: -5, EP: epOf("2x10")}, {Start: 4, EP: epOf("2x10")}}
	for nodes, want := range map[int]bool{3: false, 4: true} {
		if got := sched.Fits(core.Machine{Nodes: nodes}, all); got != want {
			t.Errorf("%d nodes: %v, want %v", nodes, got, want)
		}
	}
}
