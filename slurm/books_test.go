package slurm_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/scripts/lab"
	"accordion/slurm/sacct"
)

// This file judges the books: what sacct and sreport have booked for each job is what it held, as a watcher of squeue saw.

// A tally is what a job held, as a watcher saw.
type tally struct {
	nodeSeconds float64
	moved       int // nodes that it got or gave up, in all
}

// tolerance returns by how much the books may differ: Slurm writes whole seconds, and an expander holds the nodes of a growth before they
// are the job's.
func (t tally) tolerance() float64 { return max(t.nodeSeconds/100, 2*float64(t.moved)) }

// held returns what each job held from one instant until another, as far as it was seen.
func (w *watcher) held(from, to time.Time) map[core.JobID]tally {
	w.stop()
	<-w.ended
	looks := slices.DeleteFunc(slices.Clone(w.looks), func(l look) bool { return len(l.state) == 0 }) // readings that failed
	all := map[core.JobID]tally{}
	before := map[core.JobID]map[string]bool{}
	for i, l := range looks {
		end := to
		if i+1 < len(looks) {
			end = looks[i+1].over
		}
		begin := l.over
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		now := map[core.JobID]map[string]bool{}
		for node, holders := range l.holders {
			for _, word := range strings.Fields(holders) {
				id, _ := strconv.ParseInt(word, 10, 64)
				if now[core.JobID(id)] == nil {
					now[core.JobID(id)] = map[string]bool{}
				}
				now[core.JobID(id)][node] = true
			}
		}
		if !begin.Before(end) {
			before = now
			continue
		}
		for id, nodes := range now {
			t := all[id]
			t.nodeSeconds += float64(len(nodes)) * end.Sub(begin).Seconds()
			for node := range nodes {
				if !before[id][node] {
					t.moved++
				}
			}
			all[id] = t
		}
		for id, nodes := range before {
			t := all[id]
			for node := range nodes {
				if !now[id][node] {
					t.moved++
				}
			}
			all[id] = t
		}
		before = now
	}
	return all
}

// readSums asks sacct for the sums of all jobs since an instant, once it knows the ends of those that ended.
func readSums(t *testing.T, lab *lab.SlurmLab, since time.Time) []sacct.Sum {
	t.Helper()
	var sums []sacct.Sum
	lab.Await(t, time.Minute, "accounting knows all ends", func() bool {
		text := lab.Run(t, "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", "--allusers", "--duplicates", "--allocations", "--parsable2",
			"--format="+sacct.SumColumns, since.Format("--starttime=2006-01-02T15:04:05"))
		var err error
		if sums, err = sacct.ReadSums(strings.NewReader(text), "sacct", time.Local, time.Now().Unix()); err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(sums, func(s sacct.Sum) bool {
			return s.Expands == 0 && (s.State == "RUNNING" || s.State == "RESIZING")
		})
	})
	return sums
}

// ofEachNumber adds the sums of jobs with one number, such as the runs of a requeued one.
func ofEachNumber(sums []sacct.Sum) (all []sacct.Sum) {
	for _, s := range sums {
		if last := len(all) - 1; last >= 0 && all[last].ID == s.ID {
			all[last].NodeSeconds, all[last].CPUSeconds, all[last].Rows = all[last].NodeSeconds+s.NodeSeconds, all[last].CPUSeconds+s.CPUSeconds, all[last].Rows+s.Rows
			continue
		}
		all = append(all, s)
	}
	return all
}

