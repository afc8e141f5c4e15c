package main

import (
	"bufio"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// module is a module that is linked into the program.
type module struct {
	path, version string
	sum           string // hash from go.sum, h1:…
	dir           string // folder in the module cache
	licenses      []license
}

// license is a file of a module with terms of use.
type license struct {
	name string // path in the module's folder
	text string
	id   string // SPDX ID; "" for a notice that belongs to another license
}

// linked returns the modules from which a program was built, sorted, with their licenses. An unknown license is an
// error.
func linked(ctx context.Context, root, program string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("what is linked into %s: %w", program, err)
	}
	folders, err := packageFolders(ctx, root)
	if err != nil {
		return nil, err
	}
	var all []module
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		m := module{path: d.Path, version: d.Version, sum: d.Sum, dir: folders[d.Path].dir}
		if m.licenses, err = licensesIn(folders[d.Path]); err != nil {
			return nil, fmt.Errorf("the license of %s: %w", d.Path, err)
		}
		if !slices.ContainsFunc(m.licenses, func(l license) bool { return l.id != "" }) {
			return nil, fmt.Errorf("%s %s has no license", d.Path, d.Version)
		}
		all = append(all, m)
	}
	return all, nil
}

// moduleFolders holds the folders of a module and of its linked packages.
type moduleFolders struct {
	dir      string
	packages []string
}

// packageFolders returns the folders of the program's packages, by module path.
func packageFolders(ctx context.Context, root string) (map[string]moduleFolders, error) {
	c := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", "./cmd/accordion")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("the program's packages: go list: %w", err)
	}
	all := map[string]moduleFolders{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct{ Path, Dir string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("the program's packages: %w", err)
		}
		if p.Module != nil {
			f := all[p.Module.Path]
			f.dir, f.packages = p.Module.Dir, append(f.packages, p.Dir)
			all[p.Module.Path] = f
		}
	}
}

// licenseFiles matches the names of license files.
var licenseFiles = regexp.MustCompile(`(?i)^((un)?licen[cs]es?|copying|notice|patents)([-.].*)?$`)

// licensesIn reads the licenses in the folders of the linked packages, and in all folders above them up to the
// module's own.
func licensesIn(f moduleFolders) ([]license, error) {
	if f.dir == "" {
		return nil, errors.New("go list does not know it: the program was built from another tree")
	}
	seen := map[string]bool{}
	var all []license
	for _, dir := range f.packages {
		for ; !seen[dir] && len(dir) >= len(f.dir); dir = filepath.Dir(dir) {
			seen[dir] = true
			some, err := licensesBeside(f.dir, dir)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	slices.SortFunc(all, func(a, b license) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func licensesBeside(module, dir string) ([]license, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []license
	for _, e := range entries {
		if !licenseFiles.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		files := []string{e.Name()}
		if e.IsDir() { // freetype has its two alternative licenses in a folder
			inside, err := os.ReadDir(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			files = nil
			for _, f := range inside {
				files = append(files, filepath.Join(e.Name(), f.Name()))
			}
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			inModule, err := filepath.Rel(module, filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			l := license{name: inModule, text: utf8Of(text)}
			if l.id, err = spdx(l); err != nil {
				return nil, err
			}
			if l.id == notTaken {
				continue
			}
			all = append(all, l)
		}
	}
	return all, nil
}

// utf8Of returns the text in UTF-8. The text may be in ISO 8859-1, as that of the FreeType License.
func utf8Of(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	var b strings.Builder
	for _, letter := range text {
		b.WriteRune(rune(letter))
	}
	return b.String()
}

// known lists the licenses that may be linked, with words that the text of each contains. All of them permit
// distribution of the program. The Mozilla Public License requires a pointer to the source, which is in the
// copyright file.
var known = []struct {
	id, words string
	all       bool // the whole file is this license, although it mentions others
}{
	{"FTL OR GPL-2.0-or-later", "your choice of exactly one of the following two licenses", true},
	{"FTL", "The FreeType Project LICENSE", true},
	{notTaken, "GNU GENERAL PUBLIC LICENSE Version 2", true}, // the license that freetype offers as an alternative
	{"MPL-2.0", "Mozilla Public License Version 2.0", true},
	{"OFL-1.1", "SIL OPEN FONT LICENSE", true},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0", true},
	{"Apache-2.0", "Apache License Version 2.0", false},
	{"MIT", "Permission is hereby granted, free of charge, to any person", false},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software", false},
	{"BSD-3-Clause", "may be used to endorse or promote products", false},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms", false},
}

// notTaken is the ID of a license that is not used, because its module also offers another.
const notTaken = "not taken"

// notices matches the names of files that accompany a license.
var notices = regexp.MustCompile(`(?i)(^|/)(notice|patents)|(^|/)licen[cs]e-link`)

// spdx returns the IDs of the licenses in a file. An unknown text is an error, so that a maintainer must decide
// about it.
func spdx(l license) (string, error) {
	if notices.MatchString(l.name) {
		return "", nil
	}
	text := plain(l.text)
	var ids []string
	for _, k := range known {
		switch {
		case !strings.Contains(text, strings.ToLower(k.words)):
		case k.all:
			return k.id, nil
		case k.id == "BSD-2-Clause" && slices.Contains(ids, "BSD-3-Clause"): // the 3-clause license has the same words and more
		default:
			ids = append(ids, k.id)
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%s is none of those known (%q…): decide about it in scripts/packages/licenses.go", l.name, text[:min(len(text), 80)])
	}
	return strings.Join(ids, " AND "), nil
}

// plain returns a text as one line in lower case, without the comment marks at the beginnings of lines.
func plain(text string) string {
	var words []string
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		words = append(words, strings.Fields(strings.TrimLeft(s.Text(), " \t*#/>"))...)
	}
	return strings.ToLower(strings.ReplaceAll(strings.Join(words, " "), ", version", " version"))
}
