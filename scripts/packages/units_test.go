package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostExposed is the highest exposure that systemd calls OK. The exposure measures what a compromised sidecar could
// reach on the machine. 0 is nothing, and 10 is everything.
const mostExposed = 4.0

// Systemd accepts every line of the units, and computes a low exposure for them.
func TestUnits(t *testing.T) {
	needs(t, "systemd-analyze")
	folder := "../../examples/systemd"
	units, err := os.ReadDir(folder)
	if err != nil || len(units) < 3 {
		t.Fatalf("%v are the units, error %v", units, err)
	}
	// The program is not installed here. systemd does not mind.
	copied := t.TempDir()
	var paths []string
	for _, u := range units {
		text, err := os.ReadFile(filepath.Join(folder, u.Name()))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(copied, u.Name()))
		if err := os.WriteFile(paths[len(paths)-1], bytes.ReplaceAll(text, []byte("=/usr/bin/accordion "), []byte("=/bin/true ")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	verify := exec.CommandContext(t.Context(), "systemd-analyze", append([]string{"verify", "--man=no"}, paths...)...)
	if out, err := verify.CombinedOutput(); err != nil || slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(string(out), filepath.Base(p)) }) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for _, p := range paths {
		if !strings.HasSuffix(p, ".service") {
			continue
		}
		out := sh(t, "systemd-analyze", "security", "--offline=true", "--no-pager", p)
		level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(out)
		if level == nil {
			t.Fatalf("systemd-analyze security does not say how exposed %s is:\n%s", filepath.Base(p), out)
		}
		if exposed, err := strconv.ParseFloat(level[1], 64); err != nil || exposed > mostExposed {
			t.Errorf("%s is exposed by %s, error %v; want at most %v:\n%s", filepath.Base(p), level[1], err, mostExposed, out)
		}
	}
}

// A user who can open the journal can lock it.
func TestOnlyRootOpensTheStateOfTheSidecar(t *testing.T) {
	text, err := os.ReadFile("../../examples/systemd/accordion.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"StateDirectory=accordion", "StateDirectoryMode=0700", "UMask=0077"} {
		if !bytes.Contains(text, []byte("\n"+line+"\n")) {
			t.Errorf("accordion.service has no line %s", line)
		}
	}
}

// Above each remaining capability is the reason for it.
func TestEveryCapabilityIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../examples/systemd/accordion.service")
	if err != nil {
		t.Fatal(err)
	}
	above, line, is := strings.Cut(string(text), "\nCapabilityBoundingSet=")
	line, _, _ = strings.Cut(line, "\n")
	left := strings.Fields(line)
	if !is || len(left) == 0 {
		t.Fatal("accordion.service does not say which capabilities are left")
	}
	for _, c := range left {
		if !regexp.MustCompile(`(?m)^#   .*\b` + strings.TrimPrefix(c, "CAP_") + `\b`).MatchString(above) {
			t.Errorf("%s is left, and not explained", c)
		}
	}
}

// Each resource limit of the service is set, explained above it, and larger than the sum of the sidecar's own limits.
func TestServiceIsBounded(t *testing.T) {
	text, err := os.ReadFile("../../examples/systemd/accordion.service")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		least, most int64
		unit        string
	}{
		"MemoryMax":   {1 << 30, 8 << 30, "G"}, // 138 MiB on a large cluster (docs/performance.md), its programs, 4,096 sessions
		"TasksMax":    {256, 4096, ""},         // Go's threads, and six Slurm programs at a time
		"LimitNOFILE": {8_600, 65_536, ""},     // 4,096 sessions, 2,048 connections of users not known yet, 256 refused, 2,048 for the page, 64 for metrics, files
	} {
		above, line, is := strings.Cut(string(text), "\n"+name+"=")
		line, _, _ = strings.Cut(line, "\n")
		value, err := strconv.ParseInt(strings.TrimSuffix(line, c.unit), 10, 64)
		if c.unit == "G" {
			value <<= 30
		}
		if !is || err != nil || value < c.least || value > c.most {
			t.Errorf("%s=%s (%v), want from %d to %d", name, line, err, c.least, c.most)
		}
		if !regexp.MustCompile(`(?m)^#   ` + name + ` .*\w`).MatchString(above) {
			t.Errorf("%s has no reason above it", name)
		}
	}
}

// Systemd waits forever for a oneshot service if its unit has no timeout. Meanwhile the service's timer does not
// start it again.
func TestEveryOneshotServiceTimesOut(t *testing.T) {
	paths, err := filepath.Glob("../../examples/systemd/*.service")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v are the services, error %v", paths, err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\nType=oneshot\n")) && !regexp.MustCompile(`(?m)^TimeoutStartSec=[1-9][0-9]*$`).Match(text) {
			t.Errorf("%s is a oneshot service without TimeoutStartSec", filepath.Base(p))
		}
	}
}

// When the package is removed, first the sidecar ends. Then its reservations are deleted while the timer still
// runs. Then the timer stops. An upgrade does none of that.
func TestRemovalReleasesWhatTheSidecarReserved(t *testing.T) {
	deb := []string{"deb-systemd-invoke stop accordion.service", "timeout 60 accordion release-all", "deb-systemd-invoke stop accordion-release.timer"}
	rpm := []string{"systemctl stop accordion.service", deb[1], "systemctl disable --now accordion.service accordion-release.timer"}
	for _, c := range []struct {
		script, how string
		want        []string
	}{
		{"controller.prerm", "remove", deb},
		{"controller.prerm", "upgrade", nil},
		{"controller.preun.rpm", "0", rpm},
		{"controller.preun.rpm", "1", nil},
	} {
		text, err := os.ReadFile(filepath.Join("scripts", c.script))
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir() // a folder for fake programs, which record their calls and fail
		for _, name := range []string{"deb-systemd-invoke", "systemctl", "timeout"} {
			program := "#!/bin/sh\necho \"" + name + " $*\" >>" + folder + "/calls\nexit 1\n"
			if err := os.WriteFile(filepath.Join(folder, name), []byte(program), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		run := exec.CommandContext(t.Context(), "sh", "-c", strings.NewReplacer("/run/systemd/system", folder, "/etc/accordion/accordion.toml", folder).Replace(string(text)), c.script, c.how)
		run.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s %s: %v\n%s", c.script, c.how, err, out)
		}
		calls, _ := os.ReadFile(filepath.Join(folder, "calls")) // if nothing was called, there is no file
		if got := strings.FieldsFunc(string(calls), func(r rune) bool { return r == '\n' }); !slices.Equal(got, c.want) {
			t.Errorf("%s %s runs %q, want %q", c.script, c.how, got, c.want)
		}
	}
}
