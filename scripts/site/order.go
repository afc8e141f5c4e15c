package main

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// orderFile is the file that defines the order. It has a heading for each part, followed by a list of links.
const orderFile = "docs/README.md"

// page is a guide, or the text of a file to which a guide links.
type page struct {
	file  string // slash-separated, relative to the root of the source
	name  string // file name in the site
	title string // title in the contents
	part  string // part of the contents; "" if the page is not in the contents
	text  []byte
	tree  ast.Node // nil if the file is not a guide; the page then shows its text
	heads []head
}

// head is a heading of a page.
type head struct {
	level    int
	id, text string
}

// site is the data from which pages are made.
type site struct {
	source fs.FS
	order  []*page          // guides, in reading order
	pages  map[string]*page // all pages, by file
}

// nameOf returns a page's file name in the site. All files are in one folder, so a link is only a name.
func nameOf(file string) string {
	switch file {
	case "README.md":
		return "index.html"
	case orderFile:
		return "contents.html"
	case "SECURITY.md": // the name of docs/security.md would differ only in case
		return "security-report.html"
	}
	file = strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md")
	file = strings.TrimSuffix(file, "/README")
	return strings.ToLower(strings.ReplaceAll(file, "/", "-")) + ".html"
}

// readOrder reads the contents and all guides in them.
func readOrder(source fs.FS) (*site, error) {
	s := &site{source: source, pages: map[string]*page{}}
	contents, err := s.guide(orderFile, "Contents", "")
	if err != nil {
		return nil, err
	}
	part := ""
	for n := contents.tree.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				part = words(n, contents.text)
			}
		case *ast.List:
			if err := s.readPart(contents, part, n); err != nil {
				return nil, err
			}
		}
	}
	if len(s.order) == 0 {
		return nil, fmt.Errorf("%s names no page", orderFile)
	}
	return s, nil
}

// readPart reads the guides of a list. Each item begins with the link to a guide.
func (s *site) readPart(contents *page, part string, list *ast.List) error {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		link, is := item.FirstChild().FirstChild().(*ast.Link)
		if !is || part == "" {
			return fmt.Errorf("%s: an item that does not begin with a link, or stands in no part: %q", orderFile, words(item, contents.text))
		}
		file := path.Join(path.Dir(orderFile), string(link.Destination))
		if s.pages[file] != nil {
			return fmt.Errorf("%s names %s twice", orderFile, file)
		}
		p, err := s.guide(file, words(link, contents.text), part)
		if err != nil {
			return err
		}
		s.order = append(s.order, p)
	}
	return nil
}

// guide reads a guide.
func (s *site) guide(file, title, part string) (*page, error) {
	text, err := fs.ReadFile(s.source, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", orderFile, err)
	}
	p := &page{file: file, name: nameOf(file), title: title, part: part, text: text}
	if err := p.parse(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, s.add(p)
}

// add adds a page. It returns an error if another page has the same name, because one would overwrite the other.
func (s *site) add(p *page) error {
	for _, other := range s.pages {
		if other.name == p.name {
			return fmt.Errorf("%s and %s would both be %s", p.file, other.file, p.name)
		}
	}
	s.pages[p.file] = p
	return nil
}
