package shim

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shells contains the shells to test. sh and bash are on every machine that runs Slurm.
var shells = []string{"sh", "dash", "bash", "zsh", "ksh"}

func eachShell(t *testing.T, f func(t *testing.T, shell string)) {
	found := 0
	for _, name := range shells {
		if path, err := exec.LookPath(name); err == nil {
			found++
			t.Run(name, func(t *testing.T) { f(t, path) })
		}
	}
	if found == 0 {
		t.Fatalf("none of %v is installed", shells)
	}
}

func TestQuotedValuesReachTheShellUnchanged(t *testing.T) {
	hard := []string{"", "'", "''", `\`, `\'`, `"`, "$HOME", "`id`", "$(id)", "a b", "a\nb\n", "*", "~", "a:~root", "!!", "-n", "=", "#", ";exit 9", "\t", "é", "n[1-5]", "\\n", "%s"}
	eachShell(t, func(t *testing.T, shell string) {
		rapid.Check(t, func(t *rapid.T) {
			values := append(rapid.SliceOfN(rapid.String(), 0, 20).Draw(t, "values"), hard...)
			var s script
			for i, v := range values {
				s.export(fmt.Sprintf("ACCORDION_T%d", i), v)
			}
			c := exec.Command(shell, "-c", `eval "$1" && env -0`, "sh", s.end(0))
			out, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				want := fmt.Sprintf("ACCORDION_T%d=%s\x00", i, strings.ReplaceAll(v, "\x00", ""))
				if !bytes.Contains(append([]byte{0}, out...), []byte("\x00"+want)) {
					t.Fatalf("%q is not what the environment has", v)
				}
			}
		})
	})
}

func TestEvalReturnsTheStatusOfTheText(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		for status := range 5 {
			var s script
			s.export("A", "1")
			s.unset("NEVER_SET")
			text := s.end(status)
			for name, body := range map[string]string{
				"eval alone":              `eval "$1"; printf %s "$?"`,
				"eval or":                 `eval "$1" || { printf %s "$?"; exit; }; printf 0`,
				"eval or, under errexit":  `set -eu; eval "$1" || { printf %s "$?"; exit; }; printf 0`,
				"eval in a condition":     `set -eu; if eval "$1"; then printf 0; else printf %s "$?"; fi`,
				"the exports hold though": `eval "$1" || s=$?; [ "$A" = 1 ] && printf %s "${s:-0}"`,
			} {
				out, err := exec.Command(shell, "-c", body, "sh", text).CombinedOutput()
				if err != nil || string(out) != fmt.Sprint(status) {
					t.Errorf("%s, status %d: %q, %v", name, status, out, err)
				}
			}
		}
	})
}
