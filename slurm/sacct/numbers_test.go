package sacct

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TotalCPU adds up the time of all CPUs, and may exceed any job's time limit.
func TestTotalCPUOfAnyLengthIsRead(t *testing.T) {
	for text, want := range map[string]string{
		"00:02":         "cpu 0.5",
		"00:01.500":     "cpu 0.375",
		"4000-03:14:07": "cpu 8.640291175e+07",
		"":              "cpu -1",
		"2":             "cpu -1", // a statistic that cannot be parsed is unknown; the job stays
		"-1:00":         "cpu -1",
		"INVALID":       "cpu -1",
	} {
		log, _, err := Workload(strings.NewReader(names+"9|130|150|160|COMPLETED|1|4|2|"+text+"|bob|physics|normal|main|late\n"), "a.txt", time.UTC)
		if err != nil || !strings.Contains(jobs(log), want+",") {
			t.Errorf("TotalCPU %q: %v, want %s in %s", text, err, want, jobs(log))
		}
	}
}

func TestALimitThatCannotBeReadIsUnknown(t *testing.T) {
	for text, want := range map[string]string{"2": "limit 120", "UNLIMITED": "limit -1", "Partition_Limit": "limit -1", "INVALID": "limit -1", "1:00": "limit -1", "": "limit -1", "9999999999999": "limit -1"} {
		log, _, err := Workload(strings.NewReader(names+"9|130|150|160|COMPLETED|1|2K|"+text+"|00:02|bob|physics|normal|main|late\n"), "a.txt", time.UTC)
		if err != nil || !strings.Contains(jobs(log), want+",") || !strings.Contains(jobs(log), "2048 of 2048") {
			t.Errorf("TimelimitRaw %q: %v, want %s in %s", text, err, want, jobs(log))
		}
	}
}

// Without --noconvert sacct prints 2K for 2,048 nodes. With --units=K it prints 0.00K for one node.
func TestNodesThatWereAskedForAreReadWithTheirUnit(t *testing.T) {
	for text, want := range map[string]int{"2": 2, "2K": 2048, "1.50K": 1536, "0.00K": 3, "0.01K": 3, "?": 3, "": 0, "0": 0, "99999999999": 3} {
		runs := read(t, stepNames+"7|7|100|110|170|COMPLETED|"+text+"|n[1-3]|ada|phys|main|mesh\n")
		if len(runs.All) != 1 || runs.All[0].Requested != want || !cmp.Equal(runs.Left, LeftUnread{}) {
			t.Errorf("ReqNodes %q: %+v, %+v; want %d", text, runs.All, runs.Left, want)
		}
	}
}
