package two_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

var long = flag.Bool("accordion.long", false, "start an application 20 times, and judge how long a start takes")

// An application that requests two hosts of each cluster starts on both, while a job grows on each cluster and other
// jobs are submitted. The other jobs start as early as without the application.
func TestAnApplicationStartsOnBothWhileJobsGrowThere(t *testing.T) {
	t.Parallel()
	labs := lab.Two(t, 4, 4, lab.Users("alice", "bob"), lab.Delegate(" "))
	labs.Do(t, "serve")
	times := 3
	if *long {
		times = 20
	}
	w := &others{TwoLabs: labs}
	var took []float64
	var came []time.Duration // when each round started
	began := time.Now()
	for n := range times {
		came = append(came, time.Since(began))
		w.come(t, fmt.Sprint("beside", n), n%2 == 0)
		a := launch(t, labs, fmt.Sprint("start", n), "exec:./two", "", "sleep 2") // with a model as selector the application might use only one cluster while jobs run
		a.ends(t, 4*time.Minute, "0")
		a.ran(t, 0.2)
		took = append(took, a.said(t, "all parts run", 1)-a.said(t, "started on", 1))
	}
	beside := w.waited(t, times)
	settled(t, labs)
	slices.Sort(took)
	t.Logf("seconds from start to go: %.1f", took)
	if *long {
		if median, worst := took[len(took)/2], slices.Max(took); median >= 6 || worst >= 15 {
			t.Errorf("from start to go it takes %.1f s (median) and %.1f s (worst), want 6 and 15 at most", median, worst)
		}
		alone := w.again(t, came)
		settled(t, labs)
		for system, waits := range beside {
			t.Logf("ordinary jobs of %s waited %.1f s, without applications %.1f s", system, waits, alone[system])
			// Waiting jobs start before an application that is launched later. OAR makes a pass at most every 5 s.
			if later := median(waits) - median(alone[system]); later > 5 {
				t.Errorf("ordinary jobs of %s begin %.1f s later beside applications", system, later)
			}
		}
	}
	described(t, labs)

	cem := launch(t, labs, "cem", "cem:work=120,iterations=10", "", "sleep 2") // on idle clusters it is best to use all hosts of both
	cem.ends(t, 2*time.Minute, "0")
	cem.ran(t, 0.2)
	settled(t, labs)
}

// described checks which properties of the hosts launchers receive. Slurm reports all properties, and the lab's OAR
// reports properties only for cores.
func described(t *testing.T, labs *lab.TwoLabs) {
	t.Helper()
	type cluster struct {
		Name, Arch          string
		Cores, Mem, Scratch int
	}
	var view struct{ Clusters []cluster }
	text := labs.File("alice", "two.view")
	if err := json.Unmarshal([]byte(text), &view); err != nil {
		t.Fatalf("a launcher saw %q: %v", text, err)
	}
	told := map[string]cluster{}
	for _, c := range view.Clusters {
		told[c.Name] = c
	}
	if c := told["slurm"]; c.Cores == 0 || c.Mem == 0 || c.Scratch != 2000 || c.Arch == "" {
		t.Errorf("of Slurm's hosts launchers are told %+v, want cores, memory, TmpDisk and architecture", c)
	}
	if c := told["oar"]; c.Cores != 1 || c.Mem != 0 || c.Scratch != 0 || c.Arch != "" {
		t.Errorf("of OAR's hosts launchers are told %+v, want the one core that each has", c)
	}
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// others holds ordinary jobs and evolving jobs that run at the same time. The ordinary jobs have one host each and
// record their start. At any time there is at most one on each system.
type others struct {
	*lab.TwoLabs
	names []string
	at    []float64 // when each job was submitted
}

func (o *others) come(t *testing.T, name string, evolving bool) {
	t.Helper()
	if evolving { // each evolving job lasts about two rounds
		o.Sbatch(t, "bob", eachOnce, "--comment=ep=1x10s,2x20s")
		o.Oarsub(t, "bob", strings.ReplaceAll(eachOnce, "\n", ";"), "-q", "evolve", "-t", "ep=1x10s,2x20s")
	}
	for _, system := range []string{"slurm", "oar"} {
		file := name + "." + system
		script := "date +%s.%N >" + file + "; sleep 5"
		o.names, o.at = append(o.names, file), append(o.at, float64(time.Now().UnixNano())/1e9)
		if system == "slurm" {
			o.Sbatch(t, "bob", script, "-N1", "-t1")
		} else {
			o.Oarsub(t, "bob", script, "-l", "nodes=1,walltime=0:1:0")
		}
	}
}

// again submits the same jobs again, at the same times after the first job. It returns how long the ordinary jobs
// waited.
func (o *others) again(t *testing.T, came []time.Duration) map[string][]float64 {
	t.Helper()
	first := time.Now()
	for n, after := range came {
		time.Sleep(time.Until(first.Add(after)))
		o.come(t, fmt.Sprint("without", n), n%2 == 0)
	}
	return o.waited(t, len(came))
}

// waited waits until the last `times` jobs on each system have started. It returns their waits, by system.
func (o *others) waited(t *testing.T, times int) map[string][]float64 {
	t.Helper()
	all := map[string][]float64{}
	for i := len(o.names) - 2*times; i < len(o.names); i++ {
		began := 0.
		o.Await(t, 2*time.Minute, o.names[i]+" begins", func() (ok bool) {
			text := o.File("bob", o.names[i])
			_, err := fmt.Sscanf(text, "%f\n", &began)
			return err == nil && strings.HasSuffix(text, "\n")
		})
		_, system, _ := strings.Cut(o.names[i], ".")
		all[system] = append(all[system], began-o.at[i])
	}
	return all
}
