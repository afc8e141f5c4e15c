package labtest

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// A slot is a directory and a range of ports for one lab. While it is taken, a socket in Linux's abstract namespace
// is bound: it is free again however the process ends, leaves no file, and is shared by exactly those who share ports.
type slot struct {
	dir  string
	port int
	free func()
}

const (
	slots     = 16
	firstPort = 26000 // below the ports that Linux gives to clients
	slotPorts = 100
)

func takeSlot() (slot, error) {
	var why []error
	for i := range slots {
		s := slot{dir: fmt.Sprintf("/var/tmp/accordion-lab-%d", i), port: firstPort + i*slotPorts}
		held, err := net.Listen("unix", fmt.Sprintf("@accordion-lab-%d", i))
		if err == nil {
			s.free = func() { _ = held.Close() }
			if err = s.portsFree(); err == nil {
				return s, nil
			}
			s.free()
		}
		why = append(why, fmt.Errorf("slot %d: %w", i, err))
	}
	return slot{}, fmt.Errorf("labtest: no slot for a lab is free:\n%w", errors.Join(why...))
}

// portsFree fails when a stranger listens on one of the slot's ports. A lab that was left in the slot's directory is
// none: it is taken down first.
func (s slot) portsFree() error {
	if _, err := os.Stat(s.dir); err == nil {
		return nil
	}
	for port := s.port; port < s.port+slotPorts; port++ {
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
