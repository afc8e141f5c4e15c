package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"accordion/core/policy"
)

// A report once failed because of a moldable job under a policy that does not support moldable jobs. So the test tries every policy with
// jobs of every kind.
func TestEveryPolicyHasResultsAndFiguresOfEveryKindOfJob(t *testing.T) {
	var names []string
	for _, name := range policy.Names() {
		name, _, _ = strings.Cut(name, "[")
		names = append(names, strings.NewReplacer(":ALG", ":2X+c", "+SIZING", "+load").Replace(name))
	}
	for _, kind := range []struct {
		what, drawn string
		flags       []string
	}{
		{"moldable", `, 0 of them evolving and [1-9]\d* moldable`, []string{"--moldable", "60%"}},
		{"evolving", `, [1-9]\d* of them evolving and 0 moldable`, []string{"--evolving", "60%"}},
		{"both", `, [1-9]\d* of them evolving and [1-9]\d* moldable`, []string{"--evolving", "50%", "--moldable", "50%"}},
	} {
		drawn := regexp.MustCompile(kind.drawn)
		try := func(t *testing.T, folder string, folders int, args ...string) {
			t.Helper()
			var printed bytes.Buffer
			root := accordion()
			root.SetOut(&printed)
			root.SetArgs(slices.Concat(args, kind.flags, []string{"--limit", "40", "--figures", "-o", folder, "../../examples/generated.swf"}))
			if err := root.Execute(); err != nil {
				t.Fatal(err)
			}
			if line, _, _ := strings.Cut(printed.String(), "\n"); !drawn.MatchString(line) {
				t.Errorf("%s was replayed, want %s", line, kind.drawn)
			}
			for _, pattern := range []string{"report.html", "figures/load.svg", "figures/queue.png"} {
				if found, _ := filepath.Glob(filepath.Join(folder, pattern)); len(found) != 1 {
					t.Errorf("%s: no %s", folder, pattern)
				}
			}
			if folders > 0 {
				folder = filepath.Join(folder, "*")
			}
			if found, _ := filepath.Glob(filepath.Join(folder, "jobs.csv")); len(found) != max(folders, 1) {
				t.Errorf("results of %d policies, want %d", len(found), max(folders, 1))
			}
		}
		for _, name := range names {
			t.Run(kind.what+"/"+name, func(t *testing.T) {
				t.Parallel()
				try(t, t.TempDir(), 0, "replay", "--policy", name)
			})
		}
		t.Run(kind.what+"/compare", func(t *testing.T) {
			t.Parallel()
			try(t, t.TempDir(), len(names), "compare", "--policies", strings.Join(names, ","))
		})
	}
}
