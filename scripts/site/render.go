package main

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown parses guides as GitHub does, because readers also see them there, and renders them.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(writer{}, 100))),
)

// parse parses a page's text, and assigns IDs to its headings. It refuses HTML, because HTML could make requests.
// It omits HTML comments.
func (p *page) parse() error {
	p.tree = markdown.Parser().Parse(text.NewReader(p.text))
	taken := map[string]int{}
	return ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			h := head{level: n.Level, text: words(n, p.text)}
			h.id = anchor(h.text, taken)
			n.SetAttributeString("id", h.id)
			p.heads = append(p.heads, h)
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("HTML: %s", n.Segments.Value(p.text))
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 {
				return ast.WalkStop, fmt.Errorf("HTML: %s", n.Lines().Value(p.text))
			}
		}
		return ast.WalkContinue, nil
	})
}

// anchor returns the ID of a heading in GitHub's form, so that the same links work. The ID has lower-case letters,
// digits and hyphens. A repeated heading gets a number.
func anchor(heading string, taken map[string]int) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	n := taken[name]
	taken[name]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// words returns the text of a node without markup.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // this visitor has no errors
		if t, is := n.(*ast.Text); is && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// html returns the HTML of a guide.
func (p *page) html() (template.HTML, error) {
	var b bytes.Buffer
	if p.tree == nil {
		fmt.Fprintf(&b, "<h1><code>%s</code></h1>\n<pre tabindex=\"0\"><code>%s</code></pre>\n", template.HTMLEscapeString(p.file), template.HTMLEscapeString(string(p.text)))
		return template.HTML(b.String()), nil
	}
	err := markdown.Renderer().Render(&b, p.text, p.tree)
	return template.HTML(b.String()), err
}

// writer renders what goldmark does not provide and readers on a phone, with a keyboard or with a screen reader
// need. Wide content scrolls in its own frame, table headers are marked, and headings can be linked to.
type writer struct{}

func (w writer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, w.heading)
	r.Register(ast.KindCodeBlock, w.code)
	r.Register(ast.KindFencedCodeBlock, w.code)
	r.Register(tables.KindTable, w.table)
	r.Register(tables.KindTableHeader, w.tableHead)
	r.Register(tables.KindTableCell, w.cell)
}

func (writer) heading(out util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	if entering {
		fmt.Fprintf(out, "<h%d id=\"%s\">", h.Level, id)
		return ast.WalkContinue, nil
	}
	if h.Level > 1 {
		fmt.Fprintf(out, " <a class=\"here\" href=\"#%s\" aria-label=\"Link to: %s\">#</a>", id, template.HTMLEscapeString(words(h, source)))
	}
	fmt.Fprintf(out, "</h%d>\n", h.Level)
	return ast.WalkContinue, nil
}

func (writer) code(out util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(out, "<pre tabindex=\"0\"><code>%s</code></pre>\n", template.HTMLEscapeString(string(n.Lines().Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (writer) table(out util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprint(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n")
	} else {
		fmt.Fprint(out, "</tbody></table></div>\n")
	}
	return ast.WalkContinue, nil
}

// tableHead omits a header row that has no text.
func (writer) tableHead(out util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case strings.TrimSpace(words(n, source)) == "" && entering:
		fmt.Fprint(out, "<tbody>\n")
		return ast.WalkSkipChildren, nil
	case strings.TrimSpace(words(n, source)) == "":
	case entering:
		fmt.Fprint(out, "<thead><tr>\n")
	default:
		fmt.Fprint(out, "</tr></thead><tbody>\n")
	}
	return ast.WalkContinue, nil
}

// cell renders a cell of a table. Cells in the header row and at the beginning of a row become header cells.
func (writer) cell(out util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, scope := "td", ""
	if n.PreviousSibling() == nil {
		tag, scope = "th", ` scope="row"`
	}
	if n.Parent().Kind() == tables.KindTableHeader {
		tag, scope = "th", ` scope="col"`
	}
	if !entering {
		fmt.Fprintf(out, "</%s>\n", tag)
		return ast.WalkContinue, nil
	}
	class := ""
	if a := n.(*tables.TableCell).Alignment; a == tables.AlignRight || a == tables.AlignCenter {
		class = fmt.Sprintf(` class="%s"`, a)
	}
	fmt.Fprintf(out, "<%s%s%s>", tag, scope, class)
	return ast.WalkContinue, nil
}
