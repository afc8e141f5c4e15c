package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/slurm/growth"
)

// This test measures how long a growth takes on an idle cluster. First one job grows a node at a time, then several
// jobs grow in the same second. docs/performance.md has these figures: go test ./slurm -run Quiet -v -args
// -accordion.long
func TestGrowthsOnAQuietClusterAreInTime(t *testing.T) {
	for _, way := range []growth.Kind{growth.Overlap, growth.Companions} {
		t.Run(string(way), func(t *testing.T) { idleGrowths(t, way) })
	}
}

func idleGrowths(t *testing.T, way growth.Kind) {
	parallelUnlessLong(t)
	groups, most := []int{1, 2}, 4
	if *long {
		groups, most = []int{1, 2, 3, 4}, 12
	}
	lab := workloadLab(t)
	p := serving(t, lab, fmt.Sprintf("growth = %q\n[early]\nadvance = false", way))
	since := time.Now()
	var all []*submission
	add := func(k int, ep core.EP) {
		for range k {
			script := application(ep, 2*time.Second)
			if way == growth.Companions {
				script = strings.Replace(script, "srun --quiet true", "accordion run --quiet -- true", 1)
			}
			all = append(all, &submission{user: "alice", kind: "evolving", steps: ep, script: script})
		}
	}
	var stairs core.EP
	for n := 1; n <= most; n++ {
		stairs = append(stairs, core.Step{Duration: 6, Nodes: n})
	}
	// slurmctld reports new jobs, such as companions, to slurmdbd every five seconds. Therefore accounting has no
	// row for a companion that ended before it was reported.
	const seen = 12
	stairs[most-1].Duration = seen
	for _, k := range groups {
		ep := core.EP{{Duration: 10, Nodes: 1}, {Duration: seen, Nodes: 3}}
		if k == 1 {
			ep = stairs
		}
		begun := len(all)
		add(k, ep)
		submitAll(t, lab, all[begun:])
		awaitNoJobs(t, lab, 5*time.Minute)
	}
	awaitAllEnded(t, p)
	c := &workloadResult{t: t, lab: lab, p: p, entries: p.journalSince(p.since)}
	c.accounts, c.held = auditedAccounts(t, lab, since)
	c.saveArtifacts()
	c.judgeJobs(all)
	countTogether(c.growths)
	byCount := map[int][]float64{}
	for _, g := range c.growths {
		byCount[g.at] = append(byCount[g.at], g.slow())
	}
	var table strings.Builder
	for k := 1; k <= groups[len(groups)-1]; k++ {
		if v := byCount[k]; len(v) > 0 {
			fmt.Fprintf(&table, "%2d at one second: %2d growths, median %.2f s, 95 %% %.2f s, last %.2f s\n", k, len(v), quantile(v, 0.5), quantile(v, 0.95), quantile(v, 1))
		}
	}
	t.Logf("usable in the job after the planned second:\n%s%d starts: median %.2f s, last %.2f s after the decision", table.String(), len(c.starts),
		quantile(c.starts, 0.5), quantile(c.starts, 1))
	slack := 2.0
	if *long {
		slack = 1
	}
	for _, e := range exceeded(c.growths, boundsOf[way], slack, !*long) {
		t.Error(e)
	}
}
