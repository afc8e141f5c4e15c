package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/slurm/limits"
	"accordion/slurm/output"
	"accordion/slurm/setup"
)

// Setup repairs and removes what it has written. It leaves files that others have written or changed unchanged, to
// the byte.
func TestOnlyItsOwnFilesAreWrittenAndRemoved(t *testing.T) {
	folder := t.TempDir()
	config, site, plugin := filepath.Join(folder, "accordion", "accordion.toml"), filepath.Join(folder, "accordion.lua"), filepath.Join(folder, "job_submit.lua")
	all := func(version string) []setup.File {
		return []setup.File{{Path: config, Text: "config " + version}, {Path: site, Text: "site " + version}, {Path: plugin, Text: "plugin " + version}}
	}
	write(t, plugin, "the site's own")
	step := func(dry bool, version string, want ...string) {
		t.Helper()
		var said bytes.Buffer
		mine, err := remembered(config)
		if err == nil && version == "" {
			err = mine.remove(&said, dry)
		} else if err == nil {
			err = mine.put(&said, all(version), dry)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		for i, w := range want {
			if len(lines) != len(want) || !strings.HasPrefix(lines[i], w) {
				t.Fatalf("it says\n%s\nwant lines that begin with %q", said.String(), want)
			}
		}
	}
	step(true, "1", "would be made  "+config, "would be made  "+site, "left    "+plugin)
	if _, err := os.Stat(filepath.Dir(config)); err == nil {
		t.Fatal("a dry run made the folder")
	}
	step(false, "1", "made    "+config, "made    "+site, "left    "+plugin)
	step(false, "1", "there   "+config, "there   "+site, "left    "+plugin)
	step(true, "2", "would be mended  "+config, "would be mended  "+site, "left    "+plugin)
	step(false, "2", "mended  "+config, "mended  "+site, "left    "+plugin)
	write(t, site, "site 2, and a line of the administrator's")
	step(false, "3", "mended  "+config, "left    "+site, "left    "+plugin)
	step(true, "", "left    "+site, "would be removed  "+config)
	step(false, "", "left    "+site, "removed "+config)
	for path, want := range map[string]string{site: "site 2, and a line of the administrator's", plugin: "the site's own"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s is %q, error %v; want %q", path, text, err, want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(config)); err != nil || len(left) > 0 {
		t.Errorf("of its own %v is left, error %v", left, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAnswers(t *testing.T) {
	var said bytes.Buffer
	a := newAsker(strings.NewReader("\n second \nlast"), &said)
	for _, want := range []string{"usual", "second", "last"} {
		if got, err := a.ask("Which?", "usual"); err != nil || got != want {
			t.Errorf("the answer is %q, error %v; want %q", got, err, want)
		}
	}
	if _, err := a.ask("Which?", "usual"); err == nil || !strings.Contains(err.Error(), "Which?") {
		t.Errorf("the input is over, and the error is %v", err)
	}
	if !strings.HasPrefix(said.String(), "Which? [usual] ") {
		t.Errorf("it asks %q", said.String())
	}
	nobody, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	if got, err := newAsker(nobody, &said).ask("Which?", "usual"); err != nil || got != "usual" {
		t.Errorf("nobody is there, and the answer is %q, error %v", got, err)
	}
}

func TestWhatTheSidecarWroteForThePluginIsRemovedToo(t *testing.T) {
	written := limits.NodesLua(output.Inventory{}, []string{"main"}, false)
	for name, text := range map[string]string{"of this release": limits.Dated(written, time.Unix(1_800_000_000, 0)), "of an earlier one": written} {
		folder := t.TempDir()
		ours, others, none := filepath.Join(folder, "accordion_nodes.lua"), filepath.Join(folder, "accordion_limits.lua"), filepath.Join(folder, "none")
		write(t, ours, text)
		write(t, others, "return {}\n")
		var said bytes.Buffer
		if err := removeGenerated(&said, []string{ours, others, none}); err != nil || said.String() != "removed "+ours+"\n" {
			t.Errorf("%s: it says %q, error %v", name, said.String(), err)
		}
		left, err := os.ReadDir(folder)
		if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(others) {
			t.Errorf("%s: there is left %v, error %v", name, left, err)
		}
	}
}
