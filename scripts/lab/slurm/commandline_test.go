package slurm_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/lab"
	"accordion/internal/testenv"
)

func TestAWrongCommandLineIsRefusedInOneLine(t *testing.T) {
	testenv.Needs(t, testenv.Slurm)
	for _, test := range []struct {
		arguments, environment string
		status                 int
		says                   string
	}{
		{"frob", "", 2, "frob is no command"},
		{"up", "", 2, "how many nodes"},
		{"up 0", "", 2, "one number of nodes"},
		{"up 2000", "", 2, "do not fit"},
		{"up four", "", 2, "one number of nodes"},
		{"up 4 --user", "", 2, "--user wants a name"},
		{"up 4 --user Bob;id", "", 2, "want a name of small letters"},
		{"up 1000", "SLURM_LAB_PORT=65000", 2, "do not fit the ports"},
		{"up 4", "SLURM_LAB_PORT=80", 2, "want a port"},
		{"up 4", "SLURM_LAB_CPUS=many", 2, "want a number of cores"},
		{"up 4", "SLURM_LAB_CPUS=999", 2, "this machine has"},
		{"up 4", "SLURM_LAB_DIR=relative", 2, "want an absolute path"},
		{"up 4", "SLURM_LAB_DIR=/tmp/" + strings.Repeat("long", 30), 2, "at most 80 characters"},
		{"down", "SLURM_LAB_DIR=/etc", 1, "/etc is not a lab"},
		{"down", "SLURM_LAB_DIR=/", 2, "want an absolute path"},
		{"down now", "", 2, "takes no argument"},
		{"exec", "", 2, "which command"},
		{"exec -- squeue", "", 1, "no lab in"},
		{"status", "", 1, "no lab in"},
		{"node-kill n1", "", 1, "no lab in"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), lab.Tool(t, "slurm-lab"), strings.Fields(test.arguments)...)
			c.Env = append(os.Environ(), "SLURM_LAB_DIR="+filepath.Join("/var/tmp", "accordion-no-such-lab"), test.environment)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != test.status {
				t.Errorf("it ended with %v, want status %d", err, test.status)
			}
			line := strings.TrimSuffix(string(out), "\n")
			if !strings.HasPrefix(line, "slurm-lab: ") || !strings.Contains(line, test.says) || strings.Contains(line, "\n") {
				t.Errorf("it says %q, want one line with %q", line, test.says)
			}
		})
	}
}
