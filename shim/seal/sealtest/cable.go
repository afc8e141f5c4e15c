package sealtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/internal/testenv"
)

// Machine is a network namespace with its own munged. It simulates another host.
type Machine struct {
	Name    string // name of the namespace
	Address string // its IP address
	Munge   string // socket of its munged
}

// Cable makes two machines with the same munge key on a separate network, and removes them after the test. It skips the test if it cannot
// make network namespaces (not root, no iproute2, or a container without permission).
func Cable(t testing.TB) (a, b *Machine) {
	t.Helper()
	key := Key(t)
	if _, err := exec.LookPath("ip"); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", "ip is not installed (Debian: iproute2)"))
	}
	removeLeft()
	a, b = namespace(t, "198.18.0.1"), namespace(t, "198.18.0.2")
	if out, err := ip("link", "add", "to-b", "netns", a.Name, "type", "veth", "peer", "name", "to-a", "netns", b.Name); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", fmt.Sprintf("a cable cannot be made here: %v: %s", err, out)))
	}
	for end, m := range map[string]*Machine{"to-b": a, "to-a": b} {
		for _, command := range [][]string{
			{"addr", "add", m.Address + "/30", "dev", end}, {"link", "set", "lo", "up"}, {"link", "set", end, "up"},
		} {
			if out, err := ip(append([]string{"-n", m.Name}, command...)...); err != nil {
				t.Fatalf("ip %s: %v: %s", strings.Join(command, " "), err, out)
			}
		}
	}
	a.Munge = Host(t, key, "ip", "netns", "exec", a.Name)
	b.Munge = Host(t, key, "ip", "netns", "exec", b.Name)
	return a, b
}

// made counts the namespaces of this process. Their names contain its number, so that the namespaces of a killed test
// can be found.
var made atomic.Int64

const prefix = "accordion-test-"

func namespace(t testing.TB, address string) *Machine {
	t.Helper()
	m := &Machine{Name: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), made.Add(1)), Address: address}
	if out, err := ip("netns", "add", m.Name); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", fmt.Sprintf("none can be made here: %v: %s", err, out)))
	}
	t.Cleanup(func() {
		if out, err := ip("netns", "del", m.Name); err != nil {
			t.Errorf("remove the namespace %s: %v: %s", m.Name, err, out)
		}
	})
	if out, err := ip("netns", "exec", m.Name, "true"); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", fmt.Sprintf("none can be entered here: %v: %s", err, out)))
	}
	return m
}

// removeLeft removes the namespaces of tests that were killed.
func removeLeft() {
	all, _ := filepath.Glob("/run/netns/" + prefix + "*")
	for _, path := range all {
		name := filepath.Base(path)
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && n > 0 && unix.Kill(n, 0) == unix.ESRCH {
			_, _ = ip("netns", "del", name)
		}
	}
}

func ip(arguments ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ip", arguments...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// In runs f on the machine. Sockets that f opens belong to the machine, also after f has returned.
func (m *Machine) In(t testing.TB, f func()) {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // The thread is never unlocked: it is in another namespace, so it ends with this goroutine.
		defer close(failed)
		there, err := os.Open("/run/netns/" + m.Name)
		if err != nil {
			failed <- err
			return
		}
		defer there.Close()
		if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
			failed <- err
			return
		}
		f()
	}()
	if err := <-failed; err != nil {
		t.Fatalf("enter the namespace %s: %v", m.Name, err)
	}
}

// Command returns a command that runs a program on the machine, as a user.
func (m *Machine) Command(ctx context.Context, uid int, program string, arguments ...string) *exec.Cmd {
	id := strconv.Itoa(uid)
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", m.Name,
		"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--", program}, arguments...)...)
}

// PullTheCable takes the machine off the network without a message to the other one, as when its power fails.
func (m *Machine) PullTheCable(t testing.TB) {
	t.Helper()
	for _, end := range []string{"to-a", "to-b"} {
		if _, err := ip("-n", m.Name, "link", "set", end, "down"); err == nil {
			return
		}
	}
	t.Fatalf("the machine %s has no cable", m.Name)
}
