package shim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/shim/launcher/link/linktest"
	"accordion/shim/wire/launcher"
)

// together returns the message Go for two parts, on clusters whose hosts have the same names.
func together() *launcher.Go {
	return &launcher.Go{At: 100, Hosts: []launcher.Names{{C: 0, Hosts: []string{"n2", "n1"}}, {C: 1, Hosts: []string{"n1"}}}, Names: []string{"oar", "slurm"}}
}

// barrier returns the outcome of a part. `then` acts as the sidecar after the part has sent Ready.
func barrier(t *testing.T, env environment, welcome *launcher.Welcome, then func(*linktest.Sidecar, *linktest.Peer)) Outcome {
	t.Helper()
	s := linktest.New()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, hello := s.Accept(t, welcome)
		if hello.Part == nil || hello.Part.Job != 7 || hello.App != 0 {
			t.Errorf("its hello is %+v", hello)
		}
		if m, ok := p.Read().(*launcher.Ready); !ok || m.Job != 7 {
			t.Errorf("it is not ready: %+v", m)
		}
		p.Okay()
		then(s, p)
	}()
	out := part(t.Context(), PartOptions{Getenv: env.lookup, Program: "/usr/bin/accordion"}, s.Dial)
	<-done
	return out
}

func TestPartContinuesAfterGo(t *testing.T) {
	env := inSlurm(t)
	out := barrier(t, env, &launcher.Welcome{Version: 2, App: 9, Cluster: "slurm"}, func(_ *linktest.Sidecar, p *linktest.Peer) { p.Send(together()) })
	if out.Status != 0 || out.Message != "job 7: application 9 begins: 3 hosts in 2 parts, this one on slurm" {
		t.Fatalf("status %d: %s", out.Status, out.Message)
	}
	got := shellAfter(t, env, out.Text)
	if got["ACCORDION_APPLICATION"] != "9" || got["ACCORDION_PART"] != "slurm" {
		t.Errorf("%v", got)
	}
	if list, err := os.ReadFile(got["ACCORDION_PARTS"]); err != nil || string(list) != "oar n2\noar n1\nslurm n1\n" {
		t.Errorf("the parts: %q, %v", list, err)
	}
}

// shellAfter returns the environment of a shell that has evaluated the text.
func shellAfter(t *testing.T, env environment, text string) environment {
	t.Helper()
	c := exec.Command("/bin/sh", "-c", `eval "$1"; trap - EXIT; /usr/bin/env`, "sh", text)
	c.Env = []string{"PATH=/usr/bin:/bin"}
	for name, value := range env {
		if name != "PATH" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := environment{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		all[name] = value
	}
	return all
}

func TestAPartFindsItsClusterByItsHosts(t *testing.T) {
	env := inSlurm(t)
	out := barrier(t, env, &launcher.Welcome{Version: 2, App: 9}, func(_ *linktest.Sidecar, p *linktest.Peer) { p.Send(together()) })
	if !strings.Contains(out.Text, "export ACCORDION_PART='oar'\n") {
		t.Error(out.Text)
	}
}

// The test runs every shell that is installed on this machine. If the shell has no EXIT trap, the trap is set, and
// gets the script's exit status. No program runs before the script continues. Only the file with the parts is left.
func TestShellReportsTheEndOfThePart(t *testing.T) {
	env := inSlurm(t)
	env["TMPDIR"] = t.TempDir()
	program := filepath.Join(t.TempDir(), "it's accordion")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho told \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := linktest.New()
	go func() {
		p, _ := s.Accept(t, &launcher.Welcome{Version: 2, App: 9})
		p.Read()
		p.Send(together())
	}()
	out := part(t.Context(), PartOptions{Getenv: env.lookup, Program: program}, s.Dial)
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "ksh"} {
		path, err := exec.LookPath("/usr/bin/" + shell)
		if err != nil {
			continue
		}
		for script, want := range map[string]string{
			`eval "$1"; exit 3`:                                "told part --done 3\n",
			`trap 'echo mine $?' EXIT; eval "$1"; exit 3`:      "mine 3\n",
			`set -e; trap 'echo EXIT' USR1; eval "$1"; exit 3`: "told part --done 3\n",
			`set -eu; eval "$1" || exit 4; exit 3`:             "told part --done 3\n",
			`P=$PATH; PATH=; eval "$1"; PATH=$P; exit 3`:       "told part --done 3\n",
		} {
			c := exec.Command(path, "-c", script, shell, out.Text)
			c.Env = []string{"PATH=/usr/bin:/bin"}
			got, _ := c.CombinedOutput()
			if string(got) != want || c.ProcessState.ExitCode() != 3 {
				t.Errorf("%s: %s: status %d, %q, want %q", shell, script, c.ProcessState.ExitCode(), got, want)
			}
			if left, _ := filepath.Glob(filepath.Join(env["TMPDIR"], "*", "*.traps")); left != nil {
				t.Errorf("%s: %s: left: %v", shell, script, left)
			}
		}
	}
}

