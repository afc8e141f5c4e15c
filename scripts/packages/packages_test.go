package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"accordion/internal/browser"
	"accordion/internal/testenv"
)

var long = flag.Bool("accordion.long", false, "build the program as packages have it, twice, and install it on three releases of Debian")

// from is the flag with the folder of packages that were built from an earlier commit.
var from = flag.String("accordion.from", "", "upgrade from the packages in this `FOLDER` instead of those of an older version of this tree")

// needs skips a test if one of the programs is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		testenv.Program(t, p)
	}
}

func sh(t *testing.T, program string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(c.Args, " "), err, out, said.Bytes())
	}
	return string(out)
}

// built holds the packages of one version.
type built struct {
	folder  string
	files   []string
	program string
}

// older and newer return two versions of this tree. Their programs are compiled as for any test. The build that
// packages normally need takes minutes longer, so only the long tests run it.
var (
	older = sync.OnceValues(func() (built, error) { return quick("v1.0.0") })
	newer = sync.OnceValues(func() (built, error) { return quick("v1.0.1") })
)

// kept is the folder of `older` and `newer` while the tests run.
var kept string

func TestMain(m *testing.M) {
	flag.Parse()
	folder, err := os.MkdirTemp("", "accordion-packages-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kept = folder
	status := browser.Main(m)
	os.RemoveAll(kept)
	os.Exit(status)
}

func quick(text string) (built, error) {
	b := built{folder: filepath.Join(kept, text), program: filepath.Join(kept, text+"-program")}
	c := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w -X accordion/cmd/accordion/command.version="+text, "-o", b.program, "accordion/cmd/accordion")
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	if err := told(c); err != nil {
		return b, err
	}
	var err error
	b.files, err = build(context.Background(), options{root: "../..", out: b.folder, program: b.program, version: version{text: text, when: noon}})
	return b, err
}

func packagesOf(t *testing.T, once func() (built, error)) built {
	t.Helper()
	testenv.Needs(t, testenv.Packages)
	b, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTwoBuildsAreTheSame(t *testing.T) {
	first := packagesOf(t, older)
	folder := t.TempDir()
	again, err := build(t.Context(), options{root: "../..", out: folder, program: first.program, version: version{text: "v1.0.0", when: noon}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums(t, first.files), sums(t, again)); diff != "" {
		t.Errorf("a second build is another one:\n%s", diff)
	}
}

func sums(t *testing.T, files []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return all
}

// holds lists the content of each package, without its documentation.
var holds = map[string][]string{
	"accordion": {"/usr/bin/accordion", "/usr/share/bash-completion/completions/accordion", "/usr/share/fish/vendor_completions.d/accordion.fish"},
	"accordion-controller": {"/etc/accordion", "/usr/lib/systemd/system/accordion-release.service", "/usr/lib/systemd/system/accordion-release.timer",
		"/usr/lib/systemd/system/accordion.service", "/var/lib/accordion"},
	"accordion-slurm": {"/usr/share/accordion/slurm/job_submit.lua", "/usr/share/accordion/slurm/spank/accordion.c", "/usr/share/accordion/slurm/spank/build"},
	"accordion-oar":   {"/usr/share/accordion/oar/rules/restore.pl", "/usr/share/accordion/oar/rules/take.pl"},
}

// documented lists the documentation files that each package must have.
var documented = map[string][]string{
	"deb": {"/usr/share/doc/NAME/changelog.Debian.gz", "/usr/share/doc/NAME/copyright", "/usr/share/lintian/overrides/NAME"},
	"rpm": {"/usr/share/doc/NAME/copyright", "/usr/share/licenses/NAME/LICENSE"},
}

func TestWhatIsInThePackages(t *testing.T) {
	b := packagesOf(t, older)
	if len(b.files) != 2*len(holds) {
		t.Fatalf("the packages are %q", b.files)
	}
	for _, file := range b.files {
		kind := strings.TrimPrefix(filepath.Ext(file), ".")
		name := nameOf(file)
		files := contents(t, kind, file)
		want := slices.Clone(holds[name])
		for _, d := range documented[kind] {
			want = append(want, strings.ReplaceAll(d, "NAME", name))
		}
		if name == "accordion" {
			want = append(want, map[string]string{"deb": "/usr/share/zsh/vendor-completions/_accordion", "rpm": "/usr/share/zsh/site-functions/_accordion"}[kind])
			for _, w := range []string{"/usr/share/man/man1/accordion.1.gz", "/usr/share/man/man1/accordion-oar-install.1.gz", "/usr/share/doc/accordion/administrator.md", "/usr/share/doc/accordion/html/index.html",
				"/usr/share/doc/accordion/examples/accordion.toml", "/usr/share/doc/accordion/examples/several.toml", "/usr/share/doc/accordion/accordion.cdx.json", "/usr/share/doc/accordion/changelog.gz"} {
				if !slices.Contains(files, w) {
					t.Errorf("%s has no %s", file, w)
				}
			}
			if i := slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") || strings.Contains(f, "/testdata/") }); i >= 0 {
				t.Errorf("%s has a test: %s", file, files[i])
			}
			files = slices.DeleteFunc(files, func(f string) bool {
				return strings.HasPrefix(f, "/usr/share/man/") || strings.HasPrefix(f, "/usr/share/doc/accordion/") && f != "/usr/share/doc/accordion/copyright" && f != "/usr/share/doc/accordion/changelog.Debian.gz"
			})
		}
		slices.Sort(want)
		slices.Sort(files)
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
		}
	}
}

// nameOf returns a package's name from its file name.
func nameOf(file string) string {
	return regexp.MustCompile(`^accordion(-[a-z]+)?`).FindString(filepath.Base(file))
}

// contents returns the files and the empty folders of a package, as dpkg-deb or rpm lists them. All must belong to
// root, and no other user may be able to write them.
func contents(t *testing.T, kind, file string) (files []string) {
	t.Helper()
	var rows []string
	folders := map[string]bool{}
	add := func(mode, owner, path string) {
		path = strings.TrimPrefix(path, ".")
		if owner != "root/root" || !regexp.MustCompile(`^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--)$`).MatchString(mode) {
			t.Errorf("%s: %s is %s's, mode %s", filepath.Base(file), path, owner, mode)
		}
		if strings.HasPrefix(mode, "d") {
			folders[strings.TrimSuffix(path, "/")] = true
			return
		}
		files = append(files, path)
	}
	if kind == "deb" {
		rows = strings.Split(strings.TrimSpace(sh(t, "dpkg-deb", "-c", file)), "\n")
		for _, row := range rows {
			cells := strings.Fields(row)
			add(cells[0], cells[1], cells[5])
		}
	} else {
		rows = strings.Split(strings.TrimSpace(sh(t, "rpm", "-qp", "--qf", `[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES}\n]`, file)), "\n")
		for _, row := range rows {
			cells := strings.Fields(row)
			add(cells[0], cells[1], cells[2])
		}
	}
	for _, f := range slices.Sorted(maps.Keys(folders)) {
		if !slices.ContainsFunc(files, func(path string) bool { return strings.HasPrefix(path, f+"/") }) && !slices.ContainsFunc(slices.Collect(maps.Keys(folders)), func(other string) bool { return strings.HasPrefix(other, f+"/") }) {
			files = append(files, f)
		}
	}
	return files
}

func TestWhatPackagesNeed(t *testing.T) {
	b := packagesOf(t, older)
	needed, err := libc(b.program)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ deb, rpm string }{
		"accordion":            {"libc6 (>= " + needed + ")", "libc.so.6(GLIBC_" + needed + ")(64bit)"},
		"accordion-controller": {"accordion (= 1.0.0-1)", "accordion = 1.0.0-1"},
		"accordion-slurm":      {"accordion (>= 1.0.0-1)", "accordion >= 1.0.0-1"},
		"accordion-oar":        {"accordion (>= 1.0.0-1)", "accordion >= 1.0.0-1"},
	} {
		for _, file := range b.files {
			switch {
			case nameOf(file) != name:
			case strings.HasSuffix(file, ".deb"):
				if got := strings.TrimSpace(sh(t, "dpkg-deb", "-f", file, "Depends")); got != want.deb {
					t.Errorf("%s depends on %q, want %q", file, got, want.deb)
				}
			default:
				if got := sh(t, "rpm", "-qp", "--requires", file); !slices.Contains(strings.Split(got, "\n"), want.rpm) {
					t.Errorf("%s requires %q, want %q", file, got, want.rpm)
				}
				if got := sh(t, "rpm", "-K", file); !strings.Contains(got, "digests OK") {
					t.Errorf("rpm says of %s: %s", file, got)
				}
			}
		}
	}
}

