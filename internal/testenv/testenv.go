// Package testenv skips tests that need what an ordinary machine may lack: root, a real Slurm, a browser, minutes.
//
// Tests run at one of two levels. At the first level, ./scripts/test and go test ./..., a test is skipped if the
// machine lacks what it needs. The skip message is one word that names the need. At the second level, ./scripts/test
// --real, the same test fails. The environment variable ACCORDION_TEST selects the level:
//
//	(not set)  first level: tests with real systems, browsers and minutes are left out; other tests run if the machine has what they need
//	bare       first level, as on a machine that has only Go, a C compiler and a shell; scripts/skips lists the tests skipped there
//	real       second level
//
// ACCORDION_TEST_WORD=required requests the tests of one word only: ACCORDION_TEST_SLURM=required go test ./slurm.
// With =wanted they run if the machine has what they need, and are skipped otherwise.
//
//	func TestAnotherUserCannotRead(t *testing.T) {
//		testenv.Needs(t, testenv.Root)
package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Need is something that a test needs.
type Need struct {
	word  string
	real  bool          // the need is met only at the second level, even if the machine has what is needed
	cause func() string // returns why the need is not met, or ""
}

// The needs of tests. Slurm, OAR, Packages, Chromium, Prometheus and Minutes are for the second level only.
var (
	Root       = Need{word: "root", cause: notRoot}
	Slurm      = realRoot("slurm", "/usr/sbin/slurmctld")
	OAR        = realRoot("oar", "/usr/sbin/oar-server")
	Packages   = Need{word: "packages", real: true, cause: programs("dpkg-deb", "rpm", "lintian", "gcc", "git")}
	Chromium   = Need{word: "chromium", real: true, cause: programs("chromium")}
	Prometheus = Need{word: "prometheus", real: true, cause: programs("prometheus", "promtool")}
	Minutes    = Need{word: "minutes", real: true, cause: func() string { return "" }}
)

// Program returns the path of a program. It skips the test if the program is not on PATH.
func Program(t testing.TB, name string) (path string) {
	t.Helper()
	Needs(t, Need{word: name, cause: programs(name)})
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Missing returns a need that the caller has checked. `cause` is the reason why the need is not met, or "".
func Missing(word, cause string) Need {
	return Need{word: word, cause: func() string { return cause }}
}

// Needs skips the test if one of the needs is not met. It fails the test instead if that need is required.
func Needs(t testing.TB, needs ...Need) {
	t.Helper()
	for _, n := range needs {
		cause := n.cause()
		switch asked := asked(n.word); {
		case asked == required && cause != "":
			t.Fatalf("needs %s: %s", n.word, cause)
		case asked == bare:
			t.Skipf("needs %s: a bare machine has none", n.word)
		case asked == "" && n.real:
			t.Skipf("needs %s: ./scripts/test --real", n.word)
		case cause != "":
			t.Skipf("needs %s: %s", n.word, cause)
		}
	}
}

// level is the environment variable that selects the level.
const level = "ACCORDION_TEST"

const (
	real     = "real"
	bare     = "bare"
	required = "required"
)

// asked returns how tests that need `word` are requested: required, wanted, bare or "".
func asked(word string) string {
	if own := os.Getenv(level + "_" + strings.ToUpper(word)); own != "" {
		return own
	}
	if os.Getenv(level) == real {
		return required
	}
	return os.Getenv(level)
}

// Required reports whether a test fails if the need `word` is not met.
func Required(word string) bool { return asked(word) == required }

// Real reports whether tests run at the second level.
func Real() bool { return os.Getenv(level) == real }

// File skips the test if a file does not exist. `word` names the need, such as the Debian package of the file.
func File(t testing.TB, word, path string) {
	t.Helper()
	cause := ""
	if _, err := os.Stat(path); err != nil {
		cause = err.Error()
	}
	Needs(t, Missing(word, cause))
}

func notRoot() string {
	if os.Geteuid() != 0 {
		return "this is not root"
	}
	return ""
}

// realRoot returns the need for a system that a lab boots: root, and the program.
func realRoot(word, program string) Need {
	return Need{word: word, real: true, cause: func() string {
		if cause := notRoot(); cause != "" {
			return cause
		}
		if _, err := os.Stat(program); err != nil {
			return "it is not installed; ./scripts/test --real installs it"
		}
		return ""
	}}
}

// programs returns a function that reports which of the programs are not on PATH.
func programs(names ...string) func() string {
	return func() string {
		for _, name := range names {
			if _, err := exec.LookPath(name); err != nil {
				return name + " is not on PATH"
			}
		}
		return ""
	}
}
