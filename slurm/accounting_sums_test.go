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

	"accordion/internal/lab"
	"accordion/slurm/sacct"
)

// This file checks what `accordion audit` does not: the CPU-seconds that sacct and sreport have booked.

// readSums returns sacct's sums of all jobs submitted since an instant, once accounting has an end for each job that
// ended. Jobs of an earlier test in the same lab may have ended in the second of that instant.
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
		sums = slices.DeleteFunc(sums, func(s sacct.Sum) bool { return s.Submitted < since.Unix() })
		return !slices.ContainsFunc(sums, func(s sacct.Sum) bool {
			return s.Expands == 0 && (s.State == "RUNNING" || s.State == "RESIZING")
		})
	})
	return sums
}

// assertEachNodeHasItsProcessors checks all jobs that were submitted since an instant and have ended, and returns
// their CPU-seconds in sacct. Slurm 20.11 writes the CPUs of the next size into the row of each size. 26.05 writes
// the CPUs of the last size into the first row.
func assertEachNodeHasItsProcessors(t *testing.T, lab *lab.SlurmLab, since time.Time) (used float64) {
	t.Helper()
	resized := 0
	for _, s := range readSums(t, lab, since) {
		if used += float64(s.CPUSeconds); s.Rows == 1 || s.Expands != 0 {
			continue
		}
		resized++
		if lab.Slurm > "21" && lab.Slurm < "25" && s.CPUSeconds != s.NodeSeconds*int64(lab.CPUs) {
			t.Errorf("job %d has %d CPU-seconds in sacct, want %d for each of %d node-seconds", s.ID, s.CPUSeconds, lab.CPUs, s.NodeSeconds)
		}
	}
	if resized == 0 {
		t.Error("accounting knows no job that changed its size: nothing was judged")
	}
	return used
}

// assertTheProcessorsAreBooked checks the CPU-seconds of all jobs that ran since an instant and have ended. It
// checks them in sacct, and after a rollup also in sreport.
func assertTheProcessorsAreBooked(t *testing.T, lab *lab.SlurmLab, since time.Time) {
	t.Helper()
	used := assertEachNodeHasItsProcessors(t, lab, since)
	rows := slices.DeleteFunc(readAccounts(t, lab, since), func(r account) bool { return r.submit < since.Unix() })
	// Earlier tests ran in this lab, in the current hour or the one before. So the test moves its own jobs to
	// hours in which the lab did not exist yet.
	const move = 5 * time.Hour
	moveJobs(t, lab, since, -move)
	defer moveJobs(t, lab, since, move) // moved back, because `accordion audit` needs the true times
	from, to := since.Add(-move).Truncate(time.Hour), time.Now().Add(time.Hour-move).Truncate(time.Hour)
	lab.Run(t, "root", "sacctmgr", "--immediate", "rollup", from.Format(sreportTime), to.Format(sreportTime))
	assertTheUsageIs(t, lab, from.UTC(), to.UTC(), "UTC", used, slackOf(rows, lab.CPUs))
}

const sreportTime = "2006-01-02T15:04:05"

// slackOf returns the CPU-seconds by which sums may differ: those of two node-seconds for each change of size. An
// expander and its job both hold the nodes of a growth for a moment.
func slackOf(rows []account, cpus int) (slack float64) {
	for _, r := range rows {
		if r.state == "RESIZING" {
			slack += 2 * float64(cpus)
		}
	}
	return slack
}

// assertTheUsageIs checks sreport's usage of all users between two full hours. The usage may differ from `want` by
// 1 % or by `slack`, whichever is larger.
func assertTheUsageIs(t *testing.T, lab *lab.SlurmLab, from, to time.Time, tz string, want, slack float64) {
	t.Helper()
	booked := float64(sreported(t, lab, from, to, tz))
	t.Logf("sreport has %.0f CPU-seconds from %s to %s, and sacct has %.0f", booked, from, to, want)
	if off, most := math.Abs(booked-want), max(want/100, slack); off > most || want == 0 {
		t.Errorf("that is %.0f off, and may be %.0f", off, most)
	}
}

