package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// names lists the packages. Each has a file in nfpm/.
var names = []string{"accordion", "accordion-controller", "accordion-slurm", "accordion-oar"}

// options holds the options of a build.
type options struct {
	root    string // root of the source
	out     string // folder for the packages
	cc      string // the C compiler; "" means that of go env CC
	program string // for tests: a program that was built before; "" means that the program is built
	version version
}

// build builds all packages and returns their file names.
func build(ctx context.Context, o options) ([]string, error) {
	work, err := os.MkdirTemp("", "accordion-packages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	s := stage{options: o, work: work}
	for _, part := range []struct {
		name string
		make func(context.Context) error
	}{
		{"the program (minutes, the first time)", s.putProgram}, {"manual pages", s.putManuals}, {"completions", s.putCompletions}, {"configuration", s.putConfiguration},
		{"examples", s.putExamples}, {"guides", s.putGuides}, {"licenses", s.putLegal}, {"changes", s.putChanges},
	} {
		fmt.Fprintln(os.Stderr, "package: build", part.name)
		if err := part.make(ctx); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		for _, kind := range []string{"deb", "rpm"} {
			fmt.Fprintf(os.Stderr, "package: pack %s as %s\n", name, kind)
			file, err := s.pack(ctx, name, kind)
			if err != nil {
				return files, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// stage is a folder that holds everything that goes into packages.
type stage struct {
	options
	work string
}

func (s stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.work}, parts...)...)
}

// put writes a file of the stage. If the file's name indicates compression, put compresses the text, always to the
// same bytes.
func (s stage) put(text []byte, parts ...string) error {
	path := s.path(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if strings.HasSuffix(path, ".gz") {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(text); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		text = out.Bytes()
	}
	return os.WriteFile(path, text, 0o644)
}

func (s stage) putProgram(ctx context.Context) error {
	if s.program == "" {
		return compile(ctx, s.options, s.path("accordion"))
	}
	text, err := os.ReadFile(s.program)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path("accordion"), text, 0o755)
}

// says runs the program and returns its output.
func (s stage) says(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, s.path("accordion"), args...)
	c.Env = append(os.Environ(), s.epoch())
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("accordion %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// epoch returns the environment variable for the build time. With it, builds of one commit are identical.
func (s stage) epoch() string {
	return "SOURCE_DATE_EPOCH=" + strconv.FormatInt(s.version.when.Unix(), 10)
}

func (s stage) putManuals(ctx context.Context) error {
	if _, err := s.says(ctx, "man", s.path("pages")); err != nil {
		return err
	}
	pages, err := filepath.Glob(s.path("pages", "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := s.put(text, "man", filepath.Base(page)+".gz"); err != nil {
			return err
		}
	}
	return nil
}

func (s stage) putCompletions(ctx context.Context) error {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, err := s.says(ctx, "completion", shell)
		if err != nil {
			return err
		}
		if err := s.put(text, "completion", shell); err != nil {
			return err
		}
	}
	return nil
}

func (s stage) putConfiguration(ctx context.Context) error {
	for name, args := range map[string][]string{"accordion.toml": {"config", "example"}, "several.toml": {"config", "example", "--several"}} {
		text, err := s.says(ctx, args...)
		if err != nil {
			return err
		}
		if err := s.put(text, name); err != nil {
			return err
		}
	}
	return nil
}

// putExamples copies the examples, without their tests and the files that only the tests need.
func (s stage) putExamples(context.Context) error {
	from := filepath.Join(s.root, "examples")
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "__pycache__":
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if err := s.put(text, "examples", name); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return os.Chmod(s.path("examples", name), mode)
	})
}

// putGuides builds the site of the guides.
func (s stage) putGuides(ctx context.Context) error {
	c := exec.CommandContext(ctx, "go", "run", "-C", "scripts/site", ".", s.path("html"))
	c.Dir = s.root
	return told(c)
}

// putLegal writes the bill of materials and the licenses.
func (s stage) putLegal(ctx context.Context) error {
	modules, err := linked(ctx, s.root, s.path("accordion"))
	if err != nil {
		return err
	}
	bill, err := billOf(s.version, s.path("accordion"), modules)
	if err != nil {
		return err
	}
	if err := s.put(bill, "accordion.cdx.json"); err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(s.root, "LICENSE"))
	if err != nil {
		return err
	}
	where, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("the license of Go: go env GOROOT: %w", err)
	}
	goroot := strings.TrimSpace(string(where))
	golang, err := licensesBeside(goroot, goroot)
	if err != nil {
		return fmt.Errorf("the license of Go: %w", err)
	}
	modules = append([]module{{path: "the Go standard library", licenses: golang}}, modules...)
	if err := s.put([]byte(ownCopyright+copyright(modules)), "copyright"); err != nil {
		return err
	}
	if err := s.put([]byte(ownCopyright), "copyright-own"); err != nil {
		return err
	}
	return s.put(own, "LICENSE")
}

