package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"accordion/shim/seal/sealtest"
)

// abroad is a sidecar for an embedded cluster that listens on TCP, and another host on which users launch.
type abroad struct {
	*serving
	node    *sealtest.Machine
	address string
}

func goAbroad(t *testing.T) *abroad {
	t.Helper()
	controller, node := sealtest.Cable(t)
	a := &abroad{node: node, address: controller.Address + ":6820"}
	a.serving = newServing(t, 1, 200, fmt.Sprintf("session.listen = %q\nsession.munge_socket = %q\n", a.address, controller.Munge))
	a.command = func(words ...string) *exec.Cmd {
		return controller.Command(context.Background(), 0, a.path("accordion"), words...)
	}
	copyFile(t, a.path("accordion")) // this test binary is the program; its file name selects what it does
	if err := os.Chmod(a.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a.write("accordion.address", a.address+" "+node.Munge+"\n")
	if err := os.Chmod(a.path("accordion.address"), 0o644); err != nil {
		t.Fatal(err)
	}
	a.start()
	a.await("the cluster is read", a.read)
	return a
}

// is reports whether an application with a name is in a state.
func (a *abroad) is(name, state string) func() bool {
	return func() bool {
		for _, seen := range a.snapshot().Applications {
			if seen.Name == name && seen.State == state {
				return true
			}
		}
		return false
	}
}

// launching is a running `accordion launch` on the node.
type launching struct {
	*exec.Cmd
	out, said bytes.Buffer
}

// launch starts `accordion launch` as a user, with only the given environment.
func (a *abroad) launch(uid int, environment []string, words ...string) *launching {
	a.t.Helper()
	home, err := os.MkdirTemp(a.dir, "home")
	if err == nil {
		err = os.Chmod(home, 0o777)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	a.t.Cleanup(cancel)
	l := &launching{Cmd: a.node.Command(ctx, uid, a.path("accordion"), append([]string{"launch"}, words...)...)}
	l.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=" + home}, environment...)
	l.Stdout, l.Stderr = &l.out, &l.said
	if err := l.Start(); err != nil {
		a.t.Fatal(err)
	}
	return l
}

// status waits until the launcher has ended and returns its exit status.
func (l *launching) status() int {
	l.Wait()
	return l.ProcessState.ExitCode()
}

// A launcher on another host finds the sidecar as accordion step does, and munge authenticates its user. After the
// sidecar was killed, the launcher reconnects.
func TestALaunchOnAnotherHost(t *testing.T) {
	const daemon, nameless = 1, 4711 // Debian has a name for the first user and none for the second
	a := goAbroad(t)
	munge := "ACCORDION_MUNGE_SOCKET=" + a.node.Munge
	beside := "SLURM_CONF=" + a.path("slurm.conf")
	for _, c := range []struct {
		how         string
		environment []string
		words       []string
	}{
		{"by its environment", []string{"ACCORDION_ADDRESS=" + a.address, munge}, nil},
		{"by the file beside slurm.conf", []string{beside}, nil},
		{"as it is told", []string{munge}, []string{"--connect", a.address}},
	} {
		l := a.launch(daemon, c.environment, append(c.words, "--model", "2x1m", "--", "sh", "-c", "cat $ACCORDION_PARTS; exit 7")...)
		if status := l.status(); status != 7 || !strings.Contains(l.out.String(), "c1 n") || !strings.Contains(l.said.String(), "started on c1: 2 hosts") {
			t.Errorf("%s: status %d, %s%s; %s", c.how, status, l.out.String(), l.said.String(), a.log())
		}
	}
	if l := a.launch(nameless, []string{beside}, "--model", "2x1m", "--", "true"); l.status() != 1 || !strings.Contains(l.said.String(), "(auth)") {
		t.Errorf("a user without a name: status %d, %s", l.ProcessState.ExitCode(), l.said.String())
	}

	first := a.launch(daemon, []string{beside}, "--name", "first", "--model", "128x1h", "--", "sleep", "1000")
	a.await("the first has started", a.is("first", "started"))
	second := a.launch(daemon, []string{beside}, "--name", "second", "--model", "100x1m", "--", "echo", "it ran")
	a.await("the second waits", a.is("second", "waiting"))
	a.kill()
	a.start()
	if status := first.status(); status != 1 || !strings.Contains(first.said.String(), "its parts were over before its work was") {
		t.Errorf("what ran when the sidecar was killed: status %d, %s", status, first.said.String())
	}
	if status := second.status(); status != 0 || !strings.HasSuffix(second.out.String(), "it ran\n") || !strings.Contains(second.said.String(), "the sidecar is there again") {
		t.Errorf("what waited: status %d, %s%s", status, second.out.String(), second.said.String())
	}
	a.end()
}
