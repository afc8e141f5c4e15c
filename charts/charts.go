// Package charts is the JavaScript with which pages draw Gantt charts: the report of a replay puts it into its page, the
// live page serves it as a module. A page's own chart extends the class Gantt (gantt.js) and says what its rows, colors and
// words are.
package charts

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed *.js
var files embed.FS

var (
	bare    = regexp.MustCompile(`(?m)^[ \t]*(//.*)?\n|^[ \t]+|[ \t]+// .*$`)
	imports = regexp.MustCompile(`(?m)^import .*\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// Bare returns a script without indentation and comments: browsers need neither. The script must have no text of several
// lines in it, and none that looks like a comment.
func Bare(script string) string { return bare.ReplaceAllString(script, "") }

// Module returns everything as one module, which imports none.
func Module() string {
	var all strings.Builder
	for _, name := range []string{"draw.js", "rects.js", "view.js", "gantt.js"} {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // they are embedded
		}
		all.WriteString(imports.ReplaceAllString(Bare(string(text)), ""))
	}
	return all.String()
}

// Script returns the same for a page that has no modules.
func Script() string { return exports.ReplaceAllString(Module(), "") }
