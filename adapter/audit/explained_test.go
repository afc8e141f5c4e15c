package audit

import (
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
)

// Each case changes the clean cluster so that something looks wrong, but the journal explains it.
func TestExplainedChangesAreNoFindings(t *testing.T) {
	for _, test := range right {
		t.Run(test.name, func(t *testing.T) {
			in := clean(t)
			test.plant(t, &in)
			for _, f := range Judge(in).Findings {
				t.Error(f.Line(time.UTC))
			}
		})
	}
}

var right = []struct {
	name  string
	plant func(t *testing.T, in *Input)
}{
	{"a job ends in the second in which another begins", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds = []adapter.Hold{held(t, "n6", 900, 1000)}
	}},
	{"one of two jobs was suspended", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds, in.row(t, 18).Suspended = []adapter.Hold{held(t, "n2", 1000, 1150)}, true
	}},
	{"two jobs on a node before the time that is judged", func(t *testing.T, in *Input) {
		in.row(t, 18).Holds, in.row(t, 19).Holds = []adapter.Hold{held(t, "n8", 100, 200)}, []adapter.Hold{held(t, "n8", 150, 400)}
	}},
	{"a watch sees an expander on its job's nodes", func(t *testing.T, in *Input) {
		in.Watch[1].Jobs = append(in.Watch[1].Jobs, adapter.Job{Key: key(50), State: adapter.Running, Partition: "main", Nodes: list(t, "n[2-3]"), Expands: 40})
	}},
	{"a watch sees a job that ends on another's node", func(t *testing.T, in *Input) {
		in.Watch[1].Jobs = append(in.Watch[1].Jobs, adapter.Job{Key: key(50), State: adapter.Ending, Partition: "main", Nodes: list(t, "n2")})
	}},
	{"a late growth with its cause", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 30.5
		in.entry(t, 17, "grew").Args["cause"] = "late shrinker"
	}},
	{"a late growth of a late application", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 30.5
		in.entry(t, 17, "grew").Args["asked"] = float64(zero + 1129)
	}},
	{"a late growth while the batch system did not answer", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 30.5
		in.tell(1095, 0, "unreadable", "the batch system cannot be read")
	}},
	{"a late growth after a call that failed", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 30.5
		in.does(1099, 17, "reserve", "reservation", "accordion-17-1")
		for i := range in.Entries {
			if e := &in.Entries[i]; e.Job == 17 && e.Verb == "reserve" && e.At.Unix() == zero+1099 {
				e.Outcome = "failed: nodes are busy"
			}
		}
	}},
	{"a shrink as late as the growth before it", func(t *testing.T, in *Input) {
		in.entry(t, 17, "grew").Args["lateness"] = 4.5
		in.entry(t, 17, "shrank").Args["lateness"] = 8.5
	}},
	{"a broken promise with its cause", func(t *testing.T, in *Input) {
		in.tell(1700, 40, "promise broken", "its end moves by 20s: lost node", "seconds", 20, "cause", "lost node")
	}},
	{"a limit that ended a warned job", func(t *testing.T, in *Input) {
		in.row(t, 17).State = "TIMEOUT"
		in.tell(1290, 17, "warned", "step 3 of 3 was to end", "late", 20)
	}},
	{"an end by the sidecar with its reason", func(t *testing.T, in *Input) {
		in.does(1700, 40, "end", "why", "step 1 of 2 was to end at 10:00 and had not ended 60 s later")
	}},
	{"an expander of a job that runs", func(t *testing.T, in *Input) {
		in.Current.Jobs = append(in.Current.Jobs, adapter.Job{Key: key(61), State: adapter.Pending, Expands: 40})
	}},
	{"a node that is drained", func(t *testing.T, in *Input) {
		in.Current.Nodes[6].Idle, in.Current.Nodes[6].Usable = false, false
	}},
	{"reservations that a sidecar left for the next one", func(t *testing.T, in *Input) {
		in.Alive, in.KeptUntil = false, zero+2030
		in.Current.Reservations[1].Start = zero + 90000
	}},
	{"an action that was begun a moment ago", func(t *testing.T, in *Input) {
		in.tell(1999, 41, "planned", "its start is planned")
		e := &in.Entries[len(in.Entries)-1]
		e.Kind, e.Verb = journal.KindIntent, "reserve"
	}},
	{"a job that runs, and accounting has not heard of it", func(t *testing.T, in *Input) {
		in.forget(40)
		in.forget(42)
	}},
	{"an expander whose last row has no end", func(t *testing.T, in *Input) {
		in.row(t, 24).Dangling = true
	}},
	{"a companion that outlived its job by seconds", func(t *testing.T, in *Input) {
		in.row(t, 31).Holds[0].To, in.row(t, 31).Sum = zero+1540, 140
	}},
	{"a companion that was made with its job, and starts some seconds later", func(t *testing.T, in *Input) {
		in.drop(30, "expand")
		in.drop(30, "grew")
		in.entry(t, 30, "started").Args["nodes"] = "n[6-7]"
		companion := in.row(t, 31)
		companion.Starts, companion.Holds, companion.Sum = true, []adapter.Hold{held(t, "n7", 1006, 1500)}, 494
	}},
	{"hours that are added up", func(t *testing.T, in *Input) {
		in.Accounting.Hours, in.Accounting.HoursFrom, in.Accounting.HoursTo = map[string]float64{"alice": 1003, "dave": 401, "zoe": 7}, zero+900, zero+1200+200
	}},
	{"a sum within two seconds a change", func(t *testing.T, in *Input) {
		in.row(t, 17).Sum -= 20
	}},
	{"a growth that failed before the one that did not", func(t *testing.T, in *Input) {
		in.does(1090, 17, "expand", "nodes", "n[3-5]")
		in.row(t, 17).Sum += 60
	}},
	{"nodes that its owner gave back", func(t *testing.T, in *Input) {
		in.tell(1110, 17, "changed", "holds 3 nodes, not 5: changed without us", "nodes", "n[1-3]", "held", "n[1-5]")
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1108), held(t, "n[1-3]", 1108, 1300)}
	}},
	{"a node that was lost, and that OAR books on", func(t *testing.T, in *Input) {
		in.tell(1420, 30, "changed", "holds 1 nodes, not 2: changed without us", "nodes", "n6", "held", "n[6-7]")
	}},
	{"nodes that its owner gave back in the last second", func(t *testing.T, in *Input) {
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1200), held(t, "n[1-3]", 1200, 1296), held(t, "n1", 1296, 1300)}
	}},
	{"nodes that its owner gave back a second after a growth, in the last seconds", func(t *testing.T, in *Input) {
		in.drop(17, "shrink")
		in.drop(17, "shrank")
		in.entry(t, 17, "ended").At = time.Unix(zero+1109, 0)
		in.arrange()
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1102), held(t, "n1", 1102, 1108)}
		in.row(t, 17).Sum = float64(in.row(t, 17).NodeSeconds())
	}},
	{"nodes that its owner gave back in the second of a growth", func(t *testing.T, in *Input) {
		in.drop(17, "shrink")
		in.drop(17, "shrank")
		in.entry(t, 17, "ended").At = time.Unix(zero+1109, 0)
		in.arrange()
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n1", 1101, 1108)}
		in.row(t, 17).Sum = float64(in.row(t, 17).NodeSeconds())
	}},
	{"nodes that its owner gave back in the second of its start", func(t *testing.T, in *Input) {
		for _, verb := range []string{"expand", "merge", "grew", "shrink", "shrank"} {
			in.drop(17, verb)
		}
		in.forget(24)
		in.entry(t, 17, "ended").At = time.Unix(zero+1009, 0)
		in.arrange()
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n1", 1000, 1008)}
		in.row(t, 17).Sum = 8
	}},
	{"nodes that its owner gave back after a growth while no sidecar lived", func(t *testing.T, in *Input) {
		in.drop(17, "shrink")
		in.drop(17, "shrank")
		in.tell(1300.2, 0, "ready", "the sidecar begins")
		in.row(t, 17).Holds = []adapter.Hold{held(t, "n[1-2]", 1000, 1101), held(t, "n[1-5]", 1101, 1103), held(t, "n1", 1103, 1300)}
		in.row(t, 17).Sum = float64(in.row(t, 17).NodeSeconds())
	}},
	{"a job that its owner shrank to its next step while no sidecar lived", func(t *testing.T, in *Input) {
		in.drop(17, "shrink")
		in.tell(1200.2, 0, "ready", "the sidecar begins")
		in.entry(t, 17, "shrank").Args["after"] = "a restart"
	}},
	{"a job that ended in the second in which it began", func(t *testing.T, in *Input) {
		in.entry(t, 30, "ended").At = time.Unix(zero+1006, 0)
		for _, verb := range []string{"expand", "merge", "grew"} {
			in.drop(30, verb)
		}
		in.arrange()
		in.forget(31)
		in.row(t, 30).Holds, in.row(t, 30).Sum = nil, 0
	}},
	{"a job that its owner got out of its hold, on a node that it shares", func(t *testing.T, in *Input) {
		in.tell(1090, 20, "accepted", "ep=1x200s", "user", "carol")
		in.tell(1101, 20, "escaped", "runs as an ordinary job", "nodes", "n9")
	}},
	{"a node that was lost in the second of a start", func(t *testing.T, in *Input) {
		in.tell(1001, 17, "changed", "holds 1 nodes, not 2: changed without us", "nodes", "n1", "held", "n[1-2]")
		in.row(t, 17).Holds[0].Nodes, in.row(t, 17).Lost = list(t, "n1"), 1
	}},
	{"a requeued job of whose second run accounting lacks the first seconds", func(t *testing.T, in *Input) {
		first, expander := *in.row(t, 18), *in.row(t, 24)
		first.State, first.Holds, first.Sum = "REQUEUED", []adapter.Hold{held(t, "n8", 1000, 1010)}, 10
		again := first
		again.Submitted, again.State, again.Holds, again.Sum = zero+1021, "COMPLETED", []adapter.Hold{held(t, "n[7-8]", 1021, 1040)}, 38
		expander.ID, expander.User, expander.Expands, expander.Submitted = 25, first.User, first.ID, zero+1020
		expander.Holds, expander.Sum = []adapter.Hold{held(t, "n7", 1020, 1022)}, 2
		*in.row(t, 18) = first
		in.Accounting.Jobs = append(in.Accounting.Jobs, again, expander)
	}},
	{"a clock that was set back", func(t *testing.T, in *Input) {
		d := journalWriter{in.Entries}
		d.event(1960, 0, "clock", "the clock was set by -1m", "seconds", -60)
		d.act(1900, 41, "reserve", -3, "reservation", "accordion-41-0")
		in.Entries = d.entries
	}},
	{"an end that was written down late", func(t *testing.T, in *Input) {
		d := journalWriter{in.Entries}
		d.event(1980, 40, "noticed", "told that it shrinks to 3 nodes")
		d.event(1960, 43, "ended", "before it began")
		in.Entries = d.entries
	}},
	{"a lease that was lost and taken again", func(t *testing.T, in *Input) {
		in.tell(1950, 0, "unleased", "the lease could not be renewed in time")
		in.tell(1955, 0, "leased", "the lease is held again")
		in.does(1960, 41, "reserve", "reservation", "accordion-41-0")
	}},
	{"a start that a sidecar wrote down twice", func(t *testing.T, in *Input) {
		e := *in.entry(t, 17, "started")
		e.At = e.At.Add(2 * time.Second)
		in.Entries = append(in.Entries, e)
		in.arrange()
	}},
	{"an ordinary job with the name of an expander, and no such job to expand", func(t *testing.T, in *Input) {
		in.row(t, 18).Expands = 999
	}},
}
