package oar_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// stockQueue is scheduled by OAR's own scheduler.
const stockQueue = "default"

// rounds is the number of measurements with each scheduler. Each measurement has different jobs.
const rounds = 2

// A queue that moves to Accordion loses no time. Short jobs, rigid and moldable, end as early as under OAR's own
// scheduler, and a job on an idle cluster starts as early. The two schedulers are measured alternately on the same
// machine. To run this test: go test ./oar -run Stock -timeout 60m -v -args -accordion.long
func TestJobsAreOverAsEarlyAsUnderTheStockScheduler(t *testing.T) {
	if !*everything {
		t.Skip("judges times, on a machine that does nothing else: -args -accordion.long")
	}
	sum := map[string]float64{}
	for round := range rounds {
		for _, queue := range []string{stockQueue, "evolve"} {
			seed := *crowdSeed + uint64(round)
			t.Run(fmt.Sprint(queue, " seed ", seed), func(t *testing.T) {
				lab := lab.OAR(t, 16, lab.Plain())
				mean := turnaround(t, lab, queue, seed, 500)
				sum[queue] += mean
				t.Logf("mean turnaround of 500 jobs %.1f s", mean)
				checkNoOverlap(t, lab)
			})
		}
	}
	t.Run("an idle cluster", func(t *testing.T) {
		lab := lab.OAR(t, 4)
		took := map[string][]float64{}
		for range 15 { // the two queues alternate
			for _, queue := range []string{stockQueue, "evolve"} {
				took[queue] = append(took[queue], untilItRuns(t, lab, queue))
			}
		}
		stock, ours := quantile(took[stockQueue], 0.5), quantile(took["evolve"], 0.5)
		t.Logf("from the call of oarsub to the job's first line, medians of 15: stock %.2f s, Accordion %.2f s", stock, ours)
		if ours > stock*1.1 {
			t.Errorf("Accordion starts a job after %.2f s, and OAR's own scheduler after %.2f s", took["evolve"], took[stockQueue])
		}
	})
	if sum["evolve"] > sum[stockQueue] {
		t.Errorf("500 short jobs take %.1f s in the mean under Accordion, and %.1f s under OAR's own scheduler", sum["evolve"]/rounds, sum[stockQueue]/rounds)
	}
}

// every is the time between two submissions. On an idle machine oarsub manages twice this rate. Even at this rate, jobs arrive twice as
// fast as they end.
const every = 500 * time.Millisecond

// turnaround submits short jobs, every other one moldable. It returns the mean time, in seconds, from the scheduled submission of a job to
// the job's end. The scheduled submission is the same for each scheduler, however long oarsub takes. Otherwise a scheduler that slows
// oarsub down would seem better, because its jobs are submitted later.
func turnaround(t *testing.T, lab *lab.OARLab, queue string, seed uint64, jobs int) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 500))
	var script strings.Builder
	script.WriteString(`turn=${EPOCHREALTIME/./}
echo $turn
submit() {
	left=$((turn - ${EPOCHREALTIME/./}))
	((left <= 0)) || sleep $(printf %d.%06d $((left / 1000000)) $((left % 1000000)))
	oarsub "$@" >/dev/null || exit
	turn=$((turn + ` + strconv.FormatInt(every.Microseconds(), 10) + `))
}
`)
	for i := range jobs {
		nodes, lasts := 1+r.IntN(6), 1+r.IntN(3)
		choices := fmt.Sprintf("-l nodes=%d,walltime=0:0:%d", nodes, lasts+8)
		if i%2 == 0 {
			choices += fmt.Sprintf(" -l nodes=%d,walltime=0:0:%d", nodes+4, lasts+5)
		}
		fmt.Fprintf(&script, "submit -q %s %s 'sleep %d'\n", queue, choices, lasts)
	}
	file := filepath.Join(lab.Dir, "home", "alice", "all.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o755); err != nil {
		t.Fatal(err)
	}
	out, errs, err := lab.ExecWithin(20*time.Minute, "alice", "bash", file)
	if err != nil {
		t.Fatalf("submitting: %v\n%s", err, errs)
	}
	first, err := strconv.ParseInt(out, 10, 64)
	if err != nil {
		t.Fatalf("submitting: %v\n%s", err, errs)
	}
	lab.Await(t, 20*time.Minute, "all jobs have ended", func() bool {
		return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error')") == "0"
	})
	if bad := lab.SQL(t, "select count(*) from jobs where state = 'Error'"); bad != "0" {
		t.Errorf("%s jobs ended in error", bad)
	}
	end, err := strconv.ParseFloat(lab.SQL(t, "select avg(stop_time) from jobs"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return end - float64(first)/1e6 - every.Seconds()*float64(jobs-1)/2
}

// untilItRuns returns the seconds from the call of oarsub to the first line of the job.
func untilItRuns(t *testing.T, lab *lab.OARLab, queue string) float64 {
	t.Helper()
	out := lab.Run(t, "alice", "bash", "-c", "date +%s.%N; oarsub -q "+queue+" -l nodes=2,walltime=0:1:0 'date +%s.%N'")
	called, _, _ := strings.Cut(out, "\n")
	_, id, submitted := strings.Cut(out, "OAR_JOB_ID=")
	if !submitted {
		t.Fatalf("oarsub gave no job: %s", out)
	}
	ends(t, lab, id)
	first, err := os.ReadFile(filepath.Join(lab.Dir, "home", "alice", "OAR."+id+".stdout"))
	if err != nil {
		t.Fatal(err)
	}
	at := make([]float64, 2)
	for i, text := range []string{called, strings.TrimSpace(string(first))} {
		if at[i], err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatal(err)
		}
	}
	return at[1] - at[0]
}
