package cpuset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/internal/testenv"
	"accordion/oar/conf"
	"accordion/oar/server"
)

// inPlaceOfSSH replaces ssh: it records its arguments and input, and behaves as the node's name says.
const inPlaceOfSSH = `#!/bin/sh
while [ $# -gt 2 ]; do shift; done
cat >"$(dirname "$0")/$1.in"
echo "$2" >"$(dirname "$0")/$1.command"
case $1 in
good*) echo "from $1";;
fails) echo "no such cpuset" >&2; exit 6;;
away) echo "No route to host" >&2; exit 255;;
slow) exec sleep 600;;
esac
`

func TestManagerRunsOnEveryNodeAndReportsFailures(t *testing.T) {
	dir, err := os.MkdirTemp("", "manager") // t.TempDir() is not accessible to OAR's account
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ssh, program := filepath.Join(dir, "ssh"), filepath.Join(dir, "manager.pl")
	for file, text := range map[string]string{ssh: inPlaceOfSSH, program: "print 1;\n"} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	m := manager{conf.Manager{File: program}, server.Remote{Command: ssh + " -p 6667"}, hclog.NewNullLogger()}
	cause := ""
	if os.Geteuid() == 0 {
		if _, _, err := server.Lookup(t.Context(), server.OARAccount); err != nil {
			cause = err.Error()
		}
	}
	testenv.Needs(t, testenv.Missing("account", cause))
	within, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	bad, err := m.send(within, MakeReady, []string{"good1", "fails", "away", "slow", "good2"}, map[string]any{"job_id": int64(7), "job_name": "it's"})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, b := range bad {
		word := b.host
		if b.answered() {
			word += " answered"
		}
		told = append(told, word)
	}
	if got := strings.Join(told, ", "); got != "away, fails answered, slow" {
		t.Errorf("it fails on %s; want away, fails answered, slow", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "good2.in"))
	if want := "print 1;\n__END__\n{'job_id' => '7','job_name' => 'it\\'s'}"; err != nil || string(text) != want {
		t.Errorf("a node reads %q (%v), want %q", text, err, want)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "good2.command")); err != nil || string(text) != "TAKTUK_HOSTNAME='good2' perl - init\n" {
		t.Errorf("a node gets %q (%v)", text, err)
	}
	m.conf.File = filepath.Join(dir, "none")
	if bad, err := m.send(t.Context(), MakeReady, []string{"good1"}, nil); err == nil || len(bad) > 0 {
		t.Errorf("without the manager %v are bad nodes (%v), want none and an error", bad, err)
	}
}
