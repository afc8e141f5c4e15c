package sacct

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// booked holds the rows that a real Slurm wrote for jobs with 2, 5 and 3 nodes for 7, 9 and 7 seconds.
var booked = map[string]struct{ rows, want string }{
	"22.05, a second between two merges; the expander's row stays open": {`
142001|100|104|111|RESIZING|alice|4|2|n[1-2]|sbatch
142001|111|111|112|RESIZING|alice|10|5|n[1-5]|sbatch
142002|111|111|112|RESIZING|alice|6|3|n[3-5]|accordion-grow-142001
142003|111|111|111|RESIZING|alice|10|5|None assigned|accordion-over-142001
142001|112|112|121|RESIZING|alice|10|5|n[1-5]|sbatch
142002|112|112|Unknown|COMPLETED|alice|0|0|None assigned|accordion-grow-142001
142001|121|121|128|COMPLETED|alice|6|3|n[1-3]|sbatch
`, "142001 of 100 COMPLETED 104-128: 85 nodes 170 CPUs, 4 rows 0 open 0 empty"},
	"22.05, both merges in one second: the row has ended and the job runs": {`
142001|100|104|111|RESIZING|alice|4|2|n[1-2]|sbatch
142001|111|111|111|RESIZING|alice|10|5|n[1-5]|sbatch
`, "142001 of 100 RESIZING 104-111: 14 nodes 28 CPUs, 2 rows 0 open 1 empty"},
	"22.05, it grew in the second of its start": {`
142001|100|104|104|RESIZING|alice|2|1|n1|sbatch
142001|104|104|110|COMPLETED|alice|6|3|n[1-3]|sbatch
`, "142001 of 100 COMPLETED 104-110: 18 nodes 36 CPUs, 2 rows 0 open 0 empty"},
	"24.11, the last size from the start of the job": {`
143001|100|104|111|RESIZING|alice|4|2|n[1-2]|sbatch
143001|112|112|120|RESIZING|alice|10|5|n[1-5]|sbatch
143001|120|104|127|COMPLETED|alice|6|3|n[1-3]|sbatch
`, "143001 of 100 COMPLETED 104-127: 123 nodes 246 CPUs, 3 rows 0 open 0 empty"},
	"a companion, a job that waits, one that runs, a step": {`
7|100|104|Unknown|RUNNING|alice|4|2|n[1-2]|a|b
7.batch|100|104|Unknown|RUNNING||2|1|n1|batch
8|105|105|115|CANCELLED by 0|alice|2|1|n3|accordion-with-7
9|110|Unknown|Unknown|PENDING|bob|0|1|None assigned|c
`, "7 of 100 RUNNING 104-200: 202 nodes 404 CPUs, 2 rows 0 open 0 empty; 9 of 110 PENDING 0-0: 0 nodes 0 CPUs, 1 rows 0 open 0 empty"},
	"a number that is used again": {`
7|100|104|110|COMPLETED|alice|4|2|n[1-2]|a
7|150|150|155|COMPLETED|bob|2|1|n1|b
`, "7 of 100 COMPLETED 104-110: 12 nodes 24 CPUs, 1 rows 0 open 0 empty; 7 of 150 COMPLETED 150-155: 5 nodes 10 CPUs, 1 rows 0 open 0 empty"},
}

func TestSumsAreWhatTheRowsOfAJobHaveBooked(t *testing.T) {
	for name, test := range booked {
		sums, err := ReadSums(strings.NewReader(strings.ReplaceAll(SumColumns, ",", "|")+test.rows), "sacct", time.UTC, 200)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, s := range withCompanions(sums) {
			got = append(got, fmt.Sprintf("%d of %d %s %d-%d: %d nodes %d CPUs, %d rows %d open %d empty",
				s.ID, s.Submitted, s.State, s.From, s.To, s.NodeSeconds, s.CPUSeconds, s.Rows, s.Open, s.Empty))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, text, test.want)
		}
	}
}

func TestTheSumsOfAnExpanderSayThatItsRowIsOpen(t *testing.T) {
	sums, err := ReadSums(strings.NewReader(strings.ReplaceAll(SumColumns, ",", "|")+
		booked["22.05, a second between two merges; the expander's row stays open"].rows), "sacct", time.UTC, 200)
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, s := range sums {
		if s.Open > 0 {
			open = append(open, fmt.Sprintf("%d beside %d, %d node-seconds", s.ID, s.Expands, s.NodeSeconds))
		}
	}
	if got := strings.Join(open, "; "); got != "142002 beside 142001, 3 node-seconds" {
		t.Errorf("open: %s", got)
	}
}

// withCompanions returns the jobs. It adds the sums of companions and expanders to the sums of their jobs. In the
// second before a merge, accounting books the nodes for both the job and the expander.
func withCompanions(sums []Sum) []Sum {
	var jobs []Sum
	at := map[jobKey]int{} // the latest job of each id
	for _, s := range sums {
		if s.Expands == 0 {
			at[jobKey{s.Cluster, int64(s.ID)}] = len(jobs)
			jobs = append(jobs, s)
		}
	}
	for _, s := range sums {
		if i, known := at[jobKey{s.Cluster, int64(s.Expands)}]; known && s.Stays {
			jobs[i].NodeSeconds += s.NodeSeconds
			jobs[i].CPUSeconds += s.CPUSeconds
			jobs[i].Rows += s.Rows
		}
	}
	return jobs
}
