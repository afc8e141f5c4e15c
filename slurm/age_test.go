package slurm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/adapter/view"
	"accordion/internal/lab"
)

// Two equal jobs, one managed and one ordinary, depend on the end of another job. From that end on Slurm counts
// the age of the ordinary job. The sidecar counts the same age for the managed job, even after the sidecar was
// killed.
func TestTwinsManagedAndOrdinaryHaveTheSameRank(t *testing.T) {
	if !*long {
		t.Skip("takes a minute; the table in slurm/limits judges ages, too: -args -accordion.long")
	}
	t.Parallel()
	lab := lab.Slurm(t, 2, lab.Users("alice"), lab.Fast(), lab.Config(
		"PriorityWeightAge=1000000\nPriorityMaxAge=00:20:00\nPriorityCalcPeriod=1\nPriorityWeightPartition=1000000\nPriorityWeightJobSize=0\nPriorityWeightFairshare=0\nPriorityWeightQOS=0"))
	p := serving(t, lab, "")
	before := lab.Submit(t, "alice", "sleep 3000", "-N2", "-t60")
	busy := lab.Submit(t, "alice", "sleep 3000", "-N2", "-t60", "--exclusive")
	lab.Await(t, time.Minute, "the first job runs", func() bool { return runClient(t, lab, "squeue", "-h", "-t", "R", "-o", "%A") == before })
	after := "--dependency=afterany:" + before
	ordinary := lab.Submit(t, "alice", "sleep 5", "-N2", "-t60", after)
	managed := lab.Submit(t, "alice", "#EP 2x30m,1x20m\nsleep 5", after)
	last := 0.0
	differ := func(when string) {
		t.Helper()
		runClient(t, lab, "scontrol", "update", "JobId="+ordinary, "Nice=0") // this restarts the job's age
		slurms, err := strconv.ParseFloat(strings.TrimSpace(runClient(t, lab, "squeue", "-h", "-j", ordinary, "-o", "%Q")), 64)
		if err != nil {
			t.Fatal(err)
		}
		var ours float64
		lab.Await(t, time.Minute, "the sidecar ranks the managed job", func() bool {
			var q view.Queue
			if err := json.Unmarshal([]byte(p.accordion("queue", "--json")), &q); err != nil {
				t.Fatal(err)
			}
			for _, e := range q.Jobs {
				if fmt.Sprint(e.ID) == managed {
					ours = float64(e.Priority)
					return ours > 0 && ours != last // just after its start the sidecar has not yet written the managed job's age
				}
			}
			return false
		})
		last = ours
		t.Logf("%s the rank is %.0f of the ordinary one, and %.0f of the managed one", when, slurms, ours)
		if math.Abs(ours-slurms) > slurms/100 {
			t.Errorf("%s the managed one has the rank %.0f, want %.0f to a hundredth", when, ours, slurms)
		}
	}
	lab.Await(t, time.Minute, "both wait", func() bool { return p.view(managed) != nil })
	time.Sleep(40 * time.Second) // this time must not count as age; it would be 3 % of the priority
	differ("as they depend on another")
	runClient(t, lab, "scancel", before)
	lab.Await(t, time.Minute, "another job has the nodes", func() bool { return runClient(t, lab, "squeue", "-h", "-t", "R", "-o", "%A") == busy })
	time.Sleep(10 * time.Second) // this time counts as age
	differ("when the dependency is met")
	p.kill()
	p.start()
	differ("after a restart of the sidecar")
	runClient(t, lab, "scancel", "--user=alice")
}
