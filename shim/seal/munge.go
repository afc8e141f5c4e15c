package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// MaxAge is how old a credential may be, and how far the clocks of two hosts may differ. It is munge's default time to
// live. A credential that was made with a longer time to live is not accepted longer.
const MaxAge = 5 * time.Minute

// Munge makes and reads credentials with the programs munge and unmunge. It is safe for concurrent use.
type Munge struct {
	socket string        // munged's socket; "" means munge's default
	bound  time.Duration // timeout of one call, including the wait for a free place
	places chan struct{} // limits the number of programs that run simultaneously, so that many shims do not cause many processes
}

// NewMunge returns a Munge for the munged at a socket. "" means the default socket.
func NewMunge(socket string) *Munge {
	return &Munge{socket: socket, bound: 10 * time.Second, places: make(chan struct{}, 2+2*runtime.GOMAXPROCS(0))}
}

// Check tests munge by making a credential and reading it. The error says what does not work.
func (m *Munge) Check(ctx context.Context) error {
	const text = "accordion checks whether munge works here"
	credential, err := m.Make(ctx, []byte(text))
	if err != nil {
		return err
	}
	payload, _, err := m.Read(ctx, credential)
	if err == nil && string(payload) != text {
		err = fmt.Errorf("%w: reading a credential returned another payload", ErrUnavailable)
	}
	return err
}

// Make implements Authority.
func (m *Munge) Make(ctx context.Context, payload []byte) (string, error) {
	out, status, err := m.run(ctx, "munge", payload)
	if err != nil {
		return "", err
	}
	credential := strings.TrimSpace(string(out))
	if status != 0 || credential == "" {
		return "", fmt.Errorf("%w: munge ended with status %d and made no credential", ErrUnavailable, status)
	}
	return credential, nil
}

// blamed contains the exit statuses of unmunge (munge_err_t of libmunge) for a wrong credential. Other statuses mean
// that munge does not work.
var blamed = map[int]string{
	8:  "munge does not know its format",
	9:  "it is of a version that munge does not know",
	10: "it uses a cipher that munge does not know",
	11: "it uses a digest that munge does not know",
	12: "it uses a compression that munge does not know",
	13: "its realm is unknown",
	14: "it was made with another key or changed on the way",
	15: "it has expired: do the clocks of the two hosts agree?",
	16: "it comes from the future: do the clocks of the two hosts agree?",
	17: "it was used before",
	18: "it is for another user",
}

// Read implements Authority.
func (m *Munge) Read(ctx context.Context, credential string) ([]byte, uint32, error) {
	if !strings.HasPrefix(credential, "MUNGE:") { // For any other text no process is started.
		return nil, 0, &CredentialError{Why: blamed[8]}
	}
	out, status, err := m.run(ctx, "unmunge", []byte(credential), "--numeric", "--keys=STATUS,UID,ENCODE_TIME,DECODE_TIME")
	if err != nil {
		return nil, 0, err
	}
	if why, bad := blamed[status]; bad {
		return nil, 0, &CredentialError{Why: why}
	}
	if status != 0 {
		return nil, 0, fmt.Errorf("%w: unmunge ended with status %d", ErrUnavailable, status)
	}
	return parse(out)
}

// parse parses the output of unmunge: lines NAME: VALUE, an empty line, and the payload.
func parse(out []byte) ([]byte, uint32, error) {
	head, payload, ok := bytes.Cut(out, []byte("\n\n"))
	if !ok {
		return nil, 0, fmt.Errorf("%w: unmunge printed an unknown format", ErrUnavailable)
	}
	values := map[string]int64{}
	for line := range strings.Lines(string(head)) {
		name, text, _ := strings.Cut(line, ":")
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: unmunge printed %q", ErrUnavailable, line)
		}
		values[name] = n
	}
	for _, name := range []string{"STATUS", "UID", "ENCODE_TIME", "DECODE_TIME"} {
		if _, there := values[name]; !there {
			return nil, 0, fmt.Errorf("%w: unmunge printed no %s", ErrUnavailable, name)
		}
	}
	for _, name := range []string{"ENCODE_TIME", "DECODE_TIME"} {
		if at := values[name]; at < 0 || at > 1<<40 { // limited, so that the difference of two times does not overflow
			return nil, 0, &CredentialError{Why: fmt.Sprintf("%s %d is not a time", name, at)}
		}
	}
	uid := values["UID"]
	switch age := values["DECODE_TIME"] - values["ENCODE_TIME"]; {
	case values["STATUS"] != 0:
		return nil, 0, &CredentialError{Why: fmt.Sprintf("munge says %d", values["STATUS"])}
	case uid < 0 || uid >= math.MaxUint32: // the largest number is not a user ID
		return nil, 0, &CredentialError{Why: fmt.Sprintf("%d is not a user", uid)}
	case age > int64(MaxAge/time.Second) || age < -int64(MaxAge/time.Second):
		return nil, 0, &CredentialError{Why: fmt.Sprintf("it is %d s old, %v are allowed: do the clocks of the two hosts agree?", age, MaxAge)}
	}
	return payload, uint32(uid), nil
}

// run runs one of the two programs. It returns what the program printed, and its exit status. The error is
// ErrUnavailable with the program's message, or the context's.
func (m *Munge) run(ctx context.Context, name string, input []byte, arguments ...string) (out []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.bound)
	defer cancel()
	select {
	case m.places <- struct{}{}:
		defer func() { <-m.places }()
	case <-ctx.Done():
		return nil, 0, fmt.Errorf("wait to run %s: %w", name, ctx.Err())
	}
	program, err := find(name)
	if err != nil {
		return nil, 0, err
	}
	if m.socket != "" {
		arguments = append(arguments, "--socket="+m.socket)
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = []string{"LC_ALL=C"}
	command.Stdin = bytes.NewReader(input)
	command.WaitDelay = time.Second
	var printed, said limited
	command.Stdout, command.Stderr = &printed, &said
	err = command.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, 0, fmt.Errorf("run %s: %w", name, ctx.Err())
	case errors.As(err, &ended) && blamed[ended.ExitCode()] != "":
		return nil, ended.ExitCode(), nil
	case err != nil:
		return nil, 0, fmt.Errorf("%w: %s: %w: %s", ErrUnavailable, name, err, strings.TrimSpace(said.buffer.String()))
	}
	return printed.buffer.Bytes(), 0, nil
}

// find looks for a program in the caller's PATH, and then in the usual directories, because a job may have an unusual PATH.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/opt/munge/bin"} {
		if err == nil {
			break
		}
		var other error
		if path, other = exec.LookPath(filepath.Join(dir, name)); other == nil {
			return path, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w: install munge", ErrUnavailable, err)
	}
	return path, nil
}

// limited keeps what a program prints, and ends a program that prints more than any credential contains. The buffer is
// not embedded, because its ReadFrom would bypass the limit.
type limited struct{ buffer bytes.Buffer }

const mostPrinted = 64 << 10 // bytes

func (l *limited) Write(b []byte) (int, error) {
	if l.buffer.Len()+len(b) > mostPrinted {
		return 0, errors.New("its output is too long")
	}
	return l.buffer.Write(b)
}
