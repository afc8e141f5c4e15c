package policy

import (
	"strings"
	"testing"

	"accordion/core/patient"
	"accordion/core/queue"
)

func TestThePatientOnesTakeTheirParameters(t *testing.T) {
	const day = 24 * 3600
	for name, want := range map[string]patient.EASY{
		"easy-evolving":     {},
		"easy-evolving:r4":  {Reservations: 4},
		"patient":           {Factor: 2, Most: day},
		"patient:6h":        {Factor: 2, Most: 6 * 3600},
		"patient:r2:x1:12h": {Factor: 1, Most: 12 * 3600, Reservations: 2},
		"patient:rall":      {Factor: 2, Most: day, Reservations: patient.All},
	} {
		p, err := Named(name, queue.FirstCome)
		if err != nil || p.Policy != queue.Policy(want) || p.AsRequested || !strings.Contains(Help(), p.Name[:strings.Index(p.Name+":", ":")]) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if _, err := Named(name, queue.ShortestFirst); err == nil || !strings.Contains(err.Error(), "has an order of its own") {
			t.Errorf("%s with another order: %v", name, err)
		}
	}
	for _, name := range []string{"patient:0h", "patient:x0", "patient:r0", "patient:x", "patient:r1.5", "patient:tomorrow", "easy-evolving:6h", "easy-evolving:x2", "patient:"} {
		if _, err := Named(name, queue.FirstCome); err == nil || !strings.Contains(err.Error(), "is not one of") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Named("patient:6h:x3:12h", queue.FirstCome); err == nil || !strings.Contains(err.Error(), "is a second PATIENCE") {
		t.Error(err)
	}
}
