// Command packages builds the packages that a site installs. scripts/package documents its arguments.
//
//	version.go   the version of a source tree, for the program, for Debian and for RPM
//	build.go     the packages: the program, files that the program generates, a run of nfpm for each package
//	program.go   the program, and the C library that it needs
//	licenses.go  the linked modules and their licenses
//	sbom.go      the bill of materials of these modules, in CycloneDX format
//	nfpm/        the content of each package; scripts/ runs at installation and removal; nfpm.mod has the version of nfpm
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience limits a build. The first build on a slow machine compiles the program, SQLite and nfpm.
const patience = time.Hour

func main() {
	cc := flag.String("cc", "", "the C compiler `COMMAND` (default: as go env CC)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	if err := run(ctx, *cc, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cc string, args []string) error {
	if len(args) != 1 {
		return errors.New("give one FOLDER for the packages")
	}
	syscall.Umask(0o022) // so that the packages keep the modes of the files
	v, err := versionOf(ctx, ".")
	if err != nil {
		return err
	}
	files, err := build(ctx, options{root: ".", out: args[0], cc: cc, version: v})
	for _, f := range files {
		fmt.Println(f)
	}
	return err
}
