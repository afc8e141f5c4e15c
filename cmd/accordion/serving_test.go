package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/adapter/delegated/apps"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
)

// patience is how long a test waits for events in other processes. Only a failing test waits that long.
const patience = 2 * time.Minute

// serving is `accordion serve` for embedded clusters of 128 hosts, c1, c2, …: a process that may be killed and
// started again.
type serving struct {
	t        testing.TB
	dir      string
	clusters int
	command  func(words ...string) *exec.Cmd // runs accordion
	process  *exec.Cmd                       // nil if not running
	former   int64                           // the time of the last snapshot of earlier processes, in seconds
	used     time.Duration                   // processor time of the processes that have ended
}

// newServing writes the configuration. The text `more` is added to the configuration of the first cluster. A pass considers the given
// number of applications, and for each user a quarter of that number.
func newServing(t testing.TB, clusters, applications int, more string) *serving {
	t.Helper()
	dir, err := os.MkdirTemp("", "serving") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{t: t, dir: dir, clusters: clusters, command: ours}
	t.Cleanup(func() {
		if s.process != nil {
			s.kill()
		}
		os.RemoveAll(dir)
	})
	list := fmt.Sprintf("[delegate]\njournal = %q\nfair_start = \"1s\"\ntimer = \"1s\"\napplications = %d\n", s.path("delegate.db"), applications)
	for c := range clusters {
		name := "c" + strconv.Itoa(c+1)
		text := fmt.Sprintf("system = \"embedded\"\nembedded.nodes = 128\njournal.path = %q\nsession.socket = %q\nsession.max_sessions = 8192\n",
			s.path(name+".db"), s.path(name+".sock"))
		if c == 0 {
			text += more
		}
		s.write(name+".toml", text)
		list += fmt.Sprintf("[[cluster]]\nconfig = %q\nname = %q\nspeed = %.1f\n", s.path(name+".toml"), name, 1+0.1*float64(c))
	}
	s.write("list.toml", list)
	return s
}

func (s *serving) path(name string) string { return filepath.Join(s.dir, name) }
func (s *serving) socket() string          { return s.path("c1.sock") }

func (s *serving) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// start starts the process. It takes a moment until it serves.
func (s *serving) start() {
	s.t.Helper()
	for time.Now().Unix() <= s.former { // the new process's snapshots must be of a later second
		time.Sleep(10 * time.Millisecond)
	}
	log, err := os.OpenFile(s.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.process = s.command("serve", "--config", s.path("list.toml"))
	s.process.Stderr = log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// ours returns a command that runs this program, and that is killed when the test ends.
func ours(words ...string) *exec.Cmd {
	c := exec.Command("accordion", words...) // testscript.Main put it on PATH
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

// kill sends SIGKILL and waits until the process has ended.
func (s *serving) kill() {
	s.process.Process.Kill()
	s.process.Wait()
	s.over()
}

// end asks the process to end, and waits for that.
func (s *serving) end() {
	s.t.Helper()
	s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("accordion serve: %v: %s", err, s.log())
	}
	s.over()
}

func (s *serving) over() {
	s.used += s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
	s.process = nil
	s.former = s.found().At
}

// log returns the end of the processes' log.
func (s *serving) log() string {
	const most = 4000
	b, _ := os.ReadFile(s.path("log"))
	return string(b[max(0, len(b)-most):])
}

// await waits until a condition holds. `what` describes the condition.
func (s *serving) await(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			s.t.Fatalf("after %v still not: %s; %s", patience, what, s.log())
		}
		time.Sleep(50 * time.Millisecond) // there is no event from another process to wait for
	}
}

// snapshot returns the view of applications that the running process has written. The result is empty before the process has written one.
func (s *serving) snapshot() view.Applications {
	if found := s.found(); found.At > s.former {
		return found
	}
	return view.Applications{}
}

// found returns the view of applications in the journal, whichever process wrote it. The result is empty while there is no journal.
func (s *serving) found() view.Applications {
	j, err := journal.OpenReadOnly(s.path("delegate.db"))
	if err != nil {
		return view.Applications{}
	}
	defer j.Close()
	found, err := status.ReadApplications(j)
	if err != nil {
		return view.Applications{}
	}
	return found.Applications
}

// read reports whether all clusters were read.
func (s *serving) read() bool {
	all := s.snapshot().Clusters
	return len(all) == s.clusters && !slices.ContainsFunc(all, func(c view.ApplicationCluster) bool { return c.Never })
}

// applications returns the applications in the journal, by number.
func (s *serving) applications() map[int64]apps.Application {
	s.t.Helper()
	all := map[int64]apps.Application{}
	for _, r := range s.records("delegate.db") {
		if r.Job == 0 { // the last number that was assigned
			continue
		}
		var a apps.Application
		if err := json.Unmarshal(r.Data, &a); err != nil {
			s.t.Fatal(err)
		}
		all[r.Job] = a
	}
	return all
}

func (s *serving) records(name string) []journal.Record {
	s.t.Helper()
	j, err := journal.OpenReadOnly(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer j.Close()
	all, err := j.Records()
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// memory returns a line of the process's /proc/PID/status, such as VmRSS, in MiB.
func (s *serving) memory(line string) float64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte("\n"+line+":"))
	fields := strings.Fields(string(rest[:min(len(rest), 40)]))
	if len(fields) == 0 {
		s.t.Fatalf("no line %s in %s", line, text)
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kib / 1024
}
