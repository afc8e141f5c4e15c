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

// ErrLive means that another server answers at the address.
var ErrLive = errors.New("another sidecar is serving it")

// unixSocket is the Transport of one machine.
type unixSocket struct {
	*net.UnixListener
	lock *os.File // held as long as we serve
}

// lockFile, after the socket's own name, is held by the sidecar that serves; it is gone when that ends, left over but
// free when it was killed.
const lockFile = ".lock"

// maxPath is how long a socket's path may be: sun_path of Linux, less its final zero.
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
	// A shim that comes between the two is refused by the file's mode, and tries again.
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return nil, err
	}
	return &unixSocket{UnixListener: l, lock: lock}, nil
}

// directory makes the socket's directory when it is absent, and checks that nobody else can put a socket into it.
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

// exclusive takes the lock file, or says ErrLive. The kernel frees it when its holder dies, however it dies.
func exclusive(name string) (*os.File, error) {
	for {
		// 0600: a user who could open it could lock it, and keep every sidecar away.
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
		f.Close() // its last holder removed it between our open and our lock: what we hold is no file any more
	}
}

// release gives the lock free; the file goes first, while it is still ours.
func release(lock *os.File) {
	os.Remove(lock.Name())
	lock.Close()
}

// vacant says whether the name is free, or bears a socket behind which nobody is any more.
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
	default: // a full backlog is EAGAIN: somebody is there
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
		return err // closed before: what bears our name now may be our successor's
	}
	release(s.lock) // after the listener has removed its socket
	return err
}

// unixConn knows its peer by SO_PEERCRED: the credentials at the time of connect, which the peer cannot choose.
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
