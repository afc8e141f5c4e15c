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

// crew has the launchers of a run.
type crew struct {
	live         Live
	jobs, socket string // paths

	mu      sync.Mutex
	over    int
	seconds float64 // processor time
	failed  int
	why     string // the last message of a launcher that failed
}

// run starts each launcher at its arrival, and returns when all have ended.
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

// launch runs one launcher. When ctx ends the launcher is interrupted.
func (w *crew) launch(ctx context.Context, job int) {
	const above = 2 // job 0 is in line 2: line 1 is the header
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

// program returns a process that ends when this process ends. Ctrl-C reaches it only through this process.
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
