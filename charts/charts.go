// Package charts has the JavaScript that draws Gantt charts in pages. The report of a replay includes it in its page, and the live page serves
// it as a module. A page extends the class Gantt (gantt.js) with its own rows, colors and labels.
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

// Bare returns a script without indentation and comments, which browsers do not need. The script must not have string literals of several
// lines, or string literals that look like comments.
func Bare(script string) string { return bare.ReplaceAllString(script, "") }

// Module returns all files as one module without imports.
func Module() string {
	var all strings.Builder
	for _, name := range []string{"draw.js", "rects.js", "view.js", "gantt.js"} {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the files are embedded
		}
		all.WriteString(imports.ReplaceAllString(Bare(string(text)), ""))
	}
	return all.String()
}

// Script returns the content of Module as a plain script, for a page without modules.
func Script() string { return exports.ReplaceAllString(Module(), "") }
