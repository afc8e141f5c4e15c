package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io/fs"
	"slices"
)

var (
	//go:embed page.css
	style string
	//go:embed page.html
	frameText string

	frame = template.Must(template.New("page").Parse(frameText))
)

// framed holds the data for the frame of a page: header, contents and text.
type framed struct {
	Title      string
	Policy     string // the page's content security policy
	Style      template.CSS
	Body       template.HTML
	Parts      []part
	Prev, Next *entry
}

// part is a part of the contents.
type part struct {
	Name  string
	Pages []entry
}

// entry is a page in the contents. For the current page it also has the headings.
type entry struct {
	Name, Title string
	Here        bool
	Heads       []entry
}

// build returns all pages of a source, by name.
func build(source fs.FS) (map[string][]byte, error) {
	s, err := readOrder(source)
	if err != nil {
		return nil, err
	}
	var wrong []error
	resolved := map[string]bool{}
	for len(resolved) < len(s.pages) { // links may add pages for files of the source
		for _, file := range slices.Sorted(func(yield func(string) bool) {
			for f := range s.pages {
				if !yield(f) {
					return
				}
			}
		}) {
			if p := s.pages[file]; !resolved[file] {
				resolved[file] = true
				if p.tree != nil {
					wrong = append(wrong, s.resolve(p))
				}
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for _, p := range s.pages {
		if made[p.name], err = s.make(p); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// make puts a page into its frame.
func (s *site) make(p *page) ([]byte, error) {
	body, err := p.html()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	f := framed{
		Title: p.title + " · Accordion", Style: template.CSS(style), Body: body, Parts: s.contents(p),
		Policy: "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
	}
	if p == s.order[0] {
		f.Title = "Accordion"
	}
	if i := slices.Index(s.order, p); i >= 0 {
		if i > 0 {
			f.Prev = &entry{Name: s.order[i-1].name, Title: s.order[i-1].title}
		}
		if i+1 < len(s.order) {
			f.Next = &entry{Name: s.order[i+1].name, Title: s.order[i+1].title}
		}
	}
	var b bytes.Buffer
	err = frame.Execute(&b, f)
	return b.Bytes(), err
}

// contents returns the contents of the site, as shown on a page.
func (s *site) contents(here *page) (parts []part) {
	for _, p := range s.order {
		if len(parts) == 0 || parts[len(parts)-1].Name != p.part {
			parts = append(parts, part{Name: p.part})
		}
		e := entry{Name: p.name, Title: p.title, Here: p == here}
		if e.Here {
			for _, h := range p.heads {
				if h.level == 2 {
					e.Heads = append(e.Heads, entry{Name: "#" + h.id, Title: h.text})
				}
			}
		}
		last := &parts[len(parts)-1]
		last.Pages = append(last.Pages, e)
	}
	return parts
}
