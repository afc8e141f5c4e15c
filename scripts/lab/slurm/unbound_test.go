package slurm_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// unboundChild is the environment variable that is set in a separate test process without control groups.
const unboundChild = "ACCORDION_LABTEST_UNBOUND"

func TestALabWithoutControlGroupsSaysWhatItDoesWithout(t *testing.T) {
	if os.Getenv(unboundChild) != "" {
		lab := lab.Slurm(t, 2)
		if lab.Binds {
			t.Error("it says that it binds")
		}
		t.Logf("a step ran: %s", lab.Run(t, "alice", "srun", "-Q", "-p", "shared", "-N2", "hostname"))
		return
	}
	lab.NeedSlurm(t)
	const this, other = "TestALabWithoutControlGroupsSaysWhatItDoesWithout", "TestALabRunsBesideAnotherAndLeavesNothingBehind/plain"
	for _, each := range []struct {
		name, test, required string
		says                 []string
		passes               bool
	}{
		{"where a real Slurm is not required", this, "wanted", []string{"no control groups", "memory and devices are not bound", "a step ran"}, true},
		{"where it is", this, "required", []string{"no lab like a site: this machine has no control groups"}, false},
		{"it ends its processes and no others", other, "wanted", []string{"--- PASS: " + other}, true},
	} {
		t.Run(each.name, func(t *testing.T) {
			hidden := `mount --make-rprivate / && mount -t tmpfs -o ro tmpfs /sys/fs/cgroup && exec "$0" -test.v -test.run "$1"`
			child := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", hidden, os.Args[0], each.test)
			child.Env = append(os.Environ(), unboundChild+"=yes", "ACCORDION_TEST_SLURM="+each.required)
			out, err := child.CombinedOutput()
			if passed := err == nil; passed != each.passes {
				t.Errorf("passed: %v, want %v", passed, each.passes)
			}
			for _, words := range each.says {
				if !strings.Contains(string(out), words) {
					t.Errorf("it does not say %q", words)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
