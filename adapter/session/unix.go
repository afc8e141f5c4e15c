package session

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter/folder"
)

// ErrLive is the error if another server answers at the address.
var ErrLive = errors.New("another sidecar is serving it")

// unixSocket is the Transport for this host.
type unixSocket struct {
	*net.UnixListener
	lock *os.File // the lock file, locked while the server runs
}

// lockFile is the suffix of the lock file, after the socket's name. The serving sidecar holds a
// lock on the file, and removes the file at its end. After a kill the file is left over, but its
// lock is free.
const lockFile = ".lock"

// maxPath is the maximum length of a socket's path: Linux's sun_path without the final zero.
const maxPath = 107

func listenUnix(path string) (_ *unixSocket, err error) {
	switch {
	case !filepath.IsAbs(path):
		return nil, errors.New("the path must be absolute")
	case len(path) > maxPath:
		return nil, fmt.Errorf("the path has %d bytes, at most %d are possible", len(path), maxPath)
	}
	if err := directory(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := exclusive(path + lockFile)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release(lock)
		}
	}()
	if err := vacant(path); err != nil {
		return nil, err
	}

	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	// A shim that connects between Listen and Chmod is refused because of the socket's mode, and
	// tries again.
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return nil, err
	}
	return &unixSocket{UnixListener: l, lock: lock}, nil
}

// directory creates the socket's directory if it is absent, and checks that no other user can put a
// socket into it.
func directory(dir string) error {
	if err := folder.MakeOpen(dir); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case owner != 0 && int(owner) != os.Geteuid():
		return fmt.Errorf("the directory %s belongs to user %d: give it to root (chown root %s)", dir, owner, dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write to the directory %s: forbid it (chmod go-w %s)", dir, dir)
	}
	return nil
}

// exclusive takes the lock of the lock file, or returns ErrLive. The kernel releases the lock when
// its holder dies.
func exclusive(name string) (*os.File, error) {
	for {
		// The mode is 0600, because a user who can open the file can lock it, and would keep every
		// sidecar out.
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, ErrLive
		case errors.Is(err, unix.EINTR):
			f.Close()
			continue
		case err != nil:
			f.Close()
			return nil, os.NewSyscallError("flock", err)
		}
		ours, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if there, err := os.Lstat(name); err == nil && os.SameFile(ours, there) {
			return f, nil
		}
		f.Close() // the previous holder removed the file between our open and our lock
	}
}

// release releases the lock. It first removes the file, while it still holds the lock.
func release(lock *os.File) {
	os.Remove(lock.Name())
	lock.Close()
}

// vacant returns nil if the name is free or belongs to a socket without a server.
func vacant(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("something that is not a socket has this name: move it away, or configure another path")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		conn.Close()
		return ErrLive
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	default: // EAGAIN means a full backlog, so a server is listening
		return fmt.Errorf("%w (%w)", ErrLive, err)
	}
}

func (s *unixSocket) Accept() (Conn, error) {
	c, err := s.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return unixConn{c}, nil
}

func (s *unixSocket) Close() error {
	err := s.UnixListener.Close()
	if errors.Is(err, net.ErrClosed) {
		return err // the socket is already closed, so a file with its name may belong to a later sidecar
	}
	release(s.lock) // the lock is released after the listener has removed its socket
	return err
}

// unixConn identifies its peer by SO_PEERCRED. These are the peer's credentials at the time of
// connect, which the peer cannot choose.
type unixConn struct{ *net.UnixConn }

func (c unixConn) Peer() (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var credentials *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return Peer{}, fmt.Errorf("read the peer's credentials: %w", err)
	}
	return Peer{UID: credentials.Uid, PID: credentials.Pid}, nil
}
