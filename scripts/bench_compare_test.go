package scripts_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBenchCompareRefusesInOneLineBeforeItBuildsAnything(t *testing.T) {
	for _, c := range []struct {
		environment string
		arguments   []string
		says        string
	}{
		{"", []string{"no-such-branch"}, "bench-compare: BASE: no-such-branch is no commit; give a branch, a tag or a hash, such as main or HEAD~3\n"},
		{"COUNT=few", []string{"HEAD"}, "bench-compare: COUNT: few is not how many turns; benchstat wants 6 or more\n"},
		{"", []string{"--help"}, "usage: scripts/bench-compare BASE [PACKAGE...]"},
		{"", []string{""}, "usage: scripts/bench-compare BASE [PACKAGE...]"},
	} {
		command := exec.CommandContext(t.Context(), "bash", append([]string{"bench-compare"}, c.arguments...)...)
		command.Env = append(os.Environ(), c.environment)
		out, err := command.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("%s bench-compare %q: %v\n%s\nwant status 2 and\n%s", c.environment, c.arguments, err, out, c.says)
		}
	}
}
