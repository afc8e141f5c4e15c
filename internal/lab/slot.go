package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// A slot is a directory, a range of ports and a range of user IDs for one lab. While it is taken, a socket in Linux's
// abstract namespace is bound. That socket is released however the process ends, and leaves no file. Processes share
// its name exactly if they share a network, and thus ports.
type slot struct {
	number int
	dir    string
	free   func()
}

// takeSlot waits until a slot from `first` to `last` is free and fits, and takes it. The slot's directory is the
// name with its number.
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
	firstPort = 26000 // below the ports that Linux gives to clients
	slotPorts = 100
)

func (s slot) port() int { return firstPort + s.number*slotPorts }

// portsFree returns an error if another program listens on one of the slot's ports. A lab that was left in the slot's
// directory does not count, because it is taken down first.
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
