package cluster

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// listener listens on a port and handles connections one after the other. If `handle` is nil, it does not accept
// connections, like a daemon that hangs.
func listener(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if handle != nil {
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				handle(conn)
			}
		}()
	}
	return l.Addr().String()
}

func TestAHangingSlurmdbdIsToldFromARunningAndAMissingOne(t *testing.T) {
	closed := listener(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	for _, c := range []struct{ name, address, want string }{
		{"closes when its client has nothing to say", listener(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); c.Close() }), ""},
		{"says something first", listener(t, func(c net.Conn) { _, _ = c.Write([]byte("no")); c.Close() }), ""},
		{"hangs", closed, "hangs"},
		{"is gone", gone, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			switch err := answers(t.Context(), c.address); {
			case c.want == "" && err != nil:
				t.Errorf("%v, want nothing", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Releases that can resize without slurmdbd have the trap, too: while slurmctld waits for a slurmdbd that hangs, it
// allows no change of any job.
func TestAJobWithoutADatabaseIdIsNotAtFaultWhileSlurmdbdIsAway(t *testing.T) {
	lives, hangs := listener(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); c.Close() }), listener(t, nil)
	for _, c := range []struct {
		release, address, said string
		frozen, trap           bool
	}{
		{"22.05.8", lives, "Job update not available right now, the DB index is being set, try again in a bit", true, false},
		{"22.05.8", hangs, "Job update not available right now, the DB index is being set, try again in a bit", true, true},
		{"24.11.5", hangs, "Job update not available right now, the DB index is being set, try again in a bit", true, true},
		{"24.11.5", hangs, "Requested nodes are busy", false, false},
	} {
		t.Run(c.release+" "+c.said, func(t *testing.T) {
			t.Parallel()
			host, port, err := net.SplitHostPort(c.address)
			if err != nil {
				t.Fatal(err)
			}
			s := &Cluster{readAt: time.Now(), recently: output.Configuration{"SLURM_VERSION": c.release, "AccountingStorageType": "accounting_storage/slurmdbd",
				"AccountingStorageHost": host, "AccountingStoragePort": port}}
			err = s.frozen(t.Context(), &client.Failure{Said: c.said})
			if frozen, trap := errors.Is(err, adapter.ErrFrozen), errors.Is(err, adapter.ErrTrap); frozen != c.frozen || trap != c.trap {
				t.Errorf("%v: frozen %t, trap %t; want %t, %t", err, frozen, trap, c.frozen, c.trap)
			}
		})
	}
}

func TestResizesAreUnsafeWithoutSlurmdbd(t *testing.T) {
	none := output.Configuration{"SLURM_VERSION": "22.05.8", "AccountingStorageType": "accounting_storage/none"}
	if why := Trap(t.Context(), none); !strings.Contains(why, "slurmdbd") {
		t.Errorf("without slurmdbd the reason is %q", why)
	}
}
