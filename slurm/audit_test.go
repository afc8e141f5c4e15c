package slurm_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/audit"
	"accordion/adapter/journal"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm"
	"accordion/slurm/output"
	"accordion/slurm/sacct"
)

// This file runs `accordion audit` at the end of every test on a real Slurm, and reads from Slurm's accounting
// which job held which node when.

// account is one row of sacct -D: what a job held from start to end. A resized job has a row for each size.
type account struct {
	id         int64
	name       string
	user       string
	partition  string
	state      string
	submit     int64 // Unix seconds; in a row that begins with a resize, the time of the resize
	start, end int64 // start is part of the time, end is not; end is 0 while the job runs, both are 0 if it never ran
	nodes      []string
}

// ended returns the end of the row. For a running job it returns a second after all ends.
func (a account) ended() int64 {
	if a.end == 0 {
		return openEnd
	}
	return a.end
}

// accountFields are the fields that readAccounts requests, in order.
const accountFields = "JobIDRaw,Submit,Start,End,State,Partition,User,JobName,NodeList"

// readAccounts returns sacct's rows since an instant, of all users or of the named ones.
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

// formatAccounts formats the rows for test logs.
func formatAccounts(rows []account) string {
	var b strings.Builder
	for _, a := range rows {
		fmt.Fprintf(&b, "%d %s %s %s submitted %d, %d to %d, %s on %s\n", a.id, a.name, a.user, a.partition, a.submit, a.start, a.end, a.state, hostlist.Compact(a.nodes))
	}
	return b.String()
}

// tenant identifies one job in accounting by its id and time of submission. A killed slurmctld forgets its last
// seconds, and may then give the same id to another job.
type tenant struct {
	id     int64
	submit int64 // Unix seconds
}

func (t tenant) String() string { return fmt.Sprintf("job %d (submitted at %d)", t.id, t.submit) }

// tenure is the time, in the seconds [from, to), for which one job held one node.
type tenure struct {
	tenant
	node     string
	from, to int64
	alone    bool // the job excludes other jobs from the node
}

// openEnd is the value of `to` in a tenure that has not ended.
const openEnd = int64(1) << 62

