package slurm_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// The sidecar runs with the capabilities that the systemd unit leaves it, and with /usr and /etc read-only. It must
// still be able to allocate as a user, write that user's hosts file, and signal the script.
func TestTheSidecarNeedsNoMoreThanItsUnitLeavesIt(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../examples/systemd/accordion.service")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^CapabilityBoundingSet=(.+)$`).FindSubmatch(unit)
	if line == nil {
		t.Fatal("the unit does not say which capabilities are left")
	}
	bounds := "-all"
	for _, c := range strings.Fields(string(line[1])) {
		bounds += ",+" + strings.ToLower(strings.TrimPrefix(c, "CAP_"))
	}
	l := lab.TakeSlurm(t, 4, lab.Fast())
	p := serving(t, l, "")
	p.stop()
	p.within = []string{"unshare", "--mount", "sh", "-c", `mount --make-rprivate / && for d in /usr /etc; do mount --bind $d $d && mount -o remount,ro,bind $d || exit; done
		exec setpriv --bounding-set=` + bounds + ` --inh-caps=-all "$@"`, "sh"}
	p.start()
	held, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil || regexp.MustCompile(`(?m)^CapEff:\s+0*1ffffffffff$`).Match(held) {
		t.Fatalf("the sidecar has all capabilities, error %v:\n%s", err, held)
	}
	job := l.Submit(t, "alice", "#EP 1x4s,2x14s,1x20s\nsleep 60")
	l.Await(t, 2*time.Minute, "a silent job has grown and shrunk", func() bool { return strings.Contains(p.accordion("journal", "--job", job), "shrank:") })
	said := p.accordion("journal", "--job", job)
	for _, want := range []string{`grew: from 1 to 2`, `shrank: from 2 to 1`, `publish .*\(done`, `signal .*\(done`} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("the journal has no %q:\n%s", want, said)
		}
	}
}
