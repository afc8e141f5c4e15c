package policy

import (
	"strings"
	"testing"

	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/core/sizing"
)

func TestPatientPoliciesTakeParameters(t *testing.T) {
	const day = 24 * 3600
	for name, want := range map[string]sched.Patient{
		"easy-evolving":     {},
		"easy-evolving:r4":  {Reservations: 4},
		"patient":           {Factor: 2, Most: day},
		"patient:6h":        {Factor: 2, Most: 6 * 3600},
		"patient:r2:x1:12h": {Factor: 1, Most: 12 * 3600, Reservations: 2},
		"patient:rall":      {Factor: 2, Most: day, Reservations: sched.AllReserved},

		"easy-evolving+share": {Sizing: sizing.Share{}},
		"patient:6h:r2+least": {Factor: 2, Most: 6 * 3600, Reservations: 2, Sizing: sizing.Least{}},
		"patient:x1+earliest": {Factor: 1, Most: day},
	} {
		p, err := Named(name, sched.FirstCome)
		if err != nil || p.Policy != sched.Policy(want) || p.AsRequested || !strings.Contains(Help(), p.Name[:strings.IndexAny(p.Name+":", ":+")]) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		live, err := Live(name, ep.Algorithm{Limit: ep.NoExpansion})
		if apart := strings.Contains(name, "+"); (err != nil) != apart || IsLive(name) == apart || err == nil && live != p.Policy {
			t.Errorf("%s on a live cluster: %+v, %v", name, live, err)
		}
		if pass, err := Pass(name); err != nil || pass.Policy != p.Policy || SizingOf(pass) != want.Sizing {
			t.Errorf("%s in OAR's pass: %+v, %v", name, pass, err)
		}
		if easy, is := Patient(p); !is || easy != want {
			t.Errorf("the parameters of %s are %+v", name, easy)
		}
		if _, err := Live(name, ep.Algorithm{Limit: ep.Twice}); err == nil || !strings.Contains(err.Error(), "expands no step") && !strings.Contains(err.Error(), "a separate setting") {
			t.Errorf("%s expands: %v", name, err)
		}
		if _, err := Named(name, sched.ShortestFirst); err == nil || !strings.Contains(err.Error(), "has its own order") {
			t.Errorf("%s with another order: %v", name, err)
		}
	}
	for _, name := range []string{"patient:0h", "patient:x0", "patient:r0", "patient:x", "patient:r1.5", "patient:tomorrow", "easy-evolving:6h", "easy-evolving:x2", "patient:"} {
		if _, err := Named(name, sched.FirstCome); err == nil || !strings.Contains(err.Error(), "is not one of") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Named("patient+shar", sched.FirstCome); err == nil || !strings.Contains(err.Error(), `policy "patient+shar": sizes "shar" are not one of`) {
		t.Error(err)
	}
	if _, patient := Patient(sched.Repeated{}); patient {
		t.Error("repeated is patient")
	}
	if _, err := Named("patient:6h:x3:12h", sched.FirstCome); err == nil || !strings.Contains(err.Error(), "is a second PATIENCE") {
		t.Error(err)
	}
}
