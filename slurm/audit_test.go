package slurm_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/scripts/lab"
	"accordion/slurm/output"

	"pgregory.net/rapid"
)

// This file is the judge: it says from Slurm's own accounting, and from nothing of ours, who held which node when.

// account is one row of sacct -D: what one job held from start to end. A resized job has a row for each size.
type account struct {
	id         int64
	name       string
	user       string
	partition  string
	state      string
	submit     int64 // Unix seconds; of a row after a resize: the second of the resize
	start, end int64 // half open; end is 0 while it lasts, both are 0 when the job never ran
	nodes      []string
}

// ended is when the row ended; lastly while it lasts.
func (a account) ended() int64 {
	if a.end == 0 {
		return lastly
	}
	return a.end
}

// accountFields is what readAccounts asks for, in its order.
const accountFields = "JobIDRaw,Submit,Start,End,State,Partition,User,JobName,NodeList"

// readAccounts asks sacct for everything since an instant, of all users or of those who are named.
func readAccounts(t testing.TB, lab *lab.SlurmLab, since time.Time, users ...string) []account {
	t.Helper()
	whose := "--allusers"
	if len(users) > 0 {
		whose = "--user=" + strings.Join(users, ",")
	}
	out := lab.Run(t, "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", whose, "--duplicates", "--allocations", "--noheader",
		"--parsable2", "--format="+accountFields, since.Format("--starttime=2006-01-02T15:04:05"))
	rows, err := parseAccounts(out)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func parseAccounts(text string) ([]account, error) {
	var rows []account
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != 9 {
			return nil, fmt.Errorf("sacct: %d fields, want 9: %q", len(f), line)
		}
		id, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("sacct: %q: %w", line, err)
		}
		r := account{id: id, state: f[4], partition: f[5], user: f[6], name: f[7]}
		for i, into := range []*int64{&r.submit, &r.start, &r.end} {
			if f[1+i] == "Unknown" || f[1+i] == "None" {
				continue
			}
			if *into, err = strconv.ParseInt(f[1+i], 10, 64); err != nil {
				return nil, fmt.Errorf("sacct: %q: %w", line, err)
			}
		}
		if f[8] != "None assigned" && f[8] != "" {
			if r.nodes, err = hostlist.Expand(f[8]); err != nil {
				return nil, fmt.Errorf("sacct: %q: %w", line, err)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// written is the rows for people.
func written(rows []account) string {
	var b strings.Builder
	for _, a := range rows {
		fmt.Fprintf(&b, "%d %s %s %s submitted %d, %d to %d, %s on %s\n", a.id, a.name, a.user, a.partition, a.submit, a.start, a.end, a.state, hostlist.Compact(a.nodes))
	}
	return b.String()
}

// tenant is one job as accounting knows it: its number may be another's after slurmctld lost its last seconds.
type tenant struct {
	id     int64
	submit int64 // Unix seconds
}

func (t tenant) String() string { return fmt.Sprintf("job %d (submitted at %d)", t.id, t.submit) }

// tenure is one job's hold of one node, from the second from until before the second to.
type tenure struct {
	tenant
	node     string
	from, to int64
	alone    bool // the job must be alone on the node
}

// lastly is the end of a tenure that lasts.
const lastly = int64(1) << 62

// tenures reads the rows as holds of nodes. Rows of one job follow each other in the order of their ends: each is submitted, as
// accounting says, at the second at which the one before ended, and a size is held from then on, whatever its start is. What is beside a job for its growth holds nodes in the name of that job. Jobs of the
// named partition may share nodes with each other.
func tenures(rows []account, shared string) []tenure {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b account) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.ended(), b.ended()), cmp.Compare(a.submit, b.submit))
	})
	who := make([]tenant, len(rows))
	latest := map[int64]tenant{} // of each id, in the order of submission
	for i, r := range rows {
		who[i] = tenant{id: r.id, submit: r.submit}
		if i > 0 && rows[i-1].id == r.id && rows[i-1].state == "RESIZING" && r.submit == rows[i-1].end {
			who[i], rows[i].start = who[i-1], max(r.start, r.submit)
		}
		latest[r.id] = who[i]
	}
	var all []tenure
	for i, r := range rows {
		if r.start == 0 {
			continue
		}
		owner := who[i]
		if parent, _ := output.Beside(r.name); latest[int64(parent)].id != 0 {
			owner = latest[int64(parent)]
		}
		to := r.ended()
		for _, node := range r.nodes {
			if r.start < to {
				all = append(all, tenure{tenant: owner, node: node, from: r.start, to: to, alone: r.partition != shared})
			}
		}
	}
	return all
}

