package command

import (
	"runtime/debug"
)

// version is what a package was built from, which its linker writes here; empty in any other program.
var version string

// Version says which source this program was built from: the module's version, or the commit, with + when the tree had
// changes that were not committed.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if commit == "" {
		return "development"
	}
	return commit + changed
}