// tenures converts accounting rows to the times for which jobs held nodes. It orders the rows of a job by their
// ends. A row's submission time is the second in which the previous row ended. From that second on the job has the
// row's nodes, even if the row has another start. An expander or companion holds nodes for its job. Jobs of the
// partition `shared` may share nodes with each other.
func tenures(rows []account, shared string) []tenure {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b account) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.ended(), b.ended()), cmp.Compare(a.submit, b.submit))
	})
	who := make([]tenant, len(rows))
	latest := map[int64]tenant{} // the last submitted job of each id
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
		if parent, _ := output.AllocatedFor(r.name); latest[int64(parent)].id != 0 {
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

// sizes returns the nodes that a job and its companions had, as one list for each size, in order of time. A growth
// by two merges has a row for each merge. A size that lasted less than a second is left out.
func sizes(rows []account, job int64) [][]string {
	own := slices.DeleteFunc(slices.Clone(rows), func(r account) bool {
		parent, stays := output.AllocatedFor(r.name)
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

// lastRelease returns the latest second, not after `before`, in which a job other than `of` released one of the
// nodes. It also returns the id of that job. It returns zeros if there is no such job. Accounting knows only whole
// seconds.
func lastRelease(all []tenure, nodes []string, of int64, before int64) (second, by int64) {
	for _, t := range all {
		if t.id != of && t.to <= before && t.to > second && slices.Contains(nodes, t.node) {
			second, by = t.to, t.id
		}
	}
	return second, by
}

// auditedAccounts waits until accounting has the end of every ended job. It returns the rows of all users, or of the
// named ones.
func auditedAccounts(t *testing.T, lab *lab.SlurmLab, since time.Time, users ...string) ([]account, []tenure) {
	t.Helper()
	runAudit(t, lab, since, nil) // waits until accounting has the end of every ended job
	rows := readAccounts(t, lab, since, users...)
	held := tenures(rows, "shared")
	if len(held) == 0 {
		t.Error("accounting has no job that ran: nothing was judged")
	}
	return rows, held
}

// byAccounting are the kinds of audit findings that missing or wrong accounting rows may cause.
var byAccounting = []audit.Kind{audit.TwoJobs, audit.Missing, audit.Open, audit.End, audit.Size, audit.Sum, audit.Lost, audit.Hours, audit.Twice, audit.NoIntent}

// closeRunaways writes an end time into the accounting rows of jobs that ended in the second of their growth. Slurm
// 22.05 does not write it. `sacctmgr show runawayjobs` can write it only after slurmctld has forgotten the jobs.
func closeRunaways(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	const completed = 3 // the lowest state number of an ended job
	lab.Run(t, "root", "mariadb", "--no-defaults", "--socket="+filepath.Join(lab.Dir, "db", "socket"), "--user=root",
		fmt.Sprintf("--execute=update slurm_acct_db.lab_job_table set time_end = time_start + 1 where time_end = 0 and nodes_alloc > 0 and (state & 255) >= %d", completed))
}

// runAudit runs `accordion audit` in this process and fails the test if it finds anything except findings of the
// given kinds. It also audits the states that a watch recorded.
func runAudit(t *testing.T, lab *lab.SlurmLab, since time.Time, seen []adapter.CurrentState, unjudged ...audit.Kind) audit.Report {
	t.Helper()
	s, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source := audit.Source{Journal: noJournal{}, System: s, Settle: 2 * time.Minute, Seen: seen, Prompt: 15} // Settle and Prompt allow for a slow test machine
	path := filepath.Join(lab.Dir, "journal", "journal.db")
	if _, err := os.Stat(path); err == nil {
		j, err := journal.OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		source.Journal, source.Lease = j, s
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute) // a test that has ended is audited, too
	defer cancel()
	report, _, err := audit.Audit(ctx, source, since.Unix())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if slices.Contains(unjudged, f.Kind) {
			t.Logf("audit, not judged: %s", f.Line(time.Local))
			continue
		}
		t.Errorf("audit: %s", f.Line(time.Local))
	}
	if report.Unread > 0 {
		t.Errorf("audit: %d rows could not be read", report.Unread)
	}
	if t.Failed() {
		t.Log(formatAccounts(readAccounts(t, lab, since)))
	}
	t.Logf("audit: %d findings; %s", len(report.Findings), report.Summary())
	return report
}

// auditAtEnd runs `accordion audit` in the lab's own world at the end of the test, on everything since now.
func auditAtEnd(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	begun := time.Now()
	t.Cleanup(func() {
		says, errs, err := lab.Exec("root", "", "accordion", "audit", "--settle", "1m", "--since", begun.UTC().Format(time.RFC3339))
		if err != nil || !strings.HasPrefix(says, "clean: ") {
			t.Errorf("accordion audit prints (%v)\n%s%s", err, says, errs)
		}
		t.Log(says)
	})
}

// noJournal is the journal of a lab without a sidecar.
type noJournal struct{}

func (noJournal) Entries(int64) iter.Seq2[journal.Entry, error] {
	return func(func(journal.Entry, error) bool) {}
}

func (noJournal) Records() ([]journal.Record, error) { return nil, nil }

// recordCurrentState records once a second which job holds which node. The returned function stops it and returns the
// records.
func recordCurrentState(t *testing.T, lab *lab.SlurmLab) func() []adapter.CurrentState {
	t.Helper()
	s, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	saw := make(chan []adapter.CurrentState, 1)
	go func() {
		defer s.Close()
		var all []adapter.CurrentState
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				saw <- all
				return
			}
			if seen, err := s.CurrentState(ctx); err == nil { // an error means that slurmctld did not answer
				all = append(all, *seen)
			}
		}
	}()
	return func() []adapter.CurrentState {
		stop()
		return <-saw
	}
}

// assertNoCountIsLeft waits until slurmctld counts nothing as used by any association or QOS. The sidecar makes
// slurmctld recount when no managed job runs, at most every ten minutes.
func assertNoCountIsLeft(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	var left []string
	clean := func() bool {
		left = usedCounts(lab.Run(t, "root", "scontrol", "--oneliner", "show", "assoc_mgr", "flags=assoc,qos"))
		return len(left) == 0
	}
	end := time.Now().Add(11 * time.Minute)
	for poll := everySecond(clean); !poll(); {
		if time.Now().After(end) {
			t.Errorf("slurmctld counts jobs that do not exist:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}

// usedCounts returns what associations and QOS have in use: "QOS=normal(1) GrpJobs=N(3)".
func usedCounts(records string) []string {
	var used []string
	for line := range strings.Lines(records) {
		what := regexp.MustCompile(`(User|Account|QOS)=\S+`).FindString(line)
		for _, count := range regexp.MustCompile(`\b(GrpJobs|GrpSubmitJobs|GrpTRES)=\S*\([1-9]\S*`).FindAllString(line, -1) {
			used = append(used, what+" "+count)
		}
	}
	return used
}

// everySecond returns a condition that is evaluated at most once a second.
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

func TestAResizedJobIsOneTenant(t *testing.T) {
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
	for _, h := range held {
		if want := (tenant{id: 1, submit: 60}); h.id == 1 && h.tenant != want {
			t.Errorf("the hold of %s from %d is %s's, want %s's", h.node, h.from, h.tenant, want)
		}
	}
	if at, by := lastRelease(held, []string{"n4", "n5"}, 3, 165); at != 165 || by != 1 {
		t.Errorf("n4 and n5 were given up at %d by job %d, want 165 by job 1", at, by)
	}
}

func TestSizesAreCountedAndMergesAreNot(t *testing.T) {
	// A growth by overlap, one by a companion, and the end of the companion.
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
}

func TestANodeInTwoJobsIsFound(t *testing.T) {
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
			var text strings.Builder // the rows, in the format that ReadBooked reads
			for line := range strings.Lines(test.rows) {
				f := strings.Split(strings.TrimSpace(line), "|")
				fmt.Fprintln(&text, strings.Join([]string{f[0], f[1], f[2], f[3], f[4], f[5], f[6], "1", "1", "00:00:00", f[8], f[7]}, "|"))
			}
			books, err := sacct.ReadBooked(strings.NewReader(text.String()), "|", 1000)
			if err != nil || books.Unread > 0 {
				t.Fatal(err, books.Why)
			}
			for i := range books.Jobs {
				books.Jobs[i].Alone = books.Jobs[i].Partition == "main"
			}
			if found := audit.Judge(audit.Input{Now: 1000, Accounting: books}).Findings; len(found) != test.want {
				t.Errorf("found %d overlaps, want %d: %v", len(found), test.want, found)
			}
		})
	}
}

func TestUsedCountsAreParsed(t *testing.T) {
	const line = "ClusterName=lab Account=phys UserName= GrpJobs=N(%d) GrpSubmitJobs=N(0) GrpWall=N(20.82) GrpTRES=cpu=N(0),mem=9(%d) GrpTRESMins=cpu=N(125)\n"
	for _, test := range []struct{ jobs, memory, want int }{{0, 0, 0}, {3, 0, 1}, {0, 500, 1}, {10, 1, 2}} {
		if got := usedCounts(fmt.Sprintf(line, test.jobs, test.memory)); len(got) != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
