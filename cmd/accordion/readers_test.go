package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"accordion/internal/testenv"
)

// TestOrdinaryUsersAreAnsweredByTheSidecar runs each command that reads journals as an unprivileged user, once while
// the sidecar runs and once while no sidecar runs. The journals are those of two clusters and of applications.
func TestOrdinaryUsersAreAnsweredByTheSidecar(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	s := newServing(t, 2, 100, "")
	program, err := exec.LookPath("accordion")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("install", "-m", "0755", program, s.path("accordion")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.write("none", "")
	if err := os.Mkdir(s.path("out"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o755, "out": 0o777, "none": 0o644, "list.toml": 0o644, "c1.toml": 0o644, "c2.toml": 0o644} {
		if err := os.Chmod(s.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	s.start()
	s.await("all clusters are read", s.read)
	as := func(words ...string) (string, error) {
		c := exec.CommandContext(t.Context(), s.path("accordion"), words...)
		c.Env = append(os.Environ(), "ACCORDION_CONFIG="+s.path("list.toml"))
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Pdeathsig: syscall.SIGKILL}
		c.Dir = "/"
		out, err := c.CombinedOutput()
		return string(out), err
	}
	commands := []struct {
		words []string
		want  string // while the sidecar runs
		away  string // while it does not
	}{
		{[]string{"status"}, "Accordion on c2: no managed jobs, as of", "Accordion on c2: THE SIDECAR IS NOT RUNNING since"},
		{[]string{"status", "--json"}, `"applications":[]`, `{"sidecar":{"running":false,"since":`},
		{[]string{"queue"}, "Accordion on c2: 0 jobs run, 0 wait", "c2: ask the sidecar at "},
		{[]string{"queue", "--cluster", "c1", "--json"}, `"closures":[]`, "it has not been running since"},
		{[]string{"explain", "1"}, "job 1 is not in the pool of cluster", "it has not been running since"},
		{[]string{"explain", "--application", "1"}, "application 1: no launcher", "it has not been running since"},
		{[]string{"journal"}, "c2 ", "it has not been running since"},
		{[]string{"journal", "--json", "--job", "7"}, "", "it has not been running since"},
		{[]string{"advise", "--managed"}, "No job that carried a line is over.", "it has not been running since"},
		{[]string{"gantt", "--cluster", "c1", "--out", s.path("out/page"), s.path("none")}, "", "it has not been running since"},
		{[]string{"watch", "--cluster", "c1", "--until-idle"}, "", "it has not been running since"},
		{[]string{"__complete", "status", "--cluster", "c"}, "c2\n", "c2\n"},
	}
	for _, c := range commands {
		if said, _ := as(c.words...); !strings.Contains(said, c.want) || strings.Contains(said, "permission") || strings.Contains(said, "sidecar at") {
			t.Errorf("accordion %s: %q, want %q", strings.Join(c.words, " "), said, c.want)
		}
	}
	s.end()
	for _, c := range commands {
		if said, _ := as(c.words...); !strings.Contains(said, c.away) {
			t.Errorf("accordion %s while the sidecar is away: %q, want %q", strings.Join(c.words, " "), said, c.away)
		}
	}
}
