package oar_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter/status"
	"accordion/internal/lab"
)

// planBy writes lines with Accordion's settings into oar.conf, and requests a pass, which is the first to plan by them. Without lines,
// passes plan by the default policy.
func planBy(t *testing.T, lab *lab.OARLab, lines ...string) {
	t.Helper()
	add := ""
	for _, line := range lines {
		add += `; echo '` + line + `' >>/etc/oar/oar.conf`
	}
	lab.Run(t, "root", "sh", "-c", "sed -i /^ACCORDION_/d /etc/oar/oar.conf"+add)
	lab.Notify(t, "Scheduling")
}

// servesBy does what planBy does, and starts a sidecar that reads the same lines.
func servesBy(t *testing.T, lab *lab.OARLab, lines ...string) {
	t.Helper()
	lab.Do(t, "serve-stop")
	planBy(t, lab, lines...)
	lab.Do(t, "serve")
}

// announced waits until accordion explain shows a waiting job with this number of nodes.
func announced(t *testing.T, lab *lab.OARLab, job string, nodes int) {
	t.Helper()
	explained(t, lab, job, fmt.Sprintf("on %d nodes", nodes), func(x *status.SizeExplanation) bool { return x.Taken == nodes })
}

// explained waits until accordion explain describes a waiting job as the function `so` requires, and returns the reason for its size.
func explained(t *testing.T, lab *lab.OARLab, job, how string, so func(*status.SizeExplanation) bool) *status.SizeExplanation {
	t.Helper()
	var x status.Explanation
	lab.Await(t, time.Minute, fmt.Sprintf("job %s is planned %s", job, how), func() bool {
		x = status.Explanation{}
		text, _, err := lab.Exec("root", "accordion", "explain", job, "--json")
		return err == nil && json.Unmarshal([]byte(text), &x) == nil && x.Sizes != nil && so(x.Sizes)
	})
	return x.Sizes
}

// refuses writes a wrong line into oar.conf. It checks that preflight exits with an error, that the next pass plans nothing, and that both
// report the reason.
func refuses(t *testing.T, lab *lab.OARLab, why string, lines ...string) {
	t.Helper()
	before := lab.Run(t, "root", "cat", "/var/log/oar.log")
	planBy(t, lab, lines...)
	if said, words, err := lab.Exec("root", "accordion", "preflight"); err == nil || !strings.Contains(words, why) {
		t.Errorf("preflight prints %s%s (%v), want %s", said, words, err, why)
	}
	lab.Await(t, time.Minute, "OAR's log contains "+why, func() bool {
		log := strings.TrimPrefix(lab.Run(t, "root", "cat", "/var/log/oar.log"), before)
		return strings.Contains(log, "nothing is planned, and jobs keep waiting") && strings.Contains(log, why)
	})
}

// Rigid, moldable and evolving jobs run on twelve nodes, when these are idle and when they are in use. The policy is the default at first,
// and changes while jobs wait. The jobs get the sizes that accordion explain has shown, whether OAR's pass or the sidecar chooses the size.
func TestAMoldableJobGetsTheSizeThatWasExplained(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 12, lab.Database(lab.PostgreSQL), lab.Users("alice", "bob"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	// The reference size is 4 nodes, the size with the smallest nodes × time².
	list := []string{"-q", "evolve", "-l", "nodes=2,walltime=0:5:0", "-l", "nodes=4,walltime=0:3:20", "-l", "nodes=8,walltime=0:2:40"}
	alone := lab.Submit(t, "alice", "sleep 1", list...)
	ends(t, lab, alone)
	if got := hosts(t, lab, alone); len(got) != 4 { // its size is 4 of 12 nodes: 4 x min(3 x sqrt(1/2), 1)
		t.Errorf("alone it ran on %v, want 4 nodes", got)
	}

	holder := lab.Submit(t, "bob", "while [ ! -e over ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=12,walltime=0:10:0")
	lab.Await(t, long, "the holder runs", func() bool { return lab.State(t, holder) == "Running" })
	molds := lab.Submit(t, "alice", "sleep 1", list...)
	ours := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-t", "ep1=2x5m", "-t", "ep2=4x200s", "-t", "ep3=8x160s")
	grows := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x8s,4x8s", 6, "6"))
	var behind []string // together the reference sizes are three times the machine
	for range 3 {
		behind = append(behind, lab.Submit(t, "bob", "sleep 600", "-q", "evolve", "-l", "nodes=12,walltime=0:11:0"))
	}
	// With s = 12/60 and M = 60/7, the size 4 x 0.2 x sqrt(8.6/8) is below the minimum size of these jobs.
	for _, job := range []string{molds, ours} {
		x := explained(t, lab, job, "on two nodes, beside five that wait", func(x *status.SizeExplanation) bool { return x.Taken == 2 && x.Waiting == 6 })
		if x.Rule != "share" || x.Machine != 12 || x.Held != 12 || x.Wanted != 4+4+4+3*12 || x.Reference != 4 {
			t.Errorf("job %s is planned by %+v", job, *x)
		}
	}
	servesBy(t, lab, `ACCORDION_POLICY="repeated+reference"`)
	for _, job := range []string{molds, ours} {
		announced(t, lab, job, 4)
	}
	refuses(t, lab, "did you mean repeated+share?", `ACCORDION_POLICY="repeated+shar"`)
	refuses(t, lab, "fixes sizes when jobs are submitted", `ACCORDION_POLICY=cirne-berman`)
	knows := []string{`ACCORDION_POLICY="repeated+load"`, `ACCORDION_STATISTICS="/etc/oar/arrivals.json"`}
	refuses(t, lab, "/etc/oar/arrivals.json: no such file", knows...)
	lab.Run(t, "root", "sh", "-c", "cd /etc/oar; accordion trace generate --model lublin --jobs 5000 -o log.swf; accordion trace statistics log.swf -o arrivals.json")
	servesBy(t, lab, knows...)
	for _, job := range []string{molds, ours} {
		explained(t, lab, job, "by the load, also of jobs to come", func(x *status.SizeExplanation) bool {
			return x.Rule == "load" && x.Parts.Future > 0 && x.Taken >= x.Least && x.Taken <= x.Most
		})
	}
	servesBy(t, lab)
	for _, job := range []string{molds, ours} {
		announced(t, lab, job, 2)
	}
	lab.Run(t, "bob", "touch", "over")
	for _, job := range []string{molds, ours} {
		ends(t, lab, job)
		if got := hosts(t, lab, job); len(got) != 2 {
			t.Errorf("job %s ran on %v, want the two nodes that it was announced", job, got)
		}
	}
	ends(t, lab, grows)
	if got := stepSizes(t, lab, "alice", grows); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 4", grows, got)
	}
	for _, job := range behind {
		lab.Run(t, "bob", "oardel", job)
	}
	for _, job := range append([]string{alone, holder, molds, ours, grows}, behind...) {
		kept(t, lab, job)
	}
	awaitNothingLeft(t, lab)
}

// kept checks that no promise to a job was broken, except by OAR's own delays.
func kept(t *testing.T, world *lab.OARLab, job string) {
	t.Helper()
	said := world.Run(t, "root", "accordion", "journal", "--json", "--job", job) + "\n"
	if broken, err := lab.BrokenPromises(strings.TrimLeft(said, "\n")); err != nil || broken != nil {
		t.Errorf("promises were broken: %q, %v\n%s", broken, err, said)
	}
}