// assertTheSumsAreWhatWasHeld judges all jobs since an instant that have ended. It returns how many CPUs each has of a node. Slurm 20.11
// writes the CPUs of the next size into the row of each size. 26.05 writes those of the last size into the row of the first one.
func assertTheSumsAreWhatWasHeld(t *testing.T, lab *lab.SlurmLab, since time.Time, w *watcher) (cpus map[core.JobID]float64) {
	t.Helper()
	held := w.held(since, time.Now())
	cpus = map[core.JobID]float64{}
	sums := readSums(t, lab, since)
	beside := map[core.JobID]int64{} // what expanders of each job have: the watcher counts it as the job's, and so does the job once they are merged
	for _, s := range sums {
		if s.Expands != 0 && !s.Stays {
			beside[s.Expands] += s.NodeSeconds
		}
	}
	for _, s := range ofEachNumber(sacct.Beside(sums)) {
		h, seen := held[s.ID]
		if !seen {
			continue // it ran for less than a look
		}
		cpus[s.ID] = float64(s.CPUSeconds) / float64(max(s.NodeSeconds, 1))
		if off := max(float64(s.NodeSeconds)-h.nodeSeconds, h.nodeSeconds-float64(s.NodeSeconds+beside[s.ID])); off > h.tolerance() {
			t.Errorf("job %d has %d node-seconds in sacct, and its expanders %d, and held %.0f: more than %.0f off", s.ID, s.NodeSeconds, beside[s.ID], h.nodeSeconds, h.tolerance())
		} else {
			t.Logf("job %d: %d node-seconds in sacct, %.0f held, in %d rows", s.ID, s.NodeSeconds, h.nodeSeconds, s.Rows)
		}
		if s.Rows > 1 && lab.Slurm > "21" && lab.Slurm < "25" && s.CPUSeconds != s.NodeSeconds*int64(lab.CPUs) {
			t.Errorf("job %d has %d CPU-seconds in sacct, want %d for each of %d node-seconds", s.ID, s.CPUSeconds, lab.CPUs, s.NodeSeconds)
		}
	}
	if len(cpus) == 0 {
		t.Error("no job was seen that accounting knows: nothing was judged")
	}
	return cpus
}

// assertTheBooksAreRight judges all that ran since an instant and has ended: in sacct, and in sreport after a rollup.
func assertTheBooksAreRight(t *testing.T, lab *lab.SlurmLab, since time.Time, w *watcher) {
	t.Helper()
	cpus := assertTheSumsAreWhatWasHeld(t, lab, since, w)
	for _, wrong := range misbooked(readAccounts(t, lab, since)) {
		t.Error(wrong)
	}
	held := w.held(since, time.Now())
	moveBack(t, lab)
	to := time.Now().Truncate(time.Hour)
	from := since.Add(-time.Hour).Truncate(time.Hour)
	lab.Run(t, "root", "sacctmgr", "--immediate", "rollup", from.Format(sreportTime), to.Format(sreportTime))
	assertTheUsageIsWhatWasHeld(t, lab, from.UTC(), to.UTC(), "UTC", held, cpus)
}

const sreportTime = "2006-01-02T15:04:05"

// assertTheUsageIsWhatWasHeld judges what sreport has of all users from one full hour until another.
func assertTheUsageIsWhatWasHeld(t *testing.T, lab *lab.SlurmLab, from, to time.Time, tz string, held map[core.JobID]tally, cpus map[core.JobID]float64) {
	t.Helper()
	want, tolerance := 0.0, 0.0
	for id, h := range held {
		want, tolerance = want+h.nodeSeconds*cpus[id], tolerance+h.tolerance()*cpus[id]
	}
	booked := float64(sreported(t, lab, from, to, tz))
	t.Logf("sreport has %.0f CPU-seconds from %s to %s, and %.0f were held", booked, from, to, want)
	if off := math.Abs(booked - want); off > tolerance || want == 0 {
		t.Errorf("that is %.0f off, and may be %.0f", off, tolerance)
	}
}

// moveBack moves all jobs and events in the database to one hour earlier, because slurmdbd adds up full hours only.
func moveBack(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	var changes []string
	for _, column := range []string{"time_submit", "time_eligible", "time_start", "time_end"} {
		changes = append(changes, fmt.Sprintf("%s = if(%s > 0, %s - 3600, 0)", column, column, column))
	}
	lab.Run(t, "root", "mariadb", "--no-defaults", "--socket="+filepath.Join(lab.Dir, "db", "socket"), "--user=root", "--execute="+
		"update slurm_acct_db.lab_job_table set "+strings.Join(changes, ", ")+" order by time_submit;"+
		"update slurm_acct_db.lab_event_table set time_start = time_start - 3600")
}

