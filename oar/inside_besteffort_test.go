package oar

import (
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/observe"
)

func TestBesteffortJobIsEndedBeforeItsNodesAreNeeded(t *testing.T) {
	ours := func(start, end core.Time, nodes ...string) adapter.Reservation {
		return adapter.Reservation{Name: adapter.Prefix + "7-1", Nodes: nodes, Start: start, End: end}
	}
	for _, c := range []struct {
		name         string
		y            observe.BesteffortJob
		reservations []adapter.Reservation
		want         checkpointAction
	}{
		{"no reservation", observe.BesteffortJob{Patience: 60, Limit: 9000}, nil, stay},
		{"on other nodes", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{ours(1000, 2000, "n3")}, stay},
		{"another's", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{{Name: "oar-9", Nodes: []string{"n1"}, Start: 1000, End: 2000}}, stay},
		{"later than its patience", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{ours(1061, 2000, "n1")}, stay},
		{"within its patience", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{ours(1060, 2000, "n1")}, checkpoint},
		{"now", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{ours(900, 2000, "n2", "n9")}, checkpoint},
		{"over", observe.BesteffortJob{Patience: 60, Limit: 9000}, []adapter.Reservation{ours(900, 1000, "n1")}, stay},
		{"asked, and has time", observe.BesteffortJob{Patience: 60, Asked: 941, Limit: 9000}, []adapter.Reservation{ours(900, 2000, "n1")}, stay},
		{"asked, and has had its time", observe.BesteffortJob{Patience: 60, Asked: 940, Limit: 9000}, []adapter.Reservation{ours(900, 2000, "n1")}, end},
		{"asked, and nobody wants its nodes yet", observe.BesteffortJob{Patience: 60, Asked: 100, Limit: 9000}, []adapter.Reservation{ours(1001, 2000, "n1")}, stay},
		{"asked, and its walltime is over", observe.BesteffortJob{Patience: 3600, Asked: 999, Limit: 1000}, []adapter.Reservation{ours(900, 2000, "n1")}, end},
	} {
		c.y.Nodes = []string{"n1", "n2"}
		if got := actionFor(c.y, c.reservations, 1000); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
