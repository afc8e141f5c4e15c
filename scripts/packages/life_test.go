package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"accordion/internal/testenv"
)

// TestTheLifeOfThePackages installs, upgrades, removes and purges the packages. It runs testdata/life on a bare
// Debian of this machine's release. The root directory of that Debian is fetched only once. Changes to it are in
// memory only.
func TestTheLifeOfThePackages(t *testing.T) {
	testenv.Needs(t, testenv.Packages, testenv.Root)
	text, err := os.ReadFile("/etc/os-release")
	suite := regexp.MustCompile(`(?m)^VERSION_CODENAME="?([a-z]+)`).FindSubmatch(text)
	if err != nil || suite == nil {
		testenv.Needs(t, testenv.Missing("packages", "this is no Debian"))
	}
	root := bareRoot(t, string(suite[1]))
	lives(t, root, packagesOf(t, older), packagesOf(t, newer))
}

// bareRoot returns the root directory of a Debian suite with only required packages and apt.
func bareRoot(t *testing.T, suite string) string {
	t.Helper()
	return released(t, "bare", `release_root "$0" dpkg`, suite)
}

// released calls a function of scripts/lab/release.sh and returns its output. `folder` is the folder for the root
// directories; "" means the folder of the labs.
func released(t *testing.T, folder, function, suite string) string {
	t.Helper()
	testenv.Needs(t, testenv.Packages, testenv.Root)
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		testenv.Needs(t, testenv.Missing("namespaces", err.Error()))
	}
	labs := cmp.Or(os.Getenv("ACCORDION_LABS"), "/var/cache/accordion-labs")
	c := exec.CommandContext(t.Context(), "bash", "-c", `. ../lab/install.sh && . ../lab/release.sh && `+function, suite)
	c.Env = append(os.Environ(), "ACCORDION_LABS="+filepath.Join(labs, folder))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		testenv.Needs(t, testenv.Missing("packages", fmt.Sprintf("Debian %s: %v", suite, err)))
	}
	return strings.TrimSpace(string(out))
}

// Released packages are built against the C library of the oldest Debian. They do not depend on the source folder,
// and work on all later releases.
func TestPackagesAsTheyAreReleased(t *testing.T) {
	if !*long {
		t.Skip("it compiles the program anew: -args -accordion.long")
	}
	testenv.Needs(t, testenv.Packages)
	cc := released(t, "", `c_compiler "$0"`, "bullseye")
	release := func(root, text string) built {
		b := built{folder: t.TempDir()}
		var err error
		if b.files, err = build(t.Context(), options{root: root, out: b.folder, cc: cc, version: version{text: text, when: noon}}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	clone := filepath.Join(t.TempDir(), "deeper", "clone")
	sh(t, "git", "clone", "-q", "../..", clone)
	elsewhere := filepath.Join(t.TempDir(), "clone")
	sh(t, "git", "clone", "-q", "../..", elsewhere)
	old, again, new := release(clone, "v1.0.0"), release(elsewhere, "v1.0.0"), release(clone, "v1.0.1")
	if diff := gocmp.Diff(sums(t, old.files), sums(t, again.files)); diff != "" {
		t.Errorf("built elsewhere it is another one:\n%s", diff)
	}
	silent(t, old.files)
	for _, suite := range []string{"bullseye", "bookworm", "trixie"} {
		lives(t, bareRoot(t, suite), old, new)
	}
}

// lives runs testdata/life on a copy of a root.
func lives(t *testing.T, root string, old, new built) {
	t.Helper()
	life, err := filepath.Abs("testdata/life")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", `
		set -e
		mount --make-rprivate /
		mount -t tmpfs none "$0"
		mkdir "$0"/changes "$0"/work "$0"/root
		mount -t overlay -o "lowerdir=$1,upperdir=$0/changes,workdir=$0/work" overlay "$0/root"
		mount -t proc proc "$0/root/proc"
		mount --bind /dev "$0/root/dev"
		mkdir -p "$0"/root/packages/old "$0"/root/packages/new
		mount --bind "$2" "$0"/root/packages/old
		mount --bind "$3" "$0"/root/packages/new
		cp "$4" "$0"/root/tmp/life
		exec chroot "$0"/root /tmp/life`, t.TempDir(), root, old.folder, new.folder, life)
	out, err := c.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "all is well\n") {
		t.Errorf("on %s: %v\n%s", root, err, out)
	}
}

// RPM itself installs, verifies, upgrades and removes the packages in a separate root directory.
func TestRpmInstallsThePackages(t *testing.T) {
	testenv.Needs(t, testenv.Packages, testenv.Root)
	old, new := packagesOf(t, older), packagesOf(t, newer)
	root := t.TempDir()
	rpm := func(args ...string) string {
		t.Helper()
		return sh(t, "rpm", append([]string{"--root", root, "--nodeps", "--noscripts"}, args...)...)
	}
	rpm(append([]string{"-i"}, rpms(old)...)...)
	rpm(append([]string{"-U"}, rpms(new)...)...)
	names := []string{"accordion", "accordion-controller", "accordion-oar", "accordion-slurm"}
	for _, name := range names {
		if out := sh(t, "rpm", "--root", root, "-V", "--nodeps", name); out != "" {
			t.Errorf("rpm -V %s: %s", name, out)
		}
	}
	if out := sh(t, "rpm", "--root", root, "-q", "--qf", "%{VERSION} ", "accordion"); out != "1.0.1 " {
		t.Errorf("upgraded, the version is %q", out)
	}
	rpm(append([]string{"-e"}, names...)...)
	var left []string
	for _, f := range []string{"usr/bin/accordion", "usr/share/accordion", "usr/share/doc/accordion", "usr/lib/systemd/system/accordion.service"} {
		if _, err := os.Lstat(filepath.Join(root, f)); err == nil {
			left = append(left, f)
		}
	}
	if len(left) > 0 {
		t.Errorf("removed, there is still %q", left)
	}
}

func rpms(b built) []string {
	return slices.DeleteFunc(slices.Clone(b.files), func(f string) bool { return !strings.HasSuffix(f, ".rpm") })
}
