package oar_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter/status"
	"accordion/scripts/lab"
)

// planBy has OAR's passes plan by a policy from the next one on, which it asks for; "": by the default.
func planBy(t *testing.T, lab *lab.OARLab, policy string) {
	t.Helper()
	line := ""
	if policy != "" {
		line = `; echo 'ACCORDION_POLICY="` + policy + `"' >>/etc/oar/oar.conf`
	}
	lab.Run(t, "root", "sh", "-c", "sed -i /^ACCORDION_POLICY/d /etc/oar/oar.conf"+line)
	lab.Run(t, "root", "oarnotify", "Scheduling")
}

// servesBy is planBy with a sidecar, which reads the same line when it begins.
func servesBy(t *testing.T, lab *lab.OARLab, policy string) {
	t.Helper()
	lab.Do(t, "serve-stop")
	planBy(t, lab, policy)
	lab.Do(t, "serve")
}

// announced waits until a job that waits is explained to be planned on so many nodes, and returns why.
func announced(t *testing.T, lab *lab.OARLab, job string, nodes int) *status.Sizes {
	t.Helper()
	var x status.Explanation
	lab.Await(t, time.Minute, fmt.Sprintf("job %s is planned on %d nodes", job, nodes), func() bool {
		x = status.Explanation{}
		text, _, err := lab.Exec("root", "accordion", "explain", job, "--json")
		return err == nil && json.Unmarshal([]byte(text), &x) == nil && x.Sizes != nil && x.Sizes.Taken == nodes
	})
	return x.Sizes
}

// Rigid, moldable and evolving jobs on a machine of twelve nodes, idle and full, by the default policy and by another while they wait: what
// explain says is what they get, whether OAR's pass sizes them or the sidecar.
func TestAMoldableJobGetsTheSizeThatWasExplained(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 12, lab.Database(lab.PostgreSQL), lab.Users("alice", "bob"))
	lab.Do(t, "serve")
	t.Cleanup(func() { sidecarsWords(t, lab) })
	// Of reference 4: there nodes x time^2 is least.
	list := []string{"-q", "evolve", "-l", "nodes=2,walltime=0:5:0", "-l", "nodes=4,walltime=0:3:20", "-l", "nodes=8,walltime=0:2:40"}
	alone := lab.Submit(t, "alice", "sleep 1", list...)
	ends(t, lab, alone)
	if got := hosts(t, lab, alone); len(got) != 4 { // it wants 4 of 12: 4 x min(3 x sqrt(1/2), 1)
		t.Errorf("alone it ran on %v, want 4 nodes", got)
	}

	holder := lab.Submit(t, "bob", "while [ ! -e over ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=12,walltime=0:10:0")
	lab.Await(t, long, "the holder runs", func() bool { return lab.State(t, holder) == "Running" })
	molds := lab.Submit(t, "alice", "sleep 1", list...)
	ours := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-t", "ep1=2x5m", "-t", "ep2=4x200s", "-t", "ep3=8x160s")
	grows := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x8s,4x8s", 6, "6"))
	var behind []string // they want the machine three times over
	for range 3 {
		behind = append(behind, lab.Submit(t, "bob", "sleep 600", "-q", "evolve", "-l", "nodes=12,walltime=0:11:0"))
	}
	lab.Await(t, time.Minute, "the sidecar has seen the last", func() bool {
		return strings.Contains(lab.Run(t, "root", "accordion", "queue", "--json"), `{"id":`+behind[2]+`,`)
	})
	// s = 12/60, M = 60/7: 4 x 0.2 x sqrt(8.6/8) is below their floor.
	for _, job := range []string{molds, ours} {
		if x := announced(t, lab, job, 2); x.Rule != "share" || x.Machine != 12 || x.Held != 12 || x.Wanted != 4+4+4+3*12 || x.Reference != 4 {
			t.Errorf("job %s is planned by %+v", job, *x)
		}
	}
	servesBy(t, lab, "repeated+reference")
	for _, job := range []string{molds, ours} {
		announced(t, lab, job, 4)
	}
	planBy(t, lab, "repeated+shar")
	if said, _, err := lab.Exec("root", "accordion", "preflight"); err == nil {
		t.Errorf("with a policy that is misspelt preflight says %s", said)
	}
	servesBy(t, lab, "")
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
	if said := lab.Run(t, "root", "accordion", "journal"); strings.Contains(said, "promise broken") {
		t.Errorf("a promise was broken:\n%s", said)
	}
	nothingLeft(t, lab)
}