// moveJobs shifts the times of jobs that started since an instant, and the times of all events, by some hours in
// the database. The test needs this because slurmdbd adds up only full hours.
func moveJobs(t *testing.T, lab *lab.SlurmLab, since time.Time, by time.Duration) {
	t.Helper()
	started := since
	if by > 0 { // the jobs were moved forward before
		started = since.Add(-by)
	}
	var changes []string
	for _, column := range []string{"time_submit", "time_eligible", "time_start", "time_end"} {
		changes = append(changes, fmt.Sprintf("%s = if(%s > 0, %s + %.0f, 0)", column, column, column, by.Seconds()))
	}
	order := map[bool]string{true: "desc", false: "asc"}[by > 0] // so that no two rows of a job have the same second while the update runs
	lab.Run(t, "root", "mariadb", "--no-defaults", "--socket="+filepath.Join(lab.Dir, "db", "socket"), "--user=root", "--execute="+
		fmt.Sprintf("update slurm_acct_db.lab_job_table set %s where time_start >= %d and time_start < %d order by time_submit %s;",
			strings.Join(changes, ", "), started.Unix(), started.Add(4*time.Hour).Unix(), order)+
		fmt.Sprintf("update slurm_acct_db.lab_event_table set time_start = time_start + %.0f", by.Seconds()))
}

// tenGrowths is the script of a job that grows and shrinks ten times. Ten such jobs grow a hundred times.
var tenGrowths = "#EP " + strings.TrimSuffix(strings.Repeat("1x8s,2x8s,", 10), ",") + `
for step in $(seq 2 20); do sleep 5; eval "$(accordion step)" || exit; srun true; done
sleep 5
`

// The test runs a hundred growths and nearly as many shrinks around a full hour. At that time slurmdbd adds up the
// usage of the previous hour. The test chooses a time zone in which a full hour comes soon: go test ./slurm -run
// AHundredGrowths -timeout 1h -v -args -accordion.long
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
	auditAtEnd(t, lab)
	time.Sleep(time.Until(hour.Add(-100 * time.Second)))
	since := time.Now()
	var jobs []string
	for i := range 10 {
		jobs = append(jobs, lab.Submit(t, []string{"alice", "bob"}[i%2], tenGrowths))
	}
	lab.Await(t, 30*time.Minute, "all jobs have ended", func() bool { return lab.Run(t, "root", "squeue", "-h", "-a", "-o", "%A") == "" })
	grown := 0
	for _, job := range jobs {
		grown += strings.Count(lab.Run(t, "root", "accordion", "journal", "--json", "--job", job), `"grew"`)
	}
	if t.Logf("%d growths", grown); grown != 100 {
		t.Errorf("%d growths, want 100", grown)
	}
	assertEachNodeHasItsProcessors(t, lab, since)
	used, rows := int64(0), readAccounts(t, lab, since)
	rows = slices.DeleteFunc(rows, func(r account) bool { return r.start >= hour.Unix() })
	for _, h := range tenures(rows, "") {
		used += int64(lab.CPUs) * max(0, min(h.to, hour.Unix())-h.from)
	}
	assertTheUsageIs(t, lab, hour.Add(-time.Hour).In(zone), hour.In(zone), tz, float64(used), slackOf(rows, lab.CPUs))
}

// servesWithoutBound starts the sidecar in the lab's world without a limit on client programs, because a hundred
// growths within minutes need many client programs.
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

// sreported returns sreport's CPU-seconds of all users between two full hours in the time zone `tz`. It leaves out
// the CPUs that reservations kept idle, which slurmdbd charges to the reservations' users.
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

// keptIdle returns the CPU-seconds from `from` to `to` that reservations kept for their users and that no job used.
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

// A span is the time for which a reservation, or a job in it, had some CPUs.
type span struct{ reservation, from, to, cpus int64 }

// spans parses rows of id, start, end and TRES. An end of 0 means that the job has not ended.
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
