package slurm_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm/output"
)

// watcher reads the nodes all the time, in parallel with the test.
type watcher struct {
	stop     context.CancelFunc
	ended    chan struct{}
	readings []nodeReading
}

// A nodeReading is one reading of all nodes.
type nodeReading struct {
	begun, over time.Time
	state       map[string]string // by node
	holders     map[string]string // the jobs of each node, as "12 14"; an expander or companion counts as the job for which it was allocated
}

// watchNodes starts to read the lab's nodes.
func watchNodes(t *testing.T, lab *lab.SlurmLab) *watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{stop: cancel, ended: make(chan struct{})}
	t.Cleanup(cancel)
	ask := func(command ...string) string {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		program := command[0]
		if inWorld := filepath.Join(lab.Dir, "client", program); exists(inWorld) { // the client of the lab's own release
			program = inWorld
		}
		c := exec.CommandContext(ctx, program, command[1:]...)
		c.Env = lab.Env()
		out, _ := c.Output() // a failed reading is skipped
		return string(out)
	}
	go func() {
		defer close(w.ended)
		for ctx.Err() == nil {
			l := nodeReading{begun: time.Now(), state: map[string]string{}, holders: map[string]string{}}
			for line := range strings.Lines(ask("scontrol", "-o", "show", "node")) {
				if f := strings.Fields(line); len(f) > 0 {
					name := strings.TrimPrefix(f[0], "NodeName=")
					_, rest, _ := strings.Cut(line, " State=")
					l.state[name], _, _ = strings.Cut(rest, " ")
				}
			}
			for line := range strings.Lines(ask("squeue", "-h", "-a", "-t", "R,CG,S", "-o", "%A %N %j")) {
				if f := strings.Fields(line); len(f) == 3 {
					if parent, _ := output.AllocatedFor(f[2]); parent != 0 {
						f[0] = fmt.Sprint(parent)
					}
					names, _ := hostlist.Expand(f[1])
					for _, n := range names {
						if !slices.Contains(strings.Fields(l.holders[n]), f[0]) {
							l.holders[n] = strings.TrimSpace(l.holders[n] + " " + f[0])
						}
					}
				}
			}
			l.over = time.Now()
			w.readings = append(w.readings, l)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return w
}

// freedInTime checks how soon other jobs could use the nodes that a job released: within a second after the shrink,
// or within some seconds if the machine is busy with other tests.
func (w *watcher) freedInTime(t *testing.T, p *process, job string) {
	t.Helper()
	w.stop()
	<-w.ended
	bound := 5 * time.Second
	if *long {
		bound = time.Second
	}
	shrinks := 0
	var before []string
	for _, e := range p.events(job, "started", "grew", "shrank") {
		now, err := hostlist.Expand(e.Args["nodes"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if e.Verb == "shrank" {
			shrinks++
			for _, n := range without(before, now) {
				if took, when := w.free(n, job, e.At); when.IsZero() || took > bound {
					t.Errorf("node %s, given back by the shrink at %s, was free %v later, want %v at most", n, e.At.Format(time.TimeOnly), took, bound)
				} else {
					t.Logf("node %s was seen free %v after the shrink", n, took.Round(time.Millisecond))
				}
			}
		}
		before = now
	}
	if shrinks == 0 {
		t.Error("the journal has no shrink of the job")
	}
}

// free returns when other jobs could use a node. It looks for the first reading after `moment` that shows the node
// as idle or with another job. It returns the time since `moment`, and the beginning of the reading, because the
// reading's result may be as old as that.
func (w *watcher) free(node, job string, moment time.Time) (took time.Duration, when time.Time) {
	for _, l := range w.readings {
		if l.begun.Before(moment) || l.state[node] == "" {
			continue
		}
		holders := strings.Fields(l.holders[node])
		other := len(holders) > 0 && holders[0] != job
		if other || len(holders) == 0 && strings.HasPrefix(l.state[node], "IDLE") {
			return max(0, l.begun.Sub(moment)), l.begun
		}
	}
	return 0, time.Time{}
}

func without(all, some []string) []string {
	gone := map[string]bool{}
	for _, n := range some {
		gone[n] = true
	}
	var rest []string
	for _, n := range all {
		if !gone[n] {
			rest = append(rest, n)
		}
	}
	return rest
}
