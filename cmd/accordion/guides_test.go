package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
)

// said is a line of a guide that a reader may type.
type said struct {
	guide  string
	number int    // line number
	text   string // without the remark after the command
	block  bool   // in a block of its own; otherwise within a sentence
}

var (
	inline = regexp.MustCompile("`(accordion [^`]+)`")
	remark = regexp.MustCompile(`\s+#(\s.*)?$|\s{4,}\S.*$`)
	called = regexp.MustCompile(`(?:^|[|;&(]\s*|-- )accordion\s`)
)

// sayings returns all lines of the guides with a command of accordion, or of a program that runs accordion.
func sayings(t *testing.T) (all []said) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, pattern := range []string{"README.md", "docs/*.md", "examples/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, sayingsOf(name, string(text))...)
		}
	}
	if len(all) < 200 {
		t.Fatalf("only %d lines with commands were found", len(all))
	}
	return all
}

func sayingsOf(guide, text string) (all []said) {
	fenced, begun := false, ""
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			begun = ""
			for _, found := range inline.FindAllStringSubmatch(line, -1) {
				all = append(all, said{guide: guide, number: i + 1, text: found[1]})
			}
			continue
		}
		line = strings.TrimPrefix(begun+strings.TrimSpace(line), "$ ")
		if strings.HasPrefix(line, "# accordion ") { // typed by root
			line = line[2:]
		}
		if joined, goes := strings.CutSuffix(line, `\`); goes || strings.HasSuffix(line, "|") {
			begun = joined
			continue
		}
		begun = ""
		if line != "" && (called.MatchString(line) || !strings.HasPrefix(line, "#")) {
			all = append(all, said{guide: guide, number: i + 1, text: remark.ReplaceAllString(line, ""), block: true})
		}
	}
	return all
}

// commandsIn returns the arguments of each call of the program in a line.
func commandsIn(t *testing.T, line string) (all [][]string) {
	t.Helper()
	for _, at := range called.FindAllStringIndex(line, -1) {
		words, err := shellquote.Split(call(line[at[1]:]))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if i := slices.Index(words, "…"); i >= 0 {
			words = words[:i]
		}
		all = append(all, words)
	}
	return all
}

// call returns the first command of a text, up to the next shell operator.
func call(text string) string {
	quote := rune(0)
	for i, c := range text {
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && c == '\'', quote == 0 && c == '"' && !strings.HasPrefix(text[i:], `" ||`) && strings.Contains(text[i+1:], `"`):
			quote = c
		case quote == 0 && strings.ContainsRune(`|;&>)"`, c):
			return text[:i]
		}
	}
	return text
}

// Texts that begin like a command of accordion but are none.
var noCommands = map[string]string{
	"session":    "the first line of a connection, docs/protocol.md",
	"run:":       "what accordion run says",
	"statistics": "the kind of a file",
}

// Every command in a guide must exist, with its options. In a block, which readers type, the command's arguments must be valid too.
func TestTheGuidesNameCommandsThatExist(t *testing.T) {
	checked := 0
	for _, s := range sayings(t) {
		for _, words := range commandsIn(t, s.text) {
			if len(words) == 0 || noCommands[words[0]] != "" {
				continue
			}
			if !s.block { // [--json] marks an optional part
				for i := range words {
					words[i] = strings.Trim(words[i], "[]")
				}
			}
			checked++
			if why := wrong(words, s.block); why != "" {
				t.Errorf("%s:%d: accordion %s: %s", s.guide, s.number, strings.Join(words, " "), why)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d commands were looked at", checked)
	}
}

// wrong returns the error in a command line, or "" if no error can be found without running the command.
func wrong(words []string, whole bool) string {
	root := accordion()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		if err := c.ValidateArgs(rest[:1]); err != nil {
			return err.Error()
		}
	}
	c.InitDefaultHelpFlag()
	if c.DisableFlagParsing {
		return ""
	}
	if len(rest) > 0 && !whole && len(rest[len(rest)-1]) > 2 && strings.HasPrefix(rest[len(rest)-1], "--") { // an option without its value
		name, _, _ := strings.Cut(strings.TrimPrefix(rest[len(rest)-1], "--"), "=")
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			return "it has no option --" + name
		}
		rest = rest[:len(rest)-1]
	}
	if err := c.ParseFlags(rest); err != nil && !(!whole && strings.Contains(err.Error(), "invalid argument")) { // --job N
		return err.Error()
	}
	if help := c.Flags().Lookup("help"); whole && (help == nil || !help.Changed) {
		if err := c.ValidateArgs(c.Flags().Args()); err != nil {
			return err.Error()
		}
	}
	return ""
}

func TestWhatIsWrongWithACommandIsSeen(t *testing.T) {
	for line, says := range map[string]string{
		"accordion explian 17":                     "unknown command",
		"accordion trace info":                     "give a FILE",
		"accordion trace inform LOG":               "unknown command",
		"accordion status --jsn":                   "unknown flag",
		"x | accordion replay LOG --polcy a | y":   "unknown flag",
		`eval "$(accordion step --kep n3)" || x`:   "unknown flag",
		`eval "$(accordion step --keep n3,n4)"`:    "",
		"accordion compare LOG --policies a -o x":  "",
		"accordion launch --model '4x2h' -- sb -p": "",
	} {
		got := ""
		for _, words := range commandsIn(t, line) {
			got = cmp.Or(got, wrong(words, true))
		}
		if says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q", line, got, says)
		}
	}
}
