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

// The variables that say where the sidecar is. The last two come from job_submit.lua where its configuration names them.
const (
	variableSocket  = "ACCORDION_SOCKET"       // its Unix socket, on this host
	variableAddress = "ACCORDION_ADDRESS"      // HOST:PORT
	variableMunge   = "ACCORDION_MUNGE_SOCKET" // socket of the munged to use; munge's own where it is not set
)

// addressFile, in a configuration directory, says the same to jobs that have no such variable: HOST:PORT on its first line
// that is neither empty nor a comment, after it munge's socket where that is not the usual one.
const addressFile = "accordion.address"

// configurations are the directories where it may lie: beside slurm.conf, where Slurm keeps what it was sent by
// slurmctld ("configless"), and beside OAR's.
func configurations(env Getenv) []string {
	var all []string
	for _, name := range []string{"SLURM_CONF", "OARCONFFILE"} {
		if conf := env.get(name); conf != "" {
			all = append(all, filepath.Dir(conf))
		}
	}
	return append(all, "/etc/accordion", "/etc/slurm", "/run/slurm/conf", "/etc/oar")
}

// place is where the sidecar is.
type place struct {
	socket  string // its Unix socket; "": it is asked over TCP
	address string // HOST:PORT
	munge   string // munged's socket; "": munge's own
}

// find looks for the sidecar: what the environment says, then the file in a configuration directory, then the usual
// socket.
func find(env Getenv, directories []string) (place, error) {
	if socket := env.get(variableSocket); socket != "" {
		return place{socket: socket}, nil
	}
	if address := env.get(variableAddress); address != "" {
		return addressed(address, env.get(variableMunge), variableAddress)
	}
	for _, dir := range directories {
		name := filepath.Join(dir, addressFile)
		text, err := readStart(name)
		if err != nil {
			continue // absent, or not for us to read: as if nobody had written one
		}
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case len(words) == 1:
			words = append(words, env.get(variableMunge))
		case len(words) != 2:
			return place{}, fmt.Errorf("%s says %q: want HOST:PORT, such as controller:6820", name, shortened(text))
		}
		return addressed(words[0], words[1], name)
	}
	return place{socket: wire.Socket}, nil
}

// Dialer connects to the sidecar, wherever the environment or a file says that it is: over its Unix socket, or over TCP with a *seal.Conn.
// It looks for each try: the sidecar may move to another host while a job waits.
func Dialer(env Getenv) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		p, err := find(env, configurations(env))
		if err != nil {
			return nil, err
		}
		return p.dial(ctx)
	}
}

// addressed checks an address; said is what named it.
func addressed(address, munge, said string) (place, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return place{}, fmt.Errorf("%s says %q: want HOST:PORT, such as controller:6820", said, shortened(address))
	}
	return place{address: address, munge: munge}, nil
}

// maxAddressFile bounds what is read of the file, in bytes: somebody may have put anything there.
const maxAddressFile = 4096

// readStart is the first line of a file that says something.
func readStart(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe of this name must not hold the job up
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

// dial connects to the sidecar there.
func (p place) dial(ctx context.Context) (net.Conn, error) {
	if p.socket != "" {
		return new(net.Dialer).DialContext(ctx, "unix", p.socket)
	}
	return dialTCP(ctx, p.address, seal.NewMunge(p.munge), vanished)
}

// dialPatience is how long the sidecar's host may take to accept a connection and send its challenge.
const dialPatience = 10 * time.Second

// vanished is how long a sidecar's host may be silent before it is taken for gone: the shim then connects anew.
const vanished = time.Minute

// dialTCP connects over the network, and reads the sidecar's challenge. A host that is silent for so long has vanished.
func dialTCP(ctx context.Context, address string, a seal.Authority, silent time.Duration) (net.Conn, error) {
	d := net.Dialer{
		Timeout:         dialPatience,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silent / 2, Interval: silent / 6, Count: 3},
		Control:         giveUp(silent),
	}
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	raw.SetDeadline(time.Now().Add(dialPatience))
	conn, err := seal.Connect(ctx, raw, a, seal.RootOr(os.Getuid()))
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	raw.SetDeadline(time.Time{})
	return conn, nil
}

// giveUp bounds how long what we sent may stay unacknowledged: the keep-alive is silent then.
func giveUp(silent time.Duration) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silent/time.Millisecond))
		})
		return errors.Join(err, failed)
	}
}
