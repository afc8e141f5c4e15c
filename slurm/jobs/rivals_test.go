package jobs

import (
	"fmt"
	"testing"

	"accordion/core"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

func TestANewJobIsNotTakenForOneThatHasGone(t *testing.T) {
	gone := &outputtest.Printed{ID: 20, Submitted: 1795000000, User: "alice", UID: 1001, State: "PENDING", Words: outputtest.Words{Name: "gone", Host: "login1"}}
	table := map[core.JobID]*output.Record{}
	for _, r := range (&cluster{jobs: []*outputtest.Printed{gone}}).truth(t) {
		table[r.ID] = &r
	}
	for what, test := range map[string]struct {
		second int
		name   string
	}{
		"of another second": {1795000001, "x\nJobId=20 JobName=gone UserId=alice(1001) GroupId=users(100)"},
		"of another owner":  {1795000000, "x\nJobId=20 JobName=gone"},
	} {
		hostile := *gone
		hostile.ID, hostile.Submitted, hostile.User, hostile.UID, hostile.Name = 30, test.second, "mallory", 1066, test.name
		first := *gone
		first.ID, first.Name = 5, "first"
		c := &cluster{jobs: []*outputtest.Printed{&first, &hostile}}
		jobs, undecided, err := parseShown(c.shown(), forgedStamp, func(id core.JobID) *output.Record { return table[id] })
		if err != nil || len(jobs) != 1 || fmt.Sprint(undecided) != "[[20 30]]" {
			t.Errorf("%s: %d jobs, %v undecided: %v", what, len(jobs), undecided, err)
		}
	}
}
