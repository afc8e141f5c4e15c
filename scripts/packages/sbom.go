package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOf returns the bill of materials of the program in CycloneDX format. It has no serial number, so that the
// same program always has the same bill.
func billOf(v version, program string, modules []module) ([]byte, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	self := component("accordion", v.text, "pkg:generic/accordion@"+v.packaged(), []string{"Apache-2.0"})
	self.Type = cdx.ComponentTypeApplication
	self.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	golang := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cdx.Component{component("std", golang, "pkg:golang/std@"+golang, []string{"BSD-3-Clause"})}
	for _, m := range modules {
		var ids []string
		for _, l := range m.licenses {
			if l.id != "" {
				ids = append(ids, l.id)
			}
		}
		c := component(m.path, m.version, "pkg:golang/"+m.path+"@"+m.version+"?type=module&goos="+runtime.GOOS+"&goarch="+runtime.GOARCH, ids)
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.sum}}
		parts = append(parts, c)
		if m.path == sqliteModule {
			release, err := sqliteIn(m.dir)
			if err != nil {
				return nil, err
			}
			parts = append(parts, component("sqlite", release, "pkg:generic/sqlite@"+release, []string{"blessing"}))
		}
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: v.when.Format(time.RFC3339), Component: &self}
	bom.Components = &parts
	var refs []string
	for _, p := range parts {
		refs = append(refs, p.BOMRef)
	}
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_5); err != nil {
		return nil, fmt.Errorf("the bill of materials: %w", err)
	}
	return out.Bytes(), nil
}

// component returns a part of the program. `licenses` are SPDX expressions, and all of them apply.
func component(name, release, purl string, licenses []string) cdx.Component {
	c := cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: release, PackageURL: purl}
	var parts []string
	for _, expression := range licenses {
		for _, id := range strings.Split(expression, " AND ") {
			if strings.Contains(id, " OR ") {
				id = "(" + id + ")"
			}
			if !slices.Contains(parts, id) {
				parts = append(parts, id)
			}
		}
	}
	c.Licenses = &cdx.Licenses{{Expression: strings.Join(parts, " AND ")}}
	return c
}

// sqliteModule contains SQLite's own source, which is in no module list.
const sqliteModule = "github.com/mattn/go-sqlite3"

var sqliteRelease = regexp.MustCompile(`#define SQLITE_VERSION\s+"([0-9.]+)"`)

func sqliteIn(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "sqlite3-binding.h"))
	if err != nil {
		return "", fmt.Errorf("the version of SQLite: %w", err)
	}
	m := sqliteRelease.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s/sqlite3-binding.h does not say SQLITE_VERSION", dir)
	}
	return string(m[1]), nil
}
