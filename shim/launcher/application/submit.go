package application

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// submitPatience is how long a batch system may take to take a job.
const submitPatience = 2 * time.Minute

// mostPrinted bounds what is kept of what a command prints, in bytes.
const mostPrinted = 64 << 10

// submit runs a command that submits the application's batch job on a cluster, and gives the job's number. What the command writes to its
// standard error goes on to stderr, too.
func submit(ctx context.Context, c Command, cluster string, application int64, stderr io.Writer) (int64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, submitPatience, fmt.Errorf("it took longer than %v", submitPatience))
	defer cancel()
	words := c.Marked(application)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var printed beginning
	cmd.Stdout, cmd.Stderr = &printed, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
		if text := strings.TrimSpace(printed.String()); text != "" { // OAR says why on its standard output
			fmt.Fprintln(stderr, text)
		}
	case err != nil:
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	default:
		var job int64
		if job, err = c.Job(printed.String()); err == nil {
			return job, nil
		}
		err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return 0, fmt.Errorf("submitting on %s: %w", cluster, err)
}

// beginning keeps the first bytes of what is written.
type beginning struct{ bytes.Buffer }

func (s *beginning) Write(b []byte) (int, error) {
	s.Buffer.Write(b[:min(len(b), mostPrinted-s.Len())])
	return len(b), nil
}
