// Package charts is the JavaScript with which pages draw Gantt charts: the report of a replay puts it into its page, the
// live page serves it as modules. A page's own chart extends the class Gantt (gantt.js) and says what its rows, colors and
// words are.
package charts

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed *.js
var files embed.FS

// Modules are the names of the modules, each after those that it imports.
var Modules = []string{"draw.js", "rects.js", "view.js", "gantt.js"}

// Module returns the text of a module, without comments.
func Module(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the names are above
	}
	return Bare(string(text))
}

var (
	bare    = regexp.MustCompile(`(?m)^[ \t]*(//.*)?\n|^[ \t]+`)
	imports = regexp.MustCompile(`(?m)^import .*\n|^export `)
)

// Bare returns a script without indentation and the lines that are comments: browsers need neither. The script must have
// no text of several lines in it.
func Bare(script string) string { return bare.ReplaceAllString(script, "") }

// Script returns all modules as one script, for a page that can load none.
func Script() string {
	var all strings.Builder
	for _, name := range Modules {
		all.WriteString(imports.ReplaceAllString(Module(name), ""))
	}
	return all.String()
}
