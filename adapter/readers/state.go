package readers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// State is the content of a small file next to the socket. It tells every user that the sidecar
// runs, or since when it does not.
type State struct {
	Running bool   `json:"running"`
	PID     int    `json:"pid"`
	Cluster string `json:"cluster"`
	Since   int64  `json:"since"` // Unix second of its start or, if it does not run, of its end
	At      int64  `json:"at"`    // Unix second at which it last answered; written every few seconds
}

const (
	beatPause = 5 * time.Second
	beatLost  = 30 * time.Second // if the state is older, the sidecar was killed or hangs
)

// StatePath returns the path of the state of the sidecar that listens on a socket.
func StatePath(socket string) string { return socket + ".state" }

// ReadState returns the state, at the time now, of the sidecar that listens on a socket. A sidecar
// that has not written for 30 s counts as not running since it last wrote. The error is
// fs.ErrNotExist if no sidecar ran since this host started.
func ReadState(socket string, now time.Time) (State, error) {
	var s State
	text, err := os.ReadFile(StatePath(socket))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", StatePath(socket), err)
	}
	if s.Running && now.Sub(time.Unix(s.At, 0)) > beatLost {
		s.Running, s.Since = false, s.At
	}
	return s, nil
}

// KeepState writes the state every few seconds as long as the loop answers. When ctx ends, it
// writes that the sidecar does not run, and returns nil. report is called with the error if the
// file cannot be written, once for each error.
func KeepState(ctx context.Context, socket, cluster string, alive func(context.Context) error, report func(error)) error {
	s := State{Running: true, PID: os.Getpid(), Cluster: cluster, Since: time.Now().Unix()}
	said := ""
	write := func() {
		err := writeState(StatePath(socket), s)
		if err != nil && err.Error() != said {
			said = err.Error()
			report(err)
		}
	}
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, beatPause)
		err := alive(within)
		cancel()
		if err == nil {
			s.At = time.Now().Unix()
			write()
		}
		select {
		case <-ctx.Done():
		case <-time.After(beatPause):
		}
	}
	s.Running, s.At = false, time.Now().Unix()
	s.Since = s.At
	write()
	return nil
}

// writeState replaces the file atomically: a reader sees the old state or the new one. Everyone may
// read it, whatever the umask.
func writeState(path string, s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	// The temporary name is fixed, so that a process that is killed leaves at most one file, which
	// the next process replaces.
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return nil
}

// AwayError is the error that no sidecar answers, and since when, if that is known.
type AwayError struct {
	Socket string
	State  State // the last state; if State.Running, the sidecar runs but does not answer
	Known  bool  // State was read
	Err    error
}

func (e *AwayError) Unwrap() error { return e.Err }

func (e *AwayError) Error() string {
	switch {
	case e.Known && e.State.Running:
		return fmt.Sprintf("ask the sidecar at %s: process %d lives, and does not answer (%v); try again", e.Socket, e.State.PID, e.Err)
	case e.Known:
		return fmt.Sprintf("ask the sidecar at %s: it has not been running since %s; %s", e.Socket, time.Unix(e.State.Since, 0).Format(time.DateTime), Meanwhile)
	}
	return fmt.Sprintf("ask the sidecar at %s: it is not running (%v); %s", e.Socket, e.Err, Meanwhile)
}

// Meanwhile is the text that tells users what happens while no sidecar runs.
const Meanwhile = "jobs that wait do so until it is back, running jobs run on, and only root can read its journal meanwhile"

// away returns the error for a sidecar that does not answer.
func away(socket string, err error) *AwayError {
	e := &AwayError{Socket: socket, Err: err}
	state, failed := ReadState(socket, time.Now())
	if e.Known = failed == nil; e.Known {
		e.State = state
	} else if !errors.Is(failed, fs.ErrNotExist) {
		e.Err = errors.Join(err, failed)
	}
	return e
}