// misbooked finds what is wrong with the rows of jobs that changed their size: a size that has no time or no end, or does not begin where
// the one before it ended.
func misbooked(rows []account) []string {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b account) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.ended(), b.ended()), cmp.Compare(a.submit, b.submit))
	})
	var wrong []string
	for i, r := range rows {
		if len(r.nodes) == 0 {
			continue
		}
		if r.state == "RESIZING" && r.end <= r.start {
			wrong = append(wrong, fmt.Sprintf("job %d: its size of %d nodes has no time", r.id, len(r.nodes)))
		}
		if i == 0 || rows[i-1].id != r.id || rows[i-1].state != "RESIZING" {
			continue
		}
		if last := rows[i-1]; r.start != last.end {
			wrong = append(wrong, fmt.Sprintf("job %d: its size of %d nodes begins at %d, and the one before ended at %d", r.id, len(r.nodes), r.start, last.end))
		}
	}
	return wrong
}

func TestTheJudgeOfTheBooksFindsWhatTwoChangesInASecondLeave(t *testing.T) {
	for name, test := range map[string]struct{ rows, want string }{
		"right": {`1|60|135|150|RESIZING|main|alice|a|n[1-2]
1|150|150|151|RESIZING|main|alice|a|n[1-5]
1|151|151|160|RESIZING|main|alice|a|n[1-5]
1|160|160|165|COMPLETED|main|alice|a|n[1-2]
2|150|150|151|RESIZING|main|alice|accordion-grow-1|n[3-5]
2|151|151|Unknown|COMPLETED|main|alice|accordion-grow-1|None assigned
3|150|150|150|RESIZING|main|alice|accordion-over-1|None assigned
`, "[]"},
		"22.05, while it runs": {`1|60|135|150|RESIZING|main|alice|a|n[1-2]
1|150|150|150|RESIZING|main|alice|a|n[1-5]
`, "[job 1: its size of 5 nodes has no time]"},
		"24.11": {`1|60|135|150|RESIZING|main|alice|a|n[1-5]
1|150|135|160|COMPLETED|main|alice|a|n[1-2]
`, "[job 1: its size of 2 nodes begins at 135, and the one before ended at 150]"},
	} {
		rows, err := parseAccounts(test.rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(misbooked(rows)); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// tenGrowths is the script of a job that grows and shrinks ten times; ten such jobs grow a hundred times.
var tenGrowths = "#EP " + strings.TrimSuffix(strings.Repeat("1x8s,2x8s,", 10), ",") + `
for step in $(seq 2 20); do sleep 5; eval "$(accordion step)" || exit; srun true; done
sleep 5
`

// A hundred growths, and nearly as many shrinks, lie across a full hour, at which slurmdbd adds up what was used in the hour before. It is
// a full hour in a time zone that is made for it: go test ./slurm -run AHundredGrowths -timeout 1h -v -args -accordion.long
func TestTheBooksAreRightAfterAHundredGrowthsAcrossAFullHour(t *testing.T) {
	if !*long {
		t.Skip("takes some ten minutes: -args -accordion.long")
	}
	for _, release := range []string{"", "24.11"} {
		t.Run(cmp.Or(release, "own"), func(t *testing.T) {
			t.Parallel()
			acrossTheHour(t, release)
		})
	}
}

func acrossTheHour(t *testing.T, release string) {
	hour := time.Now().Add(6 * time.Minute).Truncate(time.Minute)
	offset := (60 - hour.UTC().Minute()) % 60
	tz, zone := fmt.Sprintf("LAB-0:%02d", offset), time.FixedZone("LAB", 60*offset)
	options := []lab.Option{lab.Users("alice", "bob"), lab.Zone(tz)}
	if release != "" {
		options = append(options, lab.Release(release))
	}
	lab := lab.Slurm(t, 20, options...)
	servesWithoutBound(t, lab)
	time.Sleep(time.Until(hour.Add(-100 * time.Second)))
	since, watched := time.Now(), watch(t, lab)
	var jobs []string
	for i := range 10 {
		jobs = append(jobs, lab.Submit(t, []string{"alice", "bob"}[i%2], tenGrowths))
	}
	lab.Await(t, 30*time.Minute, "all jobs have ended", func() bool { return lab.Run(t, "root", "squeue", "-h", "-a", "-o", "%A") == "" })
	time.Sleep(2 * time.Second) // the watch looks once a second, and is to have seen that
	used := watched.held(hour.Add(-time.Hour), hour)
	grown := 0
	for _, job := range jobs {
		grown += strings.Count(lab.Run(t, "root", "accordion", "journal", "--json", "--job", job), `"grew"`)
	}
	if t.Logf("%d growths", grown); grown != 100 {
		t.Errorf("%d growths, want 100", grown)
	}
	cpus := assertTheSumsAreWhatWasHeld(t, lab, since, watched)
	for _, wrong := range misbooked(readAccounts(t, lab, since)) {
		t.Error(wrong)
	}
	assertTheUsageIsWhatWasHeld(t, lab, hour.Add(-time.Hour).In(zone), hour.In(zone), tz, used, cpus)
}

// servesWithoutBound starts the sidecar in the lab's world with no bound on client programs: so many growths a minute need many.
func servesWithoutBound(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Do(t, "serve") // writes the settings
	lab.Do(t, "serve-stop")
	settings := filepath.Join(lab.Dir, "etc", "accordion.toml")
	text, err := os.ReadFile(settings)
	if err == nil {
		err = os.WriteFile(settings, []byte(strings.Replace(string(text), "[slurm]\n", "[slurm]\nclients_per_minute = 0\n", 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "root", "sh", "-c", `setsid sh -c 'umask 077; echo $$ >"$0/pid/accordion.pid"; exec "$0/bin/accordion" serve --config "$0/etc/accordion.toml"' "$0" >>"$0/log/accordion.log" 2>&1 </dev/null &`, lab.Dir)
	lab.Await(t, time.Minute, "the sidecar serves", func() bool {
		_, _, err := lab.Exec("root", "", "accordion", "status")
		return err == nil
	})
}

// sreported returns the CPU-seconds that sreport has of all users from one full hour until another, by clocks of the zone. What a
// reservation kept idle is not counted: slurmdbd books it on the users of the reservation.
func sreported(t *testing.T, lab *lab.SlurmLab, from, to time.Time, tz string) (seconds int64) {
	t.Helper()
	text := lab.Run(t, "root", "env", "TZ="+tz, "sreport", "--noheader", "--parsable2", "-t", "Seconds", "-T", "cpu", "cluster", "UserUtilizationByAccount",
		"start="+from.Format(sreportTime), "end="+to.Format(sreportTime))
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		used, err := strconv.ParseInt(f[len(f)-1], 10, 64)
		if err != nil {
			t.Fatalf("sreport: %q", line)
		}
		seconds += used
	}
	idle := keptIdle(t, lab, from.Unix(), to.Unix())
	t.Logf("sreport has %d CPU-seconds of users, and reservations kept %d idle", seconds, idle)
	return seconds - idle
}

// keptIdle returns the CPU-seconds from one second until another that reservations had for their users and that no job used in them.
func keptIdle(t *testing.T, lab *lab.SlurmLab, from, to int64) (idle int64) {
	t.Helper()
	reservations := spans(t, lab, "select id_resv, time_start, time_end, tres from slurm_acct_db.lab_resv_table where assoclist <> ''", to)
	jobs := spans(t, lab, "select id_resv, time_start, time_end, tres_alloc from slurm_acct_db.lab_job_table where id_resv > 0 and time_start > 0", to)
	for _, r := range reservations {
		r.from, r.to = max(r.from, from), min(r.to, to)
		left := r.cpus * max(0, r.to-r.from)
		for _, j := range jobs {
			if j.reservation == r.reservation {
				left -= j.cpus * max(0, min(j.to, r.to)-max(j.from, r.from))
			}
		}
		idle += max(0, left)
	}
	return idle
}

// A span is for how long a reservation, or a job in it, had so many CPUs.
type span struct{ reservation, from, to, cpus int64 }

// spans reads id, start, end (0: it lasts until now) and TRES.
func spans(t *testing.T, lab *lab.SlurmLab, query string, now int64) (all []span) {
	t.Helper()
	text := lab.Run(t, "root", "mariadb", "--no-defaults", "--socket="+filepath.Join(lab.Dir, "db", "socket"), "--user=root",
		"--skip-column-names", "--batch", "--execute="+query)
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		s := span{}
		for i, into := range []*int64{&s.reservation, &s.from, &s.to} {
			*into, _ = strconv.ParseInt(f[i], 10, 64)
		}
		if s.to == 0 {
			s.to = now
		}
		for item := range strings.SplitSeq(f[3], ",") {
			if n, ok := strings.CutPrefix(item, "1="); ok {
				s.cpus, _ = strconv.ParseInt(n, 10, 64)
			}
		}
		all = append(all, s)
	}
	return all
}
