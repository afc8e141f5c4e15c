package sim

import (
	"testing"
	"time"
)

func TestOnlyReservationOfADeadSidecarExcusesADelayedOrdinaryJob(t *testing.T) {
	const s = time.Second
	scenario := &scenario{apps: []app{{name: "o1", at: 10 * s}, {name: "m1", request: "ep=1x8s"}}}
	without := map[string]time.Duration{"o1": 20 * s}
	for _, c := range []struct {
		name    string
		start   time.Duration
		orphans []orphan
		hurt    bool
	}{
		{"by a pass", 65 * s, nil, false},
		{"by more", 66 * s, nil, true},
		{"by more, and while it waited there was such a reservation", 66 * s, []orphan{{"accordion-1-0", 25 * s, 40 * s}}, false},
		{"… which is still there", 66 * s, []orphan{{"accordion-1-0", 25 * s, 0}}, false},
		{"… which was gone before it was submitted", 66 * s, []orphan{{"accordion-1-0", 5 * s, 9 * s}}, true},
		{"… which was left after it had begun", 66 * s, []orphan{{"accordion-1-0", 70 * s, 90 * s}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			with := outcome{starts: map[string]time.Duration{"o1": c.start, "m1": 500 * s}, orphans: c.orphans}
			if wrong := scenario.delayed(with, without); (len(wrong) > 0) != c.hurt {
				t.Errorf("blamed is %q", wrong)
			}
		})
	}
}

func TestReservationIsOrphanedFromADeathUntilASidecarHandlesIt(t *testing.T) {
	w := &world{begin: time.Now()}
	w.orphans = []orphan{{name: "accordion-1-0", from: 1}, {name: "accordion-2-0", from: 1}}
	w.adopt("accordion-1-0")
	if w.orphans[0].to == 0 || w.orphans[1].to != 0 {
		t.Errorf("after the first was deleted they are %v", w.orphans)
	}
	seen := w.orphans[0].to
	w.endOrphans()
	if w.orphans[0].to != seen || w.orphans[1].to < 3*deadline {
		t.Errorf("when the next sidecar begins they are %v", w.orphans)
	}
	w.adopt("accordion-2-0")
	if w.orphans[1].to >= 3*deadline {
		t.Errorf("after the second was deleted they are %v", w.orphans)
	}
}
