package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The builds of packages set these variables with linker flags. Other builds leave them empty.
var version, commit, date string

// build describes how this program was built.
type build struct{ version, commit, date string }

// read returns what the linker and the Go tool recorded in this program.
func read() build {
	b := build{version: version, commit: cmp.Or(commit, "unknown"), date: cmp.Or(date, "unknown")}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.add(info)
	}
	return b
}

// add adds what the Go tool recorded.
func (b *build) add(info *debug.BuildInfo) {
	if v := info.Main.Version; b.version == "" && v != "(devel)" {
		b.version = v
	}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.commit = s.Value
		case s.Key == "vcs.time":
			b.date = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	b.commit += changed
}

// Version returns the version of this program, from its package or its Go module. If neither has a version, it returns
// the commit, with "+" if the tree had uncommitted changes.
func Version() string { return read().name() }

func (b build) name() string {
	switch {
	case b.version != "":
		return b.version
	case b.commit == "unknown":
		return "development"
	case len(b.commit) > 12:
		return b.commit[:12] + b.commit[min(40, len(b.commit)):]
	}
	return b.commit
}

// text returns the lines below the version.
func (b build) text() string {
	return fmt.Sprintf("commit    %s\ndate      %s\nbuilt by  %s for %s/%s\n", b.commit, b.date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// AddVersion gives a program the flag --version and the command "version". Both print the version,
// the commit, its date, and the Go release that built the program.
func AddVersion(root *cobra.Command) {
	b := read()
	root.Version = b.name()
	root.SetVersionTemplate("{{.Name}} version {{.Version}}\n" + b.text())
	root.AddCommand(&cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Args:  NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n%s", root.Name(), b.name(), b.text())
			return err
		},
	})
}
