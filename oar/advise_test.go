package oar_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// commandLasting returns a command that takes t1 seconds on one node, and less time on more nodes, by Amdahl's law: a fraction p of the
// work runs in parallel.
func commandLasting(t1, p float64) string {
	return fmt.Sprintf(`sleep $(awk -v n=$(sort -u $OAR_NODEFILE | wc -l) 'BEGIN { print %g * (1 - %g + %g / n) }')`, t1, p, p)
}

// adviceOfHistory runs accordion advise on the jobs that have run on the lab. The advice is read from OAR's tables, in either database.
func adviceOfHistory(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	over, err := strconv.Atoi(lab.SQL(t, "select count(*) from jobs where state in ('Terminated', 'Error') and start_time > 0 and stop_time >= start_time"))
	if err != nil {
		t.Fatal(err)
	}
	var a struct{ Jobs int }
	if err := json.Unmarshal([]byte(lab.Run(t, "root", "accordion", "advise", "--oar", "--since", "1d", "--json")), &a); err != nil {
		t.Fatal(err)
	}
	if a.Jobs == 0 || a.Jobs > over {
		t.Errorf("the advice uses %d jobs, but %d have ended", a.Jobs, over)
	}
}

// For a job that ran on several sizes, the advice is to submit it as a moldable job. The advice comes from OAR's own
// tables, read with the read-only account. Jobs that are then submitted with the advised requests behave as the advice
// says. To run this test: go test ./oar -run SizesAreAdvised -v -args -accordion.long
func TestSizesAreAdvisedFromOARsTables(t *testing.T) {
	if !*everything {
		t.Skip("runs 21 jobs on several sizes, and some of them again as they are advised: -args -accordion.long")
	}
	t.Parallel()
	lab := lab.OAR(t, 12, lab.Users("alice", "bob"))
	const t1, p, rounds = 150, 0.9, 5
	sizes := []int{6, 2, 1}
	on := func(n int) string { return fmt.Sprintf("nodes=%d,walltime=0:3:0", n) }
	var all []string
	for k := range rounds {
		for _, n := range sizes {
			all = append(all, lab.Submit(t, "alice", commandLasting(t1, p), "-q", "evolve", "-n", fmt.Sprintf("cfd_%d", k), "-l", on(n)))
		}
		all = append(all, lab.Submit(t, "bob", "sleep 3", "-q", "evolve", "-n", "rigid", "-l", on(2)))
	}
	fails := lab.Submit(t, "bob", "exit 3", "-q", "evolve", "-n", "fails", "-l", on(1))
	lab.Await(t, long, "the job that fails has ended", func() bool { s := lab.State(t, fails); return s == "Terminated" || s == "Error" })
	for _, id := range all {
		ends(t, lab, id)
	}

	text := lab.Run(t, "root", "accordion", "advise", "--oar", "--since", "1h")
	t.Log("\n" + text)
	var a struct {
		Jobs   int
		Advice []any
		Sizes  []struct {
			User, Name, Line, Curve string
			Runs                    int
		}
		Silent struct {
			NotCompleted int `json:"not_completed"`
		}
	}
	if err := json.Unmarshal([]byte(lab.Run(t, "root", "accordion", "advise", "--oar", "--since", "1h", "--json")), &a); err != nil {
		t.Fatal(err)
	}
	if a.Jobs != len(all)+1 || len(a.Advice) != 0 || len(a.Sizes) != 1 || a.Silent.NotCompleted != 1 {
		t.Fatalf("the advice is %+v, want one for the job that ran on several sizes, of %d", a, len(all)+1)
	}
	one := a.Sizes[0]
	if one.User != "alice" || one.Name != "cfd_#" || one.Curve == "" || one.Runs != rounds*len(sizes) {
		t.Errorf("the advice is %+v", one)
	}
	told := requests(t, one.Line)
	for _, n := range sizes {
		const margin, within = 1.1, 0.15
		says, law := float64(told[n])/margin, t1*(1-p+p/float64(n))
		t.Logf("on %d nodes the advice is %.1f s without its margin, and the real time is %.1f s: %+.0f %%", n, says, law, 100*(says/law-1))
		if math.Abs(says/law-1) > within {
			t.Errorf("on %d nodes %s advises %.1f s without its margin, but it takes %.1f s", n, one.Line, says, law)
		}
	}
	again(t, lab, commandLasting(t1, p), one.Line, told)
}

// again submits the job several times with the advised requests. At least four of five jobs must end within the time
// that the advice gives for the size that they got.
func again(t *testing.T, lab *lab.OARLab, command, line string, told map[int]int) {
	t.Helper()
	const runs = 5
	options := append([]string{"-q", "evolve", "-n", "again"}, strings.Fields(line)[1:]...)
	var ids []string
	for range runs {
		ids = append(ids, lab.Submit(t, "alice", command, options...))
	}
	onTime := 0
	for _, id := range ids {
		ends(t, lab, id)
		took, err := strconv.Atoi(lab.SQL(t, "select stop_time - start_time from jobs where job_id = "+id))
		if err != nil {
			t.Fatal(err)
		}
		n := len(hosts(t, lab, id))
		t.Logf("job %s took %d s on %d nodes, where %d were told", id, took, n, told[n])
		if told[n] == 0 {
			t.Errorf("job %s ran on %d nodes with %s", id, n, line)
		}
		if took <= told[n] {
			onTime++
		}
	}
	if onTime*5 < runs*4 {
		t.Errorf("%d of %d jobs with %s were on time", onTime, runs, line)
	}
}

// requests returns the walltime, in seconds, that oarsub's options request for each number of nodes.
func requests(t *testing.T, line string) map[int]int {
	t.Helper()
	all := map[int]int{}
	for _, request := range strings.Split(line, " -l ")[1:] {
		var n, h, m, s int
		if _, err := fmt.Sscanf(request, "nodes=%d,walltime=%d:%d:%d", &n, &h, &m, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all[n] = h*3600 + m*60 + s
	}
	return all
}
