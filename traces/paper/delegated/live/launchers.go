package live

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"accordion/traces/paper/delegated"
)

// crew is the launchers of a run.
type crew struct {
	live         Live
	jobs, socket string // paths

	mu      sync.Mutex
	over    int
	seconds float64 // processor time
	failed  int
	why     string // the last that one said which failed
}

// run begins each launcher at its arrival, and returns when all are over.
func (w *crew) run(ctx context.Context, jobs []delegated.Job) {
	var all sync.WaitGroup
	defer all.Wait()
	start := time.Now()
	for i, j := range jobs {
		at := time.Duration(j.Arrive) * time.Second / time.Duration(w.live.Pace)
		if pause(ctx, at-time.Since(start)) != nil {
			return
		}
		all.Go(func() { w.launch(ctx, i) })
	}
}

// launch is one launcher, from its start to its end. When ctx ends it is interrupted.
func (w *crew) launch(ctx context.Context, job int) {
	const above = 2 // lines of the file: the header, and lines count from 1
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, w.live.Program, "launch", "--application", fmt.Sprintf("%s:%d", w.jobs, job+above), "--connect", w.socket)
	c.SysProcAttr, c.Stdout, c.Stderr = own(), &out, &said
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = patience
	err := c.Run()
	w.mu.Lock()
	defer w.mu.Unlock()
	_, used, _ := strings.Cut("\n"+out.String(), "\nused ")
	var seconds float64
	if _, wrong := fmt.Sscan(used, &seconds); wrong != nil && err == nil {
		err = fmt.Errorf("it did not say what it used: %w", wrong)
	}
	w.seconds += seconds
	if err != nil {
		w.failed++
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		w.why = fmt.Sprintf("%v: %s", err, lines[len(lines)-1])
	}
	if w.over++; w.live.Done != nil {
		w.live.Done(w.over)
	}
}

// program is a process that ends with us. A ^C is ours to pass on.
func program(path string, words ...string) *exec.Cmd {
	c := exec.Command(path, words...)
	c.SysProcAttr = own()
	return c
}

func own() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
