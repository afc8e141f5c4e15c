package command

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/spf13/cobra"
)

func TestVersionIsThatOfThePackageElseOfTheModuleElseTheCommit(t *testing.T) {
	const hash = "0b5fce809c7182c85e7430b095cd17fe53bc1923"
	stamps := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: hash},
			{Key: "vcs.time", Value: "2026-11-29T19:25:19Z"}, {Key: "vcs.modified", Value: modified}}
	}
	unknown := build{commit: "unknown", date: "unknown"}
	packaged := build{version: "v0.1.0", commit: hash, date: "2026-11-28T22:00:00Z"}
	for _, c := range []struct {
		name   string
		linked build
		info   debug.BuildInfo
		want   build
		says   string
	}{
		{"a package", packaged, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, packaged, "v0.1.0"},
		{"a clone with a tag", unknown, debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: stamps("false")},
			build{"v0.1.0", hash, "2026-11-29T19:25:19Z"}, "v0.1.0"},
		{"a clone", unknown, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: stamps("false")},
			build{"", hash, "2026-11-29T19:25:19Z"}, "0b5fce809c71"},
		{"a clone with changes", unknown, debug.BuildInfo{Settings: stamps("true")},
			build{"", hash + "+", "2026-11-29T19:25:19Z"}, "0b5fce809c71+"},
		{"a folder without git", unknown, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, unknown, "development"},
	} {
		got := c.linked
		if got.add(&c.info); got != c.want || got.name() != c.says {
			t.Errorf("%s: %+v, named %q; want %+v, named %q", c.name, got, got.name(), c.want, c.says)
		}
	}
}

func TestVersionAsAFlagAndAsACommandHaveVersionCommitDateAndGo(t *testing.T) {
	version, commit, date = "v0.1.0", "0b5fce8", "2026-11-28T22:00:00Z"
	t.Cleanup(func() { version, commit, date = "", "", "" })
	more := "commit    0b5fce8\ndate      2026-11-28T22:00:00Z\nbuilt by  " + runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for argument, first := range map[string]string{"--version": "accordion version v0.1.0\n", "version": "accordion v0.1.0\n"} {
		root := &cobra.Command{Use: "accordion"}
		AddVersion(root)
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs([]string{argument})
		if err := root.Execute(); err != nil || out.String() != first+more {
			t.Errorf("accordion %s: error %v\n%s\nwant\n%s", argument, err, out.String(), first+more)
		}
	}
}
