package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

const commit = "632ee3bd1d2a1d2a1d2a1d2a1d2a1d2a1d2a1d2a"

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		described        string
		changed          bool
		wanted, packaged string
	}{
		{"", false, "v0.0.0-20261126120000-632ee3bd1d2a", "0.0.0~20261126120000.632ee3bd1d2a"},
		{"v1.2.3-0-g632ee3b", false, "v1.2.3", "1.2.3"},
		{"v1.2.3-0-g632ee3b", true, "v1.2.3+dirty", "1.2.3+dirty"},
		{"v1.2.3-7-g632ee3b", false, "v1.2.4-0.20261126120000-632ee3bd1d2a", "1.2.4~0.20261126120000.632ee3bd1d2a"},
		{"v1.3.0-rc.1-0-g632ee3b", false, "v1.3.0-rc.1", "1.3.0~rc.1"},
		{"v1.3.0-rc.1-7-g632ee3b", false, "v1.3.0-rc.1.0.20261126120000-632ee3bd1d2a", "1.3.0~rc.1.0.20261126120000.632ee3bd1d2a"},
		{"v1-7-g632ee3b", true, "v0.0.0-20261126120000-632ee3bd1d2a+dirty", "0.0.0~20261126120000.632ee3bd1d2a+dirty"},
	} {
		v := named(c.described, commit, noon, c.changed)
		if v.text != c.wanted || v.packaged() != c.packaged || !v.when.Equal(noon) {
			t.Errorf("%q, changed %v: %q, packaged %q; want %q and %q", c.described, c.changed, v.text, v.packaged(), c.wanted, c.packaged)
		}
	}
}

// For both package managers, a later commit is newer.
func TestNewerVersionsAreNewerForDpkgAndRpm(t *testing.T) {
	needs(t, "dpkg", "rpm")
	var all []string
	for _, c := range []struct {
		described string
		days      int
	}{{"", 0}, {"", 1}, {"v0.9.9-0-g0", 0}, {"v1.0.0-rc.1-0-g0", 2}, {"v1.0.0-rc.1-3-g0", 3}, {"v1.0.0-rc.2-0-g0", 4}, {"v1.0.0-0-g0", 5},
		{"v1.0.0-2-g0", 6}, {"v1.0.0-9-g0", 7}, {"v1.0.1-0-g0", 8}, {"v1.10.0-0-g0", 9}} {
		all = append(all, named(c.described, commit, noon.AddDate(0, 0, c.days), false).packaged())
	}
	for i, older := range all[:len(all)-1] {
		newer := all[i+1]
		if err := exec.Command("dpkg", "--compare-versions", older, "lt", newer).Run(); err != nil {
			t.Errorf("dpkg: %s is not before %s: %v", older, newer, err)
		}
		out, err := exec.Command("rpm", "--eval", `%{lua:print(rpm.vercmp("`+older+`","`+newer+`"))}`).Output()
		if err != nil || strings.TrimSpace(string(out)) != "-1" {
			t.Errorf("rpm: %s against %s is %q, error %v; want -1", older, newer, out, err)
		}
	}
}

func TestTheNewestNeedOfTheCLibrary(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"2.4", "2.34", -1}, {"2.2.5", "2.3", -1}, {"2.34", "2.34", 0}, {"PRIVATE", "2.2.5", -1}, {"2.34.1", "2.34", 1}} {
		if got := byNumber(c.a, c.b); got != c.want {
			t.Errorf("%s against %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestLicences(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"LICENSE", "/*\n * Permission is hereby granted, free of charge,\n * to any person obtaining", "MIT"},
		{"LICENSE", "                Apache License\n          Version 2.0, January 2004", "Apache-2.0"},
		{"LICENSE", "Mozilla Public License, version 2.0\n\n1. Definitions", "MPL-2.0"},
		{"NOTICE", "whatever it says", ""},
	} {
		if got, err := spdx(license{name: c.name, text: c.text}); err != nil || got != c.want {
			t.Errorf("%s, %q: %q, error %v; want %q", c.name, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "All rights reserved.", "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", "GNU GENERAL PUBLIC LICENSE\nVersion 3"} {
		if got, err := spdx(license{name: "COPYING", text: text}); err == nil || !strings.Contains(err.Error(), "scripts/packages/licenses.go") {
			t.Errorf("%q is %q, error %v; want one that says where to decide", text, got, err)
		}
	}
}
