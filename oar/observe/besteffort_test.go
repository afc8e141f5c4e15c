package observe

import (
	"testing"

	"accordion/core"
	"accordion/oar/conf"
)

func TestNodesOfABesteffortJobAreKeptUntilItsPatienceIsOver(t *testing.T) {
	for _, c := range []struct {
		name string
		y    BesteffortJob
		want core.Time // 0 if its nodes are not kept
	}{
		{"not asked yet", BesteffortJob{Patience: 600, Limit: 9000}, 1600 + conf.LateKill},
		{"asked a while ago", BesteffortJob{Patience: 600, Asked: 700, Limit: 9000}, 1300 + conf.LateKill},
		{"not longer than its walltime", BesteffortJob{Patience: 600, Limit: 1200}, 1200 + conf.LateKill},
		{"its patience is over", BesteffortJob{Patience: 600, Asked: 400, Limit: 9000}, 0},
	} {
		r, keeps := c.y.Keeps(1000)
		if keeps != (c.want != 0) || keeps && (r.End != c.want || r.Start != 1000 || r.Ours()) {
			t.Errorf("%s: %+v (%t), want it until %d", c.name, r, keeps, c.want)
		}
	}
}