// ownCopyright is the copyright of the project's own files.
const ownCopyright = `Accordion, jobs that grow and shrink on ordinary Slurm and OAR clusters.

Copyright 2026 the authors of Accordion
License: Apache-2.0

  Licensed under the Apache License, Version 2.0; you may not use it except in compliance with that License. Unless required by
  applicable law or agreed to in writing, it is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either
  express or implied. On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
`

// copyright returns the copyright file of the modules that are linked into the program.
func copyright(modules []module) string {
	var b strings.Builder
	b.WriteString(`
The program has in it what follows, as it is: the source of each is what the Go module proxy serves for its name and version (go mod download
NAME@VERSION), also that of what is under the Mozilla Public License, version 2.0. SQLite, in github.com/mattn/go-sqlite3, is in the public
domain. The FreeType font engine is used under the FreeType License. The same list for programs is accordion.cdx.json (CycloneDX).
`)
	for _, m := range modules {
		for _, l := range m.licenses {
			fmt.Fprintf(&b, "\n%s\n%s %s\n%s", strings.Repeat("-", 78), m.path, m.version, l.name)
			if l.id != "" {
				fmt.Fprintf(&b, " (%s)", l.id)
			}
			text := strings.TrimSpace(l.text)
			if l.id == "Apache-2.0" { // all modules with this license have the same text
				text = "The Apache License, Version 2.0, as above."
			}
			fmt.Fprintf(&b, "\n\n%s\n", text)
		}
	}
	return b.String()
}

// putChanges writes Debian's changelog, which has one entry, and the project's own changelog.
func (s stage) putChanges(context.Context) error {
	text, err := os.ReadFile(filepath.Join(s.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if err := s.put(text, "changes.gz"); err != nil {
		return err
	}
	entry := fmt.Sprintf("accordion (%s-1) unstable; urgency=medium\n\n  * Built from %s.\n  * changelog.gz of the package accordion tells what is new.\n\n -- %s  %s\n",
		s.version.packaged(), s.version.text, maintainer(), s.version.when.Format(time.RFC1123Z))
	return s.put([]byte(entry), "changelog.Debian.gz")
}

// maintainer returns the maintainer of the packages, as "A Name <address>". $MAINTAINER overrides the default.
func maintainer() string {
	return cmp.Or(os.Getenv("MAINTAINER"), "Accordion <accordion@localhost.localdomain>")
}

// pack builds one package and returns its file name.
func (s stage) pack(ctx context.Context, name, kind string) (string, error) {
	needs, err := libc(s.path("accordion"))
	if err != nil {
		return "", err
	}
	config, err := s.configure(name, kind)
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	c := exec.CommandContext(ctx, "go", "tool", "-modfile=scripts/packages/nfpm.mod", "nfpm", "package",
		"--config", config, "--packager", kind, "--target", s.out)
	c.Dir, c.Stdout, c.Stderr = s.root, &said, &said
	c.Env = append(os.Environ(), s.epoch(), "STAGE="+s.work, "VERSION="+s.version.packaged(), "LIBC="+needs, "ARCH="+runtime.GOARCH, "MAINTAINER="+maintainer())
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("nfpm, %s of %s: %w\n%s", kind, name, err, said.Bytes())
	}
	_, file, is := strings.Cut(strings.TrimSpace(said.String()), "created package: ")
	if !is {
		return "", fmt.Errorf("nfpm, %s of %s, does not say which file it made: %s", kind, name, said.Bytes())
	}
	return strings.TrimSpace(file), nil
}

// configure returns nfpm's configuration for a package. Debian's packages have no field for the license.
func (s stage) configure(name, kind string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.root, "scripts", "packages", "nfpm", name+".yaml"))
	if err != nil {
		return "", err
	}
	if kind == "deb" {
		text = licenseField.ReplaceAll(text, nil)
	}
	return s.path(name + "." + kind + ".yaml"), s.put(text, name+"."+kind+".yaml")
}

var licenseField = regexp.MustCompile(`(?m)^license: .*\n`)
