package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/shim/seal/sealtest"
)

// far simulates two hosts. On one host, a sidecar starts the steps of a job of user 4711. On the other host, the job runs.
type far struct {
	controller, node *sealtest.Machine
	dir              string // readable by every user
}

// uplink starts the fake sidecar. The arguments are additional flags of the fake sidecar and the nodes of the job's steps.
func uplink(t *testing.T, flags ...string) *far {
	t.Helper()
	dir, err := os.MkdirTemp("", "far")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &far{dir: dir}
	f.controller, f.node = sealtest.Cable(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accordion", "fake-sidecar"} { // this test binary is both programs; its file name selects one of them
		copyFile(t, filepath.Join(dir, name))
	}
	address := f.controller.Address + ":6820"
	if err := os.WriteFile(filepath.Join(dir, "accordion.address"), []byte(address+" "+f.node.Munge+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := f.controller.Command(context.Background(), 0, filepath.Join(dir, "fake-sidecar"), append([]string{
		"-socket", filepath.Join(dir, "run", "s"), "-listen", address, "-munge", f.controller.Munge, "-owner", "4711"}, flags...)...)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		if err := <-ended; err != nil {
			t.Errorf("the sidecar ended: %v: %s", err, said.String())
		}
	})
	for end := time.Now().Add(time.Minute); !f.reachable(t, address); {
		if time.Now().After(end) {
			t.Fatalf("the sidecar does not listen: %s", said.String())
		}
		time.Sleep(20 * time.Millisecond) // there is no event when another process starts to listen
	}
	return f
}

// reachable reports whether a process listens, by connecting and disconnecting.
func (f *far) reachable(t *testing.T, address string) (there bool) {
	f.node.In(t, func() {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if there = err == nil; there {
			conn.Close()
		}
	})
	return there
}

func copyFile(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, from); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// step calls `accordion step` on the node as a user, with only the given environment.
func (f *far) step(t *testing.T, uid int, environment []string) (status int, text, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home, err := os.MkdirTemp(f.dir, "home")
	if err == nil {
		err = os.Chmod(home, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := f.node.Command(ctx, uid, filepath.Join(f.dir, "accordion"), "step")
	c.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=" + home, "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]",
		"SLURM_NNODES=2"}, environment...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestAJobOnAnotherHostFindsTheSidecarAndGetsItsNodes(t *testing.T) {
	f := uplink(t, "n[1-2]", "n[1-5]", "n[1-3]")
	beside := "SLURM_CONF=" + filepath.Join(f.dir, "slurm.conf")
	for i, c := range []struct{ how, environment, nodes string }{
		{"by its environment", fmt.Sprintf("ACCORDION_ADDRESS=%s:6820 ACCORDION_MUNGE_SOCKET=%s", f.controller.Address, f.node.Munge), "n[1-5]"},
		{"by the file beside slurm.conf", beside, "n[1-3]"},
	} {
		environment := append(strings.Fields(c.environment), "ACCORDION_JOB=7", fmt.Sprintf("ACCORDION_STEP=%d", i+1))
		status, text, said := f.step(t, 4711, environment)
		if status != 0 || !strings.Contains(text, "export SLURM_JOB_NODELIST='"+c.nodes+"'") {
			t.Errorf("%s: status %d, %s%s", c.how, status, said, text)
		}
	}
	if status, _, said := f.step(t, 4712, []string{beside}); status != 1 || !strings.Contains(said, "not yours") {
		t.Errorf("another user: status %d, %s", status, said)
	}
}