// Lintian reports only what scripts/packages/lintian explains. The program of this test depends on the folder in
// which it was built. The program of real packages does not, and the long test checks that.
func TestLintianIsSilent(t *testing.T) {
	b := packagesOf(t, older)
	silent(t, b.files, "--suppress-tags", "hardening-no-pie")
}

func silent(t *testing.T, files []string, more ...string) {
	t.Helper()
	args := append([]string{"--allow-root", "--fail-on", "error,warning"}, more...)
	for _, f := range files {
		if strings.HasSuffix(f, ".deb") {
			args = append(args, f)
		}
	}
	c := exec.CommandContext(t.Context(), "lintian", args...)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}

// The bill of materials lists every linked module with a license, and the other files of a package.
func TestTheBillOfMaterials(t *testing.T) {
	b := packagesOf(t, older)
	i := slices.IndexFunc(b.files, func(f string) bool { return nameOf(f) == "accordion" && strings.HasSuffix(f, ".deb") })
	folder := t.TempDir()
	sh(t, "dpkg-deb", "-x", b.files[i], folder)
	file, err := os.Open(filepath.Join(folder, "usr/share/doc/accordion/accordion.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(folder, "usr/bin/accordion"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (*bom.Metadata.Component.Hashes)[0].Value, fmt.Sprintf("%x", sha256.Sum256(program)); got != want || bom.Metadata.Component.Version != "v1.0.0" {
		t.Errorf("it is of %s with the sum %s, want v1.0.0 with %s", bom.Metadata.Component.Version, got, want)
	}
	listed := map[string]string{}
	for _, c := range *bom.Components {
		if c.Licenses == nil || (*c.Licenses)[0].Expression == "" || c.Version == "" || c.PackageURL == "" {
			t.Errorf("%s %s lacks its license or its name", c.Name, c.Version)
			continue
		}
		listed[c.Name] = (*c.Licenses)[0].Expression
	}
	for name, want := range map[string]string{"std": "BSD-3-Clause", "sqlite": "blessing", "github.com/go-sql-driver/mysql": "MPL-2.0", "github.com/spf13/cobra": "Apache-2.0", "github.com/jackc/pgx/v5": "MIT"} {
		if listed[name] != want {
			t.Errorf("%s is under %q, want %q", name, listed[name], want)
		}
	}
	for row := range strings.Lines(sh(t, "go", "version", "-m", b.program)) {
		if cells := strings.Fields(row); len(cells) > 2 && cells[0] == "dep" && listed[cells[1]] == "" {
			t.Errorf("%s is linked and not in the bill", cells[1])
		}
	}
	legal, err := os.ReadFile(filepath.Join(folder, "usr/share/doc/accordion/copyright"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range listed {
		if name != "std" && name != "sqlite" && !bytes.Contains(legal, []byte(name)) {
			t.Errorf("the copyright file has no %s", name)
		}
	}
}

// The packages contain the same plug-in sources as the tree.
func TestThePlugInBuildsFromThePackage(t *testing.T) {
	testenv.Needs(t, testenv.Packages)
	testenv.File(t, "libslurm-dev", "/usr/include/slurm/spank.h")
	b := packagesOf(t, older)
	i := slices.IndexFunc(b.files, func(f string) bool { return nameOf(f) == "accordion-slurm" && strings.HasSuffix(f, ".deb") })
	folder := t.TempDir()
	sh(t, "dpkg-deb", "-x", b.files[i], folder)
	made := filepath.Join(folder, "accordion.so")
	sh(t, filepath.Join(folder, "usr/share/accordion/slurm/spank/build"), made)
	if info, err := os.Stat(made); err != nil || info.Size() == 0 {
		t.Errorf("the plug-in: %v", err)
	}
	if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".new") {
			t.Errorf("%s is left behind", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