func TestPartIsAbortedOrRefused(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*linktest.Sidecar, *linktest.Peer)
		want string
	}{
		"aborted": {func(_ *linktest.Sidecar, p *linktest.Peer) { p.Send(&launcher.Abort{Why: "b is slow", Again: true}) },
			"job 7: not all parts of the application came up, which goes on waiting with another job: b is slow"},
		"ended": {func(_ *linktest.Sidecar, p *linktest.Peer) {
			p.Send(&launcher.End{Why: launcher.WhyCancelled})
			p.Read()
		},
			"job 7: the sidecar has ended the application: cancelled"},
		"refused": {func(_ *linktest.Sidecar, p *linktest.Peer) {
			p.Send(&launcher.Refuse{To: p.Last, Code: launcher.CodeJob, Text: "it is no part"})
		},
			"job 7: refused: it is no part"},
	} {
		t.Run(name, func(t *testing.T) {
			out := barrier(t, inSlurm(t), &launcher.Welcome{Version: 2, App: 9}, c.then)
			if out.Status != StatusAborted || out.Message != c.want || out.Text != "(exit 75)\n" {
				t.Errorf("status %d: %s\n%s", out.Status, out.Message, out.Text)
			}
		})
	}
}

func TestPartReconnectsAndSendsReadyAgain(t *testing.T) {
	out := barrier(t, inSlurm(t), &launcher.Welcome{Version: 2, App: 9}, func(s *linktest.Sidecar, p *linktest.Peer) {
		p.Close()
		p, hello := s.Accept(t, &launcher.Welcome{Version: 2, App: 9, Grace: 60})
		if _, ready := p.Read().(*launcher.Ready); !ready || hello.Part == nil {
			t.Errorf("it comes back with %+v", hello)
		}
		p.Send(together())
	})
	if out.Status != 0 {
		t.Error(out.Message)
	}
}

func TestAPartWithoutASidecar(t *testing.T) {
	env := inSlurm(t)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		out := part(t.Context(), PartOptions{Getenv: env.lookup}, linktest.New().Dial)
		if waited := time.Since(begin); out.Status != StatusNoSidecar || waited < defaultTimeouts.first || waited > 2*defaultTimeouts.first+time.Second {
			t.Errorf("status %d after %v: %s", out.Status, waited, out.Message)
		}
	})
	if out := part(t.Context(), PartOptions{Getenv: environment{}.lookup}, nil); out.Status != StatusUsage {
		t.Errorf("in no job: status %d", out.Status)
	}
}

func TestPartDoneReportsTheStatus(t *testing.T) {
	env := inSlurm(t)
	s := linktest.New()
	var sidecar sync.WaitGroup
	sidecar.Go(func() {
		p, _ := s.Accept(t, &launcher.Welcome{Version: 2, App: 9})
		if m, ok := p.Read().(*launcher.Done); !ok || m.Code != 3 {
			t.Errorf("it sends %+v", m)
		}
		p.Okay()
	})
	if out := partDone(t.Context(), PartOptions{Getenv: env.lookup}, 3, s.Dial); out.Status != 0 || out.Text != "" {
		t.Errorf("status %d: %s", out.Status, out.Message)
	}
	sidecar.Wait()
	synctest.Test(t, func(t *testing.T) {
		s := linktest.New()
		var sidecar sync.WaitGroup
		defer sidecar.Wait()
		sidecar.Go(func() {
			p, _ := s.Accept(t, &launcher.Welcome{Version: 2, App: 9})
			for p.Read() != nil && p.Try(&launcher.Pong{}) == nil { // the sidecar never sends an Okay
			}
		})
		begin := time.Now()
		out := partDone(t.Context(), PartOptions{Getenv: env.lookup}, 3, s.Dial)
		if waited := time.Since(begin); out.Status != StatusNoSidecar || waited < doneTimeout || waited > doneTimeout+10*time.Second {
			t.Errorf("status %d after %v: %s", out.Status, waited, out.Message)
		}
	})
}
