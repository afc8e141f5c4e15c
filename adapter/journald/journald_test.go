package journald

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"accordion/internal/testenv"
)

func TestFields(t *testing.T) {
	for _, c := range []struct {
		args []any
		want map[string]string
	}{
		{nil, map[string]string{"SYSLOG_IDENTIFIER": "accordion"}},
		{[]any{"cluster", "a", "job", 17, "user", "ann"}, map[string]string{"SYSLOG_IDENTIFIER": "accordion", "ACCORDION_JOB": "17", "ACCORDION_CLUSTER": "a"}},
		{[]any{"user", "job", "why"}, map[string]string{"SYSLOG_IDENTIFIER": "accordion"}},
	} {
		if diff := cmp.Diff(c.want, fields(c.args)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}

// Without systemd nothing changes. A line that the journal does not accept is not lost.
func TestWithoutAJournal(t *testing.T) {
	if Reads(&bytes.Buffer{}) {
		t.Error("a buffer is read by the journal")
	}
	t.Setenv("JOURNAL_STREAM", "1:1")
	if Reads(os.Stderr) {
		t.Error("standard error is another file than the journal's stream, and taken for it")
	}
	cause := ""
	if _, err := os.Stat("/run/systemd/journal/socket"); err == nil {
		cause = "this machine has a journal, which would take the line"
	}
	testenv.Needs(t, testenv.Missing("no-journald", cause))
	var said bytes.Buffer
	log := New(hclog.LoggerOptions{Name: "accordion", Level: hclog.Info, Output: &said}).Named("a").With("job", 17)
	log.Debug("not wanted")
	log.Info("started", "nodes", 3)
	if got, want := said.String(), "[INFO]  accordion.a: started: job=17 nodes=3\n"; got != want {
		t.Errorf("said is %q, want %q", got, want)
	}
}