// sizes is the nodes that the job of the number had with its companions while it ran, one list for each size, in order of time. A
// growth in two merges writes a row for each; what lasts less than a second is none.
func sizes(rows []account, job int64) [][]string {
	own := slices.DeleteFunc(slices.Clone(rows), func(r account) bool {
		parent, stays := output.Beside(r.name)
		return r.id != job && (int64(parent) != job || !stays)
	})
	held := slices.DeleteFunc(tenures(own, ""), func(t tenure) bool { return t.id != job })
	over := int64(0) // companions end a moment after their job
	for _, r := range own {
		if r.id == job {
			over = max(over, r.ended())
		}
	}
	var changes []int64
	for _, t := range held {
		changes = append(changes, t.from, min(t.to, over))
	}
	slices.Sort(changes)
	var all [][]string
	for _, at := range slices.Compact(changes) {
		has := map[string]bool{}
		for _, t := range held {
			if t.from <= at && at < t.to {
				has[t.node] = true
			}
		}
		nodes := slices.Collect(maps.Keys(has))
		hostlist.Sort(nodes)
		if at < over && len(nodes) > 0 && (len(all) == 0 || !slices.Equal(all[len(all)-1], nodes)) {
			all = append(all, nodes)
		}
	}
	return all
}

// overlaps finds every node that two jobs held at one instant though one of them had to be alone on it.
func overlaps(all []tenure) []string {
	byNode := map[string][]tenure{}
	for _, t := range all {
		byNode[t.node] = append(byNode[t.node], t)
	}
	var found []string
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		held := byNode[node]
		slices.SortFunc(held, func(a, b tenure) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id)) })
		var open []tenure // those that had not ended when the last one began
		for _, next := range held {
			open = slices.DeleteFunc(open, func(t tenure) bool { return t.to <= next.from })
			for _, t := range open {
				if t.tenant != next.tenant && (t.alone || next.alone) {
					found = append(found, fmt.Sprintf("%s: %s and %s from %d to %d", node, t.tenant, next.tenant, next.from, min(t.to, next.to)))
				}
			}
			open = append(open, next)
		}
	}
	return found
}

// lastRelease is the latest second at which one of the nodes was given up before an instant by a job that is not the
// given one, and which job that was; zeros when none ever was. The true instant lies within that second.
func lastRelease(all []tenure, nodes []string, of int64, before int64) (second, by int64) {
	for _, t := range all {
		if t.id != of && t.to <= before && t.to > second && slices.Contains(nodes, t.node) {
			second, by = t.to, t.id
		}
	}
	return second, by
}

// assertNoNodeWasInTwoJobs judges everything that ran since an instant, of all users or of those who are named; it returns the tenures. The records of what just
// ended may take some seconds to arrive.
func assertNoNodeWasInTwoJobs(t *testing.T, lab *lab.SlurmLab, since time.Time, users ...string) ([]account, []tenure) {
	t.Helper()
	var rows []account
	settled := func() bool { // a row without nodes may stay open for ever: what is left of a merged expander
		rows = readAccounts(t, lab, since, users...)
		return !slices.ContainsFunc(rows, func(r account) bool { return r.end == 0 && len(r.nodes) > 0 })
	}
	patience := time.Now().Add(2 * time.Minute)
	for poll := everySecond(settled); !poll(); {
		if time.Now().After(patience) {
			t.Errorf("after two minutes accounting still lacks the end of a job:\n%s", written(rows))
			break
		}
	}
	held := tenures(rows, "shared")
	if len(held) == 0 {
		t.Error("accounting has no job that ran: nothing was judged")
	}
	for _, o := range overlaps(held) {
		t.Errorf("two jobs on a node: %s", o)
	}
	for _, wrong := range misbooked(rows) {
		t.Error(wrong)
	}
	return rows, held
}

