package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// A slot is a directory, a range of ports and of users' numbers for one lab. While it is taken, a socket in Linux's abstract namespace is
// bound: it is free again however the process ends, leaves no file, and is shared by exactly those who share ports.
type slot struct {
	number int
	dir    string
	free   func()
}

// takeSlot waits until one of the slots from the first to the last is free, and fits. Their directories have the name before a number.
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

// portsFree fails when a stranger listens on one of the slot's ports. A lab that was left in the slot's directory is none: it is taken
// down first.
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
