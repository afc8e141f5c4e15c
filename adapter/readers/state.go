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

// State is the content of a small file next to the socket, which every user may read. It shows whether
// the sidecar runs.
type State struct {
	Running bool   `json:"running"`
	PID     int    `json:"pid"`
	Cluster string `json:"cluster"`
	Since   int64  `json:"since"` // Unix second at which the sidecar started or, if it does not run, ended
	At      int64  `json:"at"`    // Unix second at which the loop last answered; written every few seconds
}

const (
	beatPause = 5 * time.Second
	beatLost  = 30 * time.Second // if State.At is older than this, the sidecar was killed or hangs
)

// StatePath returns the path of the State file of the sidecar that listens on a socket.
func StatePath(socket string) string { return socket + ".state" }

// ReadState reads the state of the sidecar that listens on a socket. If the sidecar has not written its
// state in the 30 s before `now`, the result shows that it has not run since it last wrote the state.
// The error is fs.ErrNotExist if no sidecar has run since this host started.
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

// KeepState writes the state every few seconds as long as `alive` returns nil. When ctx ends, it writes
// that the sidecar does not run, and returns nil. If the file cannot be written, KeepState calls
// `report` with the error. It does not report the same error twice in a row.
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

// writeState replaces the file atomically: a reader sees either the old state or the new one. All users
// may read the file, whatever the umask is.
func writeState(path string, s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	// The temporary file always has the same name, so that a killed process leaves at most one such
	// file, which the next process replaces.
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

// AwayError is the error that no sidecar answers.
type AwayError struct {
	Socket string
	State  State // the state that was read; if State.Running is set, the sidecar runs but does not answer
	Known  bool  // whether the state could be read
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

// Meanwhile is a text for users about what happens while no sidecar runs.
const Meanwhile = "jobs that wait do so until it is back, running jobs run on, and only root can read its journal meanwhile"

// away returns the error that the sidecar on a socket does not answer. err is the error of the connection.
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
