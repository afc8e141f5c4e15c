package labtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// A slot is a directory and a range of ports for one lab. Its lock file is held while it is taken, so that it is free
// again however the process ends.
type slot struct {
	dir  string
	port int
	free func()
}

const (
	slots     = 16
	firstPort = 24000 // below the ports that Linux gives to clients
	slotPorts = 100
)

func takeSlot() (slot, error) {
	var last error
	for i := range slots {
		s := slot{dir: fmt.Sprintf("/var/tmp/accordion-labtest-%d", i), port: firstPort + i*slotPorts}
		lock, err := lockFile(s.dir + ".lock")
		if err != nil {
			last = err
			continue
		}
		// The name goes while the lock is held: who opens it afterwards makes a new file.
		s.free = func() {
			_ = os.Remove(lock.Name())
			_ = lock.Close()
		}
		if err := portFree(s.port, s.dir); err != nil {
			s.free()
			last = err
			continue
		}
		return s, nil
	}
	return slot{}, fmt.Errorf("labtest: all %d slots are taken: %w", slots, last)
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// Another process may have removed the name between our opening and our locking; then we hold nothing.
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, errors.Join(fmt.Errorf("lock %s: it was just removed", path), err1, err2)
	}
	return f, nil
}

// portFree fails when a stranger listens on the slot's first port; a lab left in dir will be taken down first.
func portFree(port int, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	return l.Close()
}