// assertNothingIsLeft waits until no job, no reservation of ours and no occupied node is left, and fails the test when
// something stays.
func assertNothingIsLeft(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	var left []string
	clean := func() bool {
		left = leftBehind(lab.Run(t, "root", "squeue", "--noheader", "--all", "-o", "%A %j %T"),
			lab.Run(t, "root", "scontrol", "--oneliner", "--all", "show", "reservation"),
			lab.Run(t, "root", "scontrol", "--oneliner", "show", "node"))
		return len(left) == 0
	}
	end := time.Now().Add(time.Minute)
	for poll := everySecond(clean); !poll(); {
		if time.Now().After(end) {
			t.Errorf("left behind after a minute:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}

// assertNoCountIsLeft waits until slurmctld counts nothing as used by any association or QOS: the sidecar has it count anew once
// no managed job runs, at most every ten minutes.
func assertNoCountIsLeft(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	var left []string
	clean := func() bool {
		left = counted(lab.Run(t, "root", "scontrol", "--oneliner", "show", "assoc_mgr", "flags=assoc,qos"))
		return len(left) == 0
	}
	end := time.Now().Add(11 * time.Minute)
	for poll := everySecond(clean); !poll(); {
		if time.Now().After(end) {
			t.Errorf("slurmctld counts what is not there:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}

// counted is what associations and QOS have in use: "QOS=normal(1) GrpJobs=N(3)".
func counted(records string) []string {
	var used []string
	for line := range strings.Lines(records) {
		what := regexp.MustCompile(`(User|Account|QOS)=\S+`).FindString(line)
		for _, count := range regexp.MustCompile(`\b(GrpJobs|GrpSubmitJobs|GrpTRES)=\S*\([1-9]\S*`).FindAllString(line, -1) {
			used = append(used, what+" "+count)
		}
	}
	return used
}

// leftBehind reads what squeue, show reservation and show node print, and lists what a cluster at rest has not.
func leftBehind(jobs, reservations, nodes string) []string {
	var left []string
	for line := range strings.Lines(jobs) {
		left = append(left, "job "+strings.TrimSpace(line))
	}
	for line := range strings.Lines(reservations) {
		if name, ok := strings.CutPrefix(line, "ReservationName="); ok && !strings.HasPrefix(name, output.Park+" ") && !strings.HasPrefix(name, output.Lease+" ") {
			left = append(left, "reservation "+strings.TrimSpace(name))
		}
	}
	for line := range strings.Lines(nodes) {
		words := strings.Fields(line)
		for _, w := range words {
			if state, ok := strings.CutPrefix(w, "State="); ok && state != "IDLE" && state != "IDLE+PLANNED" {
				left = append(left, words[0]+" is "+state)
			}
		}
	}
	return left
}

// everySecond makes a condition that is looked at once a second, however often it is asked.
func everySecond(condition func() bool) func() bool {
	tick := time.NewTicker(time.Second)
	first := true
	return func() bool {
		if !first {
			<-tick.C
		}
		first = false
		if condition() {
			tick.Stop()
			return true
		}
		return false
	}
}

func TestTheJudgeReadsAResizedJobAsOneTenant(t *testing.T) {
	// Rows as Slurm 22.05 writes them: n[1-2], then a growth by expander 2, then a shrink.
	rows, err := parseAccounts(`1|60|135|150|RESIZING|main|alice|a|n[1-2]
1|150|150|165|RESIZING|main|alice|a|n[1-5]
2|150|150|150|RESIZING|main|alice|accordion-grow-1|None assigned
1|165|165|175|COMPLETED|main|alice|a|n[1-3]
3|100|165|Unknown|RUNNING|main|bob|b|n[4-5]
4|100|Unknown|Unknown|PENDING|main|bob|c|None assigned
`)
	if err != nil {
		t.Fatal(err)
	}
	held := tenures(rows, "shared")
	if found := overlaps(held); len(found) > 0 {
		t.Errorf("found what is not there: %q", found)
	}
	for _, h := range held {
		if want := (tenant{id: 1, submit: 60}); h.id == 1 && h.tenant != want {
			t.Errorf("the hold of %s from %d is %s's, want %s's", h.node, h.from, h.tenant, want)
		}
	}
	if at, by := lastRelease(held, []string{"n4", "n5"}, 3, 165); at != 165 || by != 1 {
		t.Errorf("n4 and n5 were given up at %d by job %d, want 165 by job 1", at, by)
	}
}

func TestTheJudgeCountsSizesAndNotMerges(t *testing.T) {
	// A growth by overlap, one by a companion, and the companion's end.
	rows, err := parseAccounts(`1|60|135|150|RESIZING|main|alice|a|n[1-2]
2|149|149|150|COMPLETED|main|alice|accordion-grow-1|n3
3|149|149|150|RESIZING|main|alice|accordion-over-1|n[1-3]
1|150|150|150|RESIZING|main|alice|a|n[1-3]
1|150|150|151|RESIZING|main|alice|a|n[1-3]
1|151|151|190|COMPLETED|main|alice|a|n[1-3]
4|160|160|175|CANCELLED by 0|main|alice|accordion-with-1|n[9-10]
6|180|180|191|CANCELLED by 0|main|alice|accordion-with-1|n9
5|160|160|175|COMPLETED|main|bob|b|n4
`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(sizes(rows, 1)), "[[n1 n2] [n1 n2 n3] [n1 n2 n3 n9 n10] [n1 n2 n3] [n1 n2 n3 n9]]"; got != want {
		t.Errorf("sizes %s, want %s", got, want)
	}
	if found := overlaps(tenures(rows, "shared")); len(found) > 0 {
		t.Errorf("found what is not there: %q", found)
	}
}

func TestTheJudgeFindsANodeInTwoJobs(t *testing.T) {
	for name, test := range map[string]struct {
		rows string
		want int
	}{
		"one after the other":              {"1|1|10|20|COMPLETED|main|a|x|n1\n2|1|20|30|COMPLETED|main|a|y|n1\n", 0},
		"for one second":                   {"1|1|10|21|COMPLETED|main|a|x|n1\n2|1|20|30|COMPLETED|main|a|y|n1\n", 1},
		"on one node of three":             {"1|1|10|20|COMPLETED|main|a|x|n[1-3]\n2|1|15|30|COMPLETED|main|a|y|n[3-5]\n", 1},
		"shared by both":                   {"1|1|10|20|COMPLETED|shared|a|x|n1\n2|1|15|30|COMPLETED|shared|a|y|n1\n", 0},
		"shared by one only":               {"1|1|10|20|COMPLETED|shared|a|x|n1\n2|1|15|30|COMPLETED|main|a|y|n1\n", 1},
		"a long one over two short ones":   {"1|1|10|90|COMPLETED|main|a|x|n1\n2|1|15|20|COMPLETED|main|a|y|n1\n3|1|30|40|COMPLETED|main|a|z|n1\n", 2},
		"one that still runs":              {"1|1|10|Unknown|RUNNING|main|a|x|n1\n2|1|15|20|COMPLETED|main|a|y|n1\n", 1},
		"after a resize":                   {"1|1|10|20|RESIZING|main|a|x|n1\n1|20|20|30|COMPLETED|main|a|x|n[1-2]\n2|1|25|30|COMPLETED|main|a|y|n2\n", 1},
		"an expander and its parent":       {"1|1|10|30|COMPLETED|main|a|x|n[1-2]\n2|1|19|21|CANCELLED|main|a|accordion-grow-1|n2\n", 0},
		"an expander and a stranger":       {"1|1|10|30|COMPLETED|main|a|x|n1\n3|1|10|30|COMPLETED|main|a|y|n2\n2|1|19|21|CANCELLED|main|a|accordion-grow-1|n2\n", 1},
		"a last size with the job's start": {"1|1|10|20|RESIZING|main|a|x|n1\n1|20|20|30|RESIZING|main|a|x|n[1-2]\n1|30|10|40|COMPLETED|main|a|x|n[1-3]\n2|1|15|20|COMPLETED|main|a|y|n2\n3|1|20|30|COMPLETED|main|a|z|n3\n", 0},
		"a number used again":              {"1|1|10|30|COMPLETED|main|a|x|n1\n1|5|20|40|COMPLETED|main|a|y|n1\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := parseAccounts(test.rows)
			if err != nil {
				t.Fatal(err)
			}
			if found := overlaps(tenures(rows, "shared")); len(found) != test.want {
				t.Errorf("found %d overlaps, want %d: %q", len(found), test.want, found)
			}
		})
	}
}

// The sweep over sorted tenures against a look at every pair.
func TestTheJudgeFindsWhatALookAtEveryPairFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tenure {
			from := rapid.Int64Range(0, 20).Draw(t, "from")
			return tenure{
				tenant: tenant{id: rapid.Int64Range(1, 4).Draw(t, "job")}, node: rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node"),
				from: from, to: from + rapid.Int64Range(1, 6).Draw(t, "length"), alone: rapid.Bool().Draw(t, "alone"),
			}
		}), 0, 12).Draw(t, "tenures")
		want := 0
		for i, a := range all {
			for _, b := range all[:i] {
				if a.node == b.node && a.tenant != b.tenant && (a.alone || b.alone) && a.from < b.to && b.from < a.to {
					want++
				}
			}
		}
		if found := overlaps(all); len(found) != want {
			t.Fatalf("found %d, want %d: %q", len(found), want, found)
		}
	})
}

func TestTheJudgeSeesWhatIsCounted(t *testing.T) {
	const line = "ClusterName=lab Account=phys UserName= GrpJobs=N(%d) GrpSubmitJobs=N(0) GrpWall=N(20.82) GrpTRES=cpu=N(0),mem=9(%d) GrpTRESMins=cpu=N(125)\n"
	for _, test := range []struct{ jobs, memory, want int }{{0, 0, 0}, {3, 0, 1}, {0, 500, 1}, {10, 1, 2}} {
		if got := counted(fmt.Sprintf(line, test.jobs, test.memory)); len(got) != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestTheJudgeListsWhatIsLeftBehind(t *testing.T) {
	if left := leftBehind("", "No reservations in the system\n", "NodeName=n1 State=IDLE Port=1\nNodeName=n2 State=IDLE+PLANNED\n"); len(left) > 0 {
		t.Errorf("a cluster at rest has %q", left)
	}
	left := leftBehind("7 accordion-grow-3 RUNNING\n", "ReservationName=accordion-3-1 StartTime=1\n", "NodeName=n1 State=ALLOCATED\nNodeName=n2 State=IDLE+DRAIN\n")
	if len(left) != 4 {
		t.Errorf("found %d left-overs, want 4: %q", len(left), left)
	}
}
