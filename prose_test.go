package accordion_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// wrongWords are words that comments of this project do not use, with what to write instead.
var wrongWords = map[string]string{
	"anew": "again", "beside": "next to", "nobody": "no job, no user", "somebody": "a user",
	"everybody": "all users", "whoever": "the user who", "manieth": "the index of", "heed": "follow",
	"vow": "promise", "oath": "check", "lest": "so that … not", "bury": "remove", "for ever": "forever",
	"all the same": "anyway", "is told": "receives", "are told": "receive", "is over": "has ended",
	"is had": "exists", "stands there": "is", "lies in": "is in", "in vain": "without effect",
	"may well": "may",
}

// noVerb matches a function comment that begins with "is", "are" or "says" instead of a verb for what the function does.
var noVerb = regexp.MustCompile(`^\w+ (is|are|says) `)

// TestCommentsAreInPlainWords checks the comments of all Go files for wrongWords. Comments of functions must begin
// with a verb such as returns, reports, parses or waits. A declared name at the start of a comment, quotations, and
// the output of an example may have any words.
func TestCommentsAreInPlainWords(t *testing.T) {
	var words []string
	for w := range wrongWords {
		words = append(words, strings.ReplaceAll(w, " ", `\s+`))
	}
	wrong := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	quoted := regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" || name == "prose_test.go" {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := declared(file)
		for _, group := range file.Comments {
			text := group.Text()
			if strings.HasPrefix(text, "Output:") {
				continue
			}
			if first, rest, _ := strings.Cut(text, " "); names[strings.TrimRight(first, ",:")] {
				text = rest
			}
			text = quoted.ReplaceAllString(text, "")
			if w := wrong.FindString(text); w != "" {
				plain := wrongWords[strings.ToLower(strings.Join(strings.Fields(w), " "))]
				t.Errorf("%s: the comment says %q; write %q", files.Position(group.Pos()), w, plain)
			}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && noVerb.MatchString(f.Doc.Text()) {
				first, _, _ := strings.Cut(f.Doc.Text(), "\n")
				t.Errorf("%s: the comment begins %q; say what the function does: returns, reports whether, parses, writes, waits",
					files.Position(f.Pos()), first)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// declared returns the names of a file's functions, types, variables, constants and fields.
func declared(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		var found []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			found = []*ast.Ident{n.Name}
		case *ast.TypeSpec:
			found = []*ast.Ident{n.Name}
		case *ast.ValueSpec:
			found = n.Names
		case *ast.Field:
			found = n.Names
		}
		for _, name := range found {
			names[name.Name] = true
		}
		return true
	})
	return names
}
