package slurm_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// onePass is the number of seconds by which a job's start may differ between two runs of one workload. Slurm looks
// at its whole queue every 30 s (bf_interval), and needs up to 3 s from the release of nodes to a start.
const onePass = 30 + 3

// Earlier jobs do not wait for later ones. Two runs submit the same ordinary jobs at the same seconds. In one of
// the runs managed jobs follow when all ordinary jobs wait or run. Start times are those in Slurm's accounting.
func TestOrdinaryJobsDoNotStartLaterForManagedOnesBehindThem(t *testing.T) {
	parallelUnlessLong(t)
	bound := 2.0 * onePass // a short slowness can cost a whole pass
	m := mix{evolving: 3, moldable: 1, ordinary: 30, short: true, over: 10 * time.Second, after: 11 * time.Second}
	if *long {
		bound = onePass
		m = mix{evolving: 8, moldable: 4, ordinary: 150, over: 40 * time.Second, after: 41 * time.Second}
	}
	lab := workloadLab(t)
	without := ordinaryOf(m.submissions(*seed))
	alone := startsOf(t, lab, without)
	p := serving(t, lab, "")
	all := m.submissions(*seed)
	with := ordinaryOf(all)
	beside := startsOf(t, lab, all)

	var differences []float64
	for i := range without {
		a, b := alone[without[i].id], beside[with[i].id]
		differences = append(differences, b-a)
		if b-a > bound {
			t.Errorf("ordinary job %s began %.0f s after the first submission, and %.0f s (as job %s) with managed jobs behind it: %.0f s later, want at most %.0f s\n%s",
				without[i].id, a, b, with[i].id, b-a, bound, startedMeanwhile(all, beside, with[i], b-a))
		}
	}
	t.Logf("%d ordinary jobs with %d managed ones behind them began later by %.0f s in the median, %.0f s in 95 %%, %.0f s at most (earlier: %.0f s)", len(with),
		len(all)-len(with), quantile(differences, 0.5), quantile(differences, 0.95), quantile(differences, 1), -quantile(differences, 0))
	if t.Failed() {
		(&workloadResult{t: t, lab: lab, p: p}).saveArtifacts()
	}
}

// startsOf runs a workload and returns the start of each job, by job id, in seconds after the first submission.
func startsOf(t *testing.T, lab *lab.SlurmLab, all []*submission) map[string]float64 {
	t.Helper()
	lab.Clear(t)
	since := time.Now()
	submitAll(t, lab, all)
	awaitNoJobs(t, lab, 15*time.Minute)
	var rows []account
	starts := map[string]float64{}
	poll, patience := everySecond(func() bool { // slurmdbd receives jobs with a delay
		rows = readAccounts(t, lab, since)
		for _, r := range rows {
			id := strconv.FormatInt(r.id, 10)
			at := float64(r.start) - float64(all[0].submitted.UnixMilli())/1000
			if first, known := starts[id]; r.start > 0 && (!known || at < first) {
				starts[id] = at
			}
		}
		return !slices.ContainsFunc(all, func(s *submission) bool { _, known := starts[s.id]; return !known })
	}), time.Now().Add(2*time.Minute)
	for !poll() {
		if time.Now().After(patience) {
			t.Fatalf("after two minutes accounting lacks the start of a job:\n%s", formatAccounts(rows))
		}
	}
	return starts
}

// startedMeanwhile returns the jobs that started while the job `late` waited too long, because they may be the
// cause.
func startedMeanwhile(all []*submission, starts map[string]float64, late *submission, by float64) string {
	var lines []string
	inOrder := slices.SortedFunc(slices.Values(all), func(a, b *submission) int { return cmp.Compare(starts[a.id], starts[b.id]) })
	for _, s := range inOrder {
		if at := starts[s.id]; at <= starts[late.id] && at >= starts[late.id]-by-2*onePass {
			what := strings.Join(s.options, " ")
			if s.kind != "ordinary" {
				what = strings.Split(s.script, "\n")[1]
			}
			lines = append(lines, fmt.Sprintf("  %6.1f s: %s job %s, submitted at %.1f s: %s", at, s.kind, s.id, s.at.Seconds(), what))
		}
	}
	return strings.Join(lines, "\n")
}
