package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// A slot is a directory, a range of ports and a range of user IDs for one lab. While the slot is taken, a socket in
// Linux's abstract namespace is bound. The socket is released however the process ends, and leaves no file.
// Processes see the same socket names exactly if they share a network, and therefore ports.
type slot struct {
	number int
	dir    string
	free   func()
}

// takeSlot waits until one of the slots from `first` to `last` is free and `fits` returns nil for it, and takes it.
// The slot's directory is `name` followed by the slot's number.
func takeSlot(name string, first, last int, fits func(slot) error) (slot, error) {
	for end := time.Now().Add(30 * time.Minute); ; {
		var why []error
		for i := first; i <= last; i++ {
			s := slot{number: i, dir: fmt.Sprintf("/var/tmp/%s-%d", name, i)}
			held, err := net.Listen("unix", fmt.Sprintf("@%s-%d", name, i))
			if err == nil {
				s.free = func() { _ = held.Close() }
				if err = fits(s); err == nil {
					return s, nil
				}
				s.free()
			}
			why = append(why, fmt.Errorf("slot %d: %w", i, err))
		}
		if time.Now().After(end) {
			return slot{}, fmt.Errorf("lab: no slot has been free for half an hour:\n%w", errors.Join(why...))
		}
		time.Sleep(200 * time.Millisecond) // the sockets have no event to wait for
	}
}

const (
	firstPort = 26000 // below the ports that Linux assigns to clients
	slotPorts = 100
)

func (s slot) port() int { return firstPort + s.number*slotPorts }

// portsFree returns an error if another program listens on one of the slot's ports. The ports of a lab that was
// left in the slot's directory do not count, because that lab is taken down first.
func portsFree(s slot) error {
	if _, err := os.Stat(s.dir); err == nil {
		return nil
	}
	for port := s.port(); port < s.port()+slotPorts; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}
