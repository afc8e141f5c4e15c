package audit

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
)

// Each case plants one inconsistency in the clean cluster. Judge must return only the finding that the
// case expects.
func TestEachPlantedInconsistencyIsFound(t *testing.T) {
	for _, test := range planted {
		t.Run(test.name, func(t *testing.T) {
			in := clean(t)
			test.plant(t, &in)
			var got []string
			for _, f := range Judge(in).Findings {
				if f.Do == "" {
					t.Errorf("it does not say what to do: %s", f.Line(time.UTC))
				}
				f.Do = ""
				got = append(got, f.Line(time.UTC))
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("found\n%s\nwant\n%s", text, test.want)
			}
		})
	}
	if len(planted) < 30 {
		t.Errorf("only %d inconsistencies are planted", len(planted))
	}
}

var planted = []struct {
	name  string
	plant func(t *testing.T, in *Input)
	want  string
}{
	{"an ordinary job on a managed job's node", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds = []adapter.Hold{held(t, "n2", 1000, 1150)}
	}, `two-jobs job=17 node=n2 at=2027-01-15T08:16:40: accounting has it in jobs 17 and 18 for 2m30s`},
	{"for one second", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds = []adapter.Hold{held(t, "n6", 900, 1001)}
	}, `two-jobs job=18 node=n6 at=2027-01-15T08:16:40: accounting has it in jobs 18 and 30 for 1s`},
	{"on a node that a managed job grew by", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds = []adapter.Hold{held(t, "n5", 1150, 1160)}
	}, `two-jobs job=17 node=n5 at=2027-01-15T08:19:10: accounting has it in jobs 17 and 18 for 10s`},
	{"two ordinary jobs in an exclusive partition", func(t *testing.T, in *Input) {
		in.row(t, 19).Holds = []adapter.Hold{held(t, "n8", 1100, 1200)}
	}, `two-jobs job=18 node=n8 at=2027-01-15T08:18:20: accounting has it in jobs 18 and 19 for 50s`},
	{"a job that shares its nodes, on a companion's", func(t *testing.T, in *Input) {
		in.row(t, 20).Holds = []adapter.Hold{held(t, "n7", 1450, 1460)}
	}, `two-jobs job=30 node=n7 at=2027-01-15T08:24:10: accounting has it in jobs 30 and 20 for 10s`},
	{"an expander that another user calls so", func(t *testing.T, in *Input) {
		in.row(t, 24).User = "mallory"
		in.row(t, 24).Holds = []adapter.Hold{held(t, "n1", 1000, 1100)}
	}, `two-jobs job=17 node=n1 at=2027-01-15T08:16:40: accounting has it in jobs 17 and 24 for 1m40s`},
	{"seen by a watch", func(t *testing.T, in *Input) {
		in.Watch[1].Jobs = append(in.Watch[1].Jobs, adapter.Job{Key: key(50), State: adapter.Running, Partition: "shared", Nodes: list(t, "n2")})
	}, `two-jobs job=40 node=n2 at=2027-01-15T08:33:11: jobs 40 and 50 were seen on it at once`},
	{"seen by a watch on a companion's node", func(t *testing.T, in *Input) {
		in.Watch[2].Jobs = append(in.Watch[2].Jobs, adapter.Job{Key: key(50), State: adapter.Running, Partition: "shared", Nodes: list(t, "n3")})
	}, `two-jobs job=40 node=n3 at=2027-01-15T08:33:12: jobs 40 and 50 were seen on it at once`},
	{"a late growth without a cause", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 30.5
	}, `late job=17 at=2027-01-15T08:18:20: it grew 30.5 s after the planned second, and nothing says why`},
	{"a late shrink without a cause", func(t *testing.T, in *Input) {
		in.entry(t, 17, "shrank").Args["lateness"] = 11.0
	}, `late job=17 at=2027-01-15T08:20:00: it shrank 11.0 s after the planned second, and nothing says why`},
	{"a broken promise without a cause", func(t *testing.T, in *Input) {
		in.tell(1700, 40, "promise broken", "its end moves by 20s: ", "seconds", 20, "cause", "")
	}, `promise-broken job=40 at=2027-01-15T08:28:20: its promise was broken, and the journal has no cause`},
	{"a growth that never came", func(t *testing.T, in *Input) {
		in.drop(30, "grew")
		in.drop(30, "expand")
		in.drop(30, "merge")
		in.forget(31)
		in.entry(t, 30, "ended").At = time.Unix(zero+1800, 0)
		in.arrange()
		in.row(t, 30).Holds[0].To = zero + 1800
		in.row(t, 30).Sum = 800
	}, `missed job=30 at=2027-01-15T08:23:20: step 2 of 2 was due, it ran on for 6m40s, and nothing says why it stayed on 1 node`},
	{"an end by the sidecar without a reason", func(t *testing.T, in *Input) {
		in.does(1700, 40, "end", "why", "")
	}, `unexplained job=40 at=2027-01-15T08:28:20: the sidecar ended it, and the journal does not say why`},
	{"a limit that ended a job without a reason", func(t *testing.T, in *Input) {
		in.row(t, 17).State = "TIMEOUT"
	}, `unexplained job=17 at=2027-01-15T08:21:40: its limit ended it, and the journal has no reason why its steps took longer than they were planned`},
	{"a reservation of a job that has ended", func(t *testing.T, in *Input) {
		in.Current.Reservations = append(in.Current.Reservations, adapter.Reservation{Name: "accordion-17-1", Start: zero + 1100, End: zero + 1220})
	}, `reservation job=17 at=2027-01-15T08:18:20: reservation accordion-17-1 is left, and its job has ended`},
	{"a reservation of a job whose number an ordinary one has", func(t *testing.T, in *Input) {
		in.Current.Jobs = append(in.Current.Jobs, adapter.Job{Key: key(60), State: adapter.Pending})
		in.Current.Reservations = append(in.Current.Reservations, adapter.Reservation{Name: "accordion-60-0", Start: zero + 1100, End: zero + 1220})
	}, `reservation job=60 at=2027-01-15T08:18:20: reservation accordion-60-0 is left, and the job of that number is no managed one`},
	{"a reservation ahead of a start while no sidecar lives", func(t *testing.T, in *Input) {
		in.Alive = false
		in.Current.Reservations[1].Start = zero + 90000
	}, `reservation job=41 at=2027-01-16T09:00:00: reservation accordion-41-0 keeps nodes, and no sidecar lives`},
	{"a companion of a job that has ended", func(t *testing.T, in *Input) {
		in.Current.Jobs = append(in.Current.Jobs, adapter.Job{Key: key(31), State: adapter.Running, Started: zero + 1400, Nodes: list(t, "n7"), Expands: 30})
		in.row(t, 31).Open, in.row(t, 31).State = true, "RUNNING"
	}, `companion job=31 at=2027-01-15T08:23:20: companion of job 30 is left, and that one has ended`},
	{"a companion that outlived its job by minutes", func(t *testing.T, in *Input) {
		in.row(t, 31).Holds[0].To, in.row(t, 31).Sum = zero+1690, 290
	}, `companion job=31 at=2027-01-15T08:25:00: it held nodes for job 30, and ended 3m10s after that`},
	{"an expander of a job that has ended", func(t *testing.T, in *Input) {
		in.Current.Jobs = append(in.Current.Jobs, adapter.Job{Key: key(61), State: adapter.Pending, Expands: 17})
	}, `expander job=61: expander of job 17 is left, and that one has ended`},
	{"a node that no job has", func(t *testing.T, in *Input) {
		in.Current.Nodes[6].Idle, in.Current.Nodes[6].Why = false, "ALLOCATED"
	}, `node node=n7: it is ALLOCATED, and no job has it`},
	{"a marked job that the sidecar does not know", func(t *testing.T, in *Input) {
		in.Records = in.Records[:1]
	}, `mark job=41: it waits with the sidecar's mark, and the sidecar does not know it`},
	{"a record of a job that has ended", func(t *testing.T, in *Input) {
		in.Records = append(in.Records, journal.Record{Job: 17, Submitted: zero + 17})
	}, `record job=17: the journal remembers it as one that waits or runs, and it has ended`},
	{"a record of an earlier job of the same number", func(t *testing.T, in *Input) {
		in.Records = append(in.Records, journal.Record{Job: 40, Submitted: zero + 3})
	}, `record job=40: the journal remembers it as one that waits or runs, and it has ended`},
	{"an action without an outcome", func(t *testing.T, in *Input) {
		e := in.entry(t, 40, "detach")
		e.Outcome, e.Took = "", 0
	}, `unfinished job=40 at=2027-01-15T08:26:40: the outcome of "detach" is not known`},
	{"the same while no sidecar lives", func(t *testing.T, in *Input) {
		e := in.entry(t, 41, "adopt")
		e.Outcome, e.Took, in.Alive = "", 0, false
		in.Current.Reservations = in.Current.Reservations[:1]
	}, `unfinished job=41 at=2027-01-15T08:31:40: the outcome of "adopt" is not known`},
	{"a hosts file that is older than a month", func(t *testing.T, in *Input) {
		in.Current.Kept[1].Age = 40 * 24 * 3600
	}, `hosts-file job=17: hosts file /tmp/accordion-1001/lab-17.hosts is left, and its job has ended`},
	{"a cpuset of a job that has ended", func(t *testing.T, in *Input) {
		in.Current.Kept[2].Job.ID = 30
	}, `kept job=30: cpuset n3 is left, and its job has ended`},
	{"a job that accounting does not know", func(t *testing.T, in *Input) {
		in.forget(30)
		in.forget(31)
	}, `books-missing job=30 at=2027-01-15T08:16:40: it ran from then for 8m20s, and accounting has no row of it`},
	{"a job without an end in accounting", func(t *testing.T, in *Input) {
		in.row(t, 30).Open, in.row(t, 30).State = true, "RUNNING"
	}, `books-open job=30 at=2027-01-15T08:00:30: accounting has it as RUNNING without an end, and it has ended`},
	{"an ordinary job without an end in accounting", func(t *testing.T, in *Input) {
		in.row(t, 18).Open, in.row(t, 18).State = true, "RUNNING"
	}, `books-open job=18 at=2027-01-15T08:00:18: accounting has it as RUNNING without an end, and it has ended`},
	{"a last row that reads RESIZING", func(t *testing.T, in *Input) {
		in.row(t, 17).State = "RESIZING"
	}, `books-open job=17 at=2027-01-15T08:00:17: its last row in accounting reads RESIZING, and it has ended`},
	{"an end in accounting long before the true one", func(t *testing.T, in *Input) {
		b := in.row(t, 30)
		b.Holds[0].To, b.Sum = zero+1300, 300
	}, `books-end job=30 at=2027-01-15T08:21:40: accounting ends it then, and the sidecar saw its end 3m20s later`},
	{"an end in accounting after the true one", func(t *testing.T, in *Input) {
		b := in.row(t, 30)
		b.Holds[0].To, b.Sum = zero+1560, 560
	}, `books-end job=30 at=2027-01-15T08:26:00: accounting ends it then, and the sidecar saw its end 1m before`},
	{"other nodes in accounting", func(t *testing.T, in *Input) {
		in.row(t, 17).Holds[1].Nodes = list(t, "n[1-4,9]")
		in.row(t, 19).Holds, in.row(t, 20).Holds = nil, nil
	}, `books-size job=17 at=2027-01-15T08:19:10: accounting has it on n[1-4,9], and the journal on n[1-5]`},
	{"fewer nodes in accounting seconds after a growth", func(t *testing.T, in *Input) {
		b := in.row(t, 17)
		b.Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1103), held(t, "n[1-4]", 1103, 1200), held(t, "n[1-3]", 1200, 1300)}
	}, `books-size job=17 at=2027-01-15T08:19:10: accounting has it on n[1-4], and the journal on n[1-5]`},
	{"fewer nodes in accounting from a job's start on", func(t *testing.T, in *Input) {
		in.row(t, 17).Holds[0].Nodes = list(t, "n1")
	}, `books-size job=17 at=2027-01-15T08:17:29: accounting has it on n1, and the journal on n[1-2]`},
	{"a growth that accounting has not", func(t *testing.T, in *Input) {
		b := in.row(t, 17)
		b.Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1200), held(t, "n[1-3]", 1200, 1300)}
		b.Sum = 997 // close to the sum in the journal, so that only the nodes differ
	}, `books-size job=17 at=2027-01-15T08:19:10: accounting has it on n[1-2], and the journal on n[1-5]`},
	{"a sum that is too large", func(t *testing.T, in *Input) {
		in.row(t, 17).Sum += 60
	}, `books-sum job=17 at=2027-01-15T08:16:40: accounting has 1060 node-seconds, and by the journal it held 1000`},
	{"a sum that is too small", func(t *testing.T, in *Input) {
		in.row(t, 31).Sum -= 40
	}, `books-sum job=30 at=2027-01-15T08:16:40: accounting has 560 node-seconds, and by the journal it held 600`},
	{"an hour that was added up without a size", func(t *testing.T, in *Input) {
		in.Accounting.Hours, in.Accounting.HoursFrom, in.Accounting.HoursTo = map[string]float64{"alice": 200, "dave": 400}, zero+900, zero+1400
	}, `books-hours at=2027-01-15T08:15:00: sreport has 200 node-seconds of user alice in the 8m20s from then on, where sacct has 1000`},
	{"two changes of size in one second", func(t *testing.T, in *Input) {
		in.row(t, 17).Lost = 1
	}, `books-lost job=17 at=2027-01-15T08:16:40: its size changed twice within one second, 1 times: accounting has lost what came after`},
	{"a step that accounting has twice", func(t *testing.T, in *Input) {
		in.row(t, 17).Twice = []string{"0"}
	}, `books-twice job=17 at=2027-01-15T08:16:40: accounting has steps of it twice: 0`},
	{"a growth without an intent", func(t *testing.T, in *Input) {
		in.drop(30, "expand")
		in.drop(30, "merge")
	}, `no-intent job=30 at=2027-01-15T08:23:20: accounting has it on n[6-7] from then on, and the journal has no act that changed it`},
	{"a shrink before its intent", func(t *testing.T, in *Input) {
		in.entry(t, 17, "shrink").At = time.Unix(zero+1200, 600e6)
		in.arrange()
	}, `no-intent job=17 at=2027-01-15T08:20:00: it shrank, and the journal has no intent to do so before that`},
	{"a start without an intent", func(t *testing.T, in *Input) {
		in.drop(40, "attach")
		in.drop(40, "release")
	}, `no-intent job=40 at=2027-01-15T08:26:40: it started, and the journal has no intent to do so before that`},
	{"nodes that changed without the journal", func(t *testing.T, in *Input) {
		b := in.row(t, 30)
		b.Holds = []adapter.Hold{held(t, "n6", 1000, 1200), held(t, "n6,n8", 1200, 1201), held(t, "n6", 1201, 1500)}
	}, `no-intent job=30 at=2027-01-15T08:20:00: accounting has it on n[6,8] from then on, and the journal has no act that changed it`},
	{"an outcome before its intent", func(t *testing.T, in *Input) {
		in.entry(t, 17, "detach").Took = -3 * time.Second
	}, `early-outcome job=17 at=2027-01-15T08:16:40: the outcome of "detach" is 3.000 s older than its intent`},
	{"an action after the lease was lost", func(t *testing.T, in *Input) {
		in.tell(1950, 0, "unleased", "the lease could not be renewed in time: nothing is done until it is")
		in.does(1960, 41, "reserve", "reservation", "accordion-41-0")
	}, `no-lease job=41 at=2027-01-15T08:32:40: "reserve" was begun 10s after the lease was lost`},
	{"a journal whose times run backwards", func(t *testing.T, in *Input) {
		d := journalWriter{in.Entries}
		d.act(1700, 41, "reserve", 0.1, "reservation", "accordion-41-0")
		in.Entries = d.entries
	}, `order job=41 at=2027-01-15T08:28:20: entry 44 of the journal (reserve) is 3m20s older than the one before it`},
}
