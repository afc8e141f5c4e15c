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

// submitPatience is how long a batch system may take to accept a job.
const submitPatience = 2 * time.Minute

// mostPrinted is how many bytes of a command's output are kept.
const mostPrinted = 64 << 10

// submit runs the command that submits the application's batch job on a cluster, and returns the job's number. The command's standard error
// goes to `stderr`; its standard output is parsed.
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
		if text := strings.TrimSpace(printed.String()); text != "" { // OAR explains failures on standard output
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

// beginning keeps the first bytes that are written to it.
type beginning struct{ bytes.Buffer }

func (s *beginning) Write(b []byte) (int, error) {
	s.Buffer.Write(b[:min(len(b), mostPrinted-s.Len())])
	return len(b), nil
}
