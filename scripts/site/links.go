package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// resolve rewrites the links of a page for the site, and embeds pictures. Its error lists all broken links.
func (s *site) resolve(p *page) error {
	var wrong []error
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, err := s.follow(p, string(n.Destination))
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s links to %s: %w", p.file, n.Destination, err))
			}
			n.Destination = []byte(to)
		case *ast.Image:
			picture, err := s.picture(p, string(n.Destination))
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s shows %s: %w", p.file, n.Destination, err))
			}
			n.Destination = []byte(picture)
		}
		return ast.WalkContinue, nil
	})
	return errors.Join(append(wrong, err)...)
}

// follow returns the target of a page's link in the site.
func (s *site) follow(p *page, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", err
	}
	if u.Scheme == "https" {
		return link, nil
	}
	if u.Scheme != "" || u.Host != "" {
		return "", errors.New("only https leads out of the site")
	}
	target := p
	if u.Path != "" {
		if target, err = s.shown(path.Join(path.Dir(p.file), u.Path)); err != nil {
			return "", err
		}
	}
	if u.Fragment == "" {
		return target.name, nil
	}
	if !slices.ContainsFunc(target.heads, func(h head) bool { return h.id == u.Fragment }) {
		return "", fmt.Errorf("%s has no heading #%s", target.file, u.Fragment)
	}
	if target == p {
		return "#" + u.Fragment, nil
	}
	return target.name + "#" + u.Fragment, nil
}

// shown returns the page of a file. The page is a guide, the file's text, or a folder's list of files.
func (s *site) shown(file string) (*page, error) {
	if p := s.pages[file]; p != nil {
		return p, nil
	}
	if strings.HasSuffix(file, ".md") {
		return nil, fmt.Errorf("it is a guide that %s does not name", orderFile)
	}
	info, err := fs.Stat(s.source, file)
	if err != nil {
		return nil, err
	}
	p := &page{file: file, name: nameOf(file), title: file}
	if err := s.add(p); err != nil {
		return nil, err
	}
	if info.IsDir() {
		return p, s.folder(p)
	}
	if p.text, err = fs.ReadFile(s.source, file); err != nil {
		return nil, err
	}
	if !utf8.Valid(p.text) {
		return nil, errors.New("it is no text")
	}
	return p, nil
}

// folder makes the page of a folder. The page is a list of links to the folder's files.
func (s *site) folder(p *page) error {
	files, err := fs.ReadDir(s.source, p.file)
	if err != nil {
		return err
	}
	var list strings.Builder
	fmt.Fprintf(&list, "# %s\n\n", p.file)
	for _, f := range files {
		if f.Type().IsRegular() && !strings.HasPrefix(f.Name(), ".") {
			fmt.Fprintf(&list, "- [%s](%s)\n", f.Name(), path.Join(path.Base(p.file), f.Name()))
		}
	}
	p.text = []byte(list.String())
	return p.parse()
}

// picture returns a picture as a data URL, so that a page is one file and reads nothing else.
func (s *site) picture(p *page, file string) (string, error) {
	text, err := fs.ReadFile(s.source, path.Join(path.Dir(p.file), file))
	if err != nil {
		return "", err
	}
	kind := http.DetectContentType(text)
	if path.Ext(file) == ".svg" { // this type is not detected; as a picture it runs no scripts
		kind = "image/svg+xml"
	}
	if !strings.HasPrefix(kind, "image/") {
		return "", fmt.Errorf("it is %s, and no picture", kind)
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(text), nil
}
