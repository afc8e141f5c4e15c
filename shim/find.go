package shim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"accordion/shim/seal"
	"accordion/shim/wire"
)

// The environment variables with the sidecar's address. job_submit.lua sets the last two in jobs if its configuration contains them.
const (
	variableSocket  = "ACCORDION_SOCKET"       // its Unix socket, on this host
	variableAddress = "ACCORDION_ADDRESS"      // HOST:PORT
	variableMunge   = "ACCORDION_MUNGE_SOCKET" // socket of the munged to use; if it is not set, munge's default
)

// addressFile is a file in a configuration directory, for jobs without these variables. Its first line that is neither empty nor a comment
// contains HOST:PORT and, unless munge's default is used, the socket of munged.
const addressFile = "accordion.address"

// configDirs returns the directories that may contain the address file. They are the directories of slurm.conf and oar.conf, and the
// directory for files that slurmctld has sent ("configless").
func configDirs(env Getenv) []string {
	var all []string
	for _, name := range []string{"SLURM_CONF", "OARCONFFILE"} {
		if conf := env.get(name); conf != "" {
			all = append(all, filepath.Dir(conf))
		}
	}
	return append(all, "/etc/accordion", "/etc/slurm", "/run/slurm/conf", "/etc/oar")
}

// endpoint is where the sidecar listens.
type endpoint struct {
	socket  string // its Unix socket; "" if it is reached over TCP
	address string // HOST:PORT
	munge   string // munged's socket; "" means munge's default
}

// find returns the sidecar's address, from the environment or else from the address file. If there is neither, it returns the default
// socket.
func find(env Getenv, directories []string) (endpoint, error) {
	if socket := env.get(variableSocket); socket != "" {
		return endpoint{socket: socket}, nil
	}
	if address := env.get(variableAddress); address != "" {
		return checkAddress(address, env.get(variableMunge), variableAddress)
	}
	for _, dir := range directories {
		name := filepath.Join(dir, addressFile)
		text, err := firstLine(name)
		if err != nil {
			continue // A file that cannot be read counts as absent.
		}
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case len(words) == 1:
			words = append(words, env.get(variableMunge))
		case len(words) != 2:
			return endpoint{}, fmt.Errorf("%s says %q: want HOST:PORT, such as controller:6820", name, shortened(text))
		}
		return checkAddress(words[0], words[1], name)
	}
	return endpoint{socket: wire.Socket}, nil
}

// Dialer returns a function that connects to the sidecar, at the address in the environment or in a file. The connection is to the
// sidecar's Unix socket, or a *seal.Conn over TCP. The function looks up the address at each call, because the sidecar may move to another
// host while a job waits.
func Dialer(env Getenv) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		p, err := find(env, configDirs(env))
		if err != nil {
			return nil, err
		}
		return p.dial(ctx)
	}
}

// checkAddress checks an address. `source` is the variable or the file that contains the address.
func checkAddress(address, munge, source string) (endpoint, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return endpoint{}, fmt.Errorf("%s says %q: want HOST:PORT, such as controller:6820", source, shortened(address))
	}
	return endpoint{address: address, munge: munge}, nil
}

// maxAddressFile limits how many bytes of the file are read, because the file may contain anything.
const maxAddressFile = 4096

// firstLine returns the first line of a file that is neither empty nor a comment.
func firstLine(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // opening a pipe of this name must not block the job
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("not a file")
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxAddressFile))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			return line, nil
		}
	}
	return "", lines.Err()
}

func shortened(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// dial connects to the sidecar.
func (p endpoint) dial(ctx context.Context) (net.Conn, error) {
	if p.socket != "" {
		return new(net.Dialer).DialContext(ctx, "unix", p.socket)
	}
	return dialTCP(ctx, p.address, seal.NewMunge(p.munge), silenceLimit)
}

// dialTimeout limits how long the sidecar's host may take to accept a connection and to send its challenge.
const dialTimeout = 10 * time.Second

// silenceLimit is how long a sidecar's host may be silent before the shim reconnects.
const silenceLimit = time.Minute

// dialTCP connects over the network, and reads the sidecar's challenge. The connection breaks when the host has been
// silent for the given time.
func dialTCP(ctx context.Context, address string, a seal.Authority, silent time.Duration) (net.Conn, error) {
	d := net.Dialer{
		Timeout:         dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silent / 2, Interval: silent / 6, Count: 3},
		Control:         userTimeout(silent),
	}
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	raw.SetDeadline(time.Now().Add(dialTimeout))
	conn, err := seal.Connect(ctx, raw, a, seal.RootOr(os.Getuid()))
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	raw.SetDeadline(time.Time{})
	return conn, nil
}

// userTimeout limits how long sent data may stay unacknowledged. TCP sends no keep-alives while data is unacknowledged.
func userTimeout(silent time.Duration) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silent/time.Millisecond))
		})
		return errors.Join(err, failed)
	}
}
