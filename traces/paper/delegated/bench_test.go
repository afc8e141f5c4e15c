package delegated_test

import (
	"fmt"
	"testing"

	"accordion/traces/paper/delegated"
)

// BenchmarkSimulation measures a whole simulation of 200 applications, on the indexed board.
func BenchmarkSimulation(b *testing.B) {
	records := usable(b)
	for _, c := range []struct {
		rms      string
		workload delegated.Workload
		clusters int
	}{
		{delegated.Delegated, delegated.Workload{Moldable: 100}, 1},
		{delegated.OAR, delegated.Workload{Moldable: 100}, 1},
		{delegated.Delegated, delegated.Workload{Moldable: 20}, 8},
		{delegated.OAR, delegated.Workload{Moldable: 20}, 8},
		{delegated.Delegated, delegated.Workload{Moldable: 20, CEM: 20}, 8},
	} {
		b.Run(fmt.Sprintf("%s/moldable=%d/cem=%d/clusters=%d", c.rms, c.workload.Moldable, c.workload.CEM, c.clusters), func(b *testing.B) {
			c.workload.Seed, c.workload.Model = 1, delegated.Standard
			jobs, err := c.workload.Jobs(records)
			if err != nil {
				b.Fatal(err)
			}
			setup := delegated.Setup{RMS: c.rms, Clusters: c.clusters, FairStart: 5, Timer: 1}
			for b.Loop() {
				if _, err := setup.Run(jobs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
