package advise

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
)

// A Request is a user's request: an evolution profile, alternative profiles, or moldable configurations.
type Request struct {
	Word    string    // "ep" or "mold"
	Text    string    // the request in the form that sbatch and oarsub accept
	Choices []core.EP // the parsed request: profiles, or one step for each configuration
	Loose   bool      // the user wrote another form, which sbatch and oarsub refuse
}

// kinds are the names of requests in messages, by Word.
var kinds = map[string]string{"ep": "evolution profile", "mold": "moldable configurations"}

var (
	// option matches the beginning of a request on the command line of sbatch or oarsub, and in #SBATCH and #OAR lines.
	option = regexp.MustCompile(`^(?:(?:sbatch|oarsub|#SBATCH|#OAR)[ \t]+)?(?:--comment(?:=|[ \t]+)|-t[ \t]+|--type(?:=|[ \t]+))?["']?(?:--)?(ep|mold)=["']?`)
	// line matches the beginning of a request in a script.
	line = regexp.MustCompile(`^#(EP|MOLD)[ \t]`)
	// nearlyOption matches a wrong beginning that was probably meant as a request.
	nearlyOption = regexp.MustCompile(`^(?i)#?[ \t]*(ep|mold)[:= \t]*(?:\d|amdahl|downey)`)
)

// Check parses a request for a machine with this number of nodes, or returns all errors in it, each with its column. The text may begin like
// a script's line, a comment or an option: "#EP 5x500s", "ep=5x500s", "--mold=4x2h|8x70m". Steps may be written loosely: "2 x 1.5h".
func Check(text string, nodes int) (Request, []error) {
	body, column := core.TrimSpace(text)
	word, rest := "", body
	if begins := line.FindStringSubmatch(body); begins != nil {
		word, rest = strings.ToLower(begins[1]), body[len(begins[0]):]
	} else if begins := option.FindStringSubmatch(body); begins != nil {
		word, rest = begins[1], strings.TrimRight(body[len(begins[0]):], `"'`)
	} else if begins := nearlyOption.FindStringSubmatchIndex(body); begins != nil {
		return Request{}, []error{wrongBegin("", body, column)}
	}
	column += strings.Index(body, rest)
	if word == "" {
		word = kindOf(rest)
	}
	return check(kinds[word], word, rest, column, nodes)
}

// wrongBegin returns the error for a wrong beginning. `where` is the place of the text in messages.
func wrongBegin(where, body string, column int) error {
	ends := strings.IndexFunc(body, func(r rune) bool { return !strings.ContainsRune("# \t:=EePpMmOoLlDd", r) })
	word, rest := body[:ends], core.Printable(body[ends:])
	name := "EP"
	if strings.Contains(strings.ToLower(word), "m") {
		name = "MOLD"
	}
	want := fmt.Sprintf("how a request begins: write #%s %.60s in a script, or %s=%.60[2]s in a comment", name, rest, strings.ToLower(name))
	return &core.SyntaxError{What: kinds[strings.ToLower(name)] + where, Column: column, Piece: word, Want: want}
}

// kindOf guesses the Word of a text without one: alternatives of one step each are configurations.
func kindOf(text string) string {
	if strings.Contains(text, ":") && strings.Contains(text, "=") || strings.Contains(text, "|") && !strings.Contains(text, ",") {
		return "mold"
	}
	return "ep"
}

// check parses the rest of a request, which begins in this column.
func check(what, word, text string, column, nodes int) (Request, []error) {
	r := Request{Word: word, Text: text}
	parse, tidy := moldable.ParseProfiles, moldable.TidyProfiles
	if word == "mold" {
		parse, tidy = moldable.Parse, moldable.Tidy
	}
	var err error
	if r.Choices, err = parse(text); err != nil {
		r.Text, r.Loose = tidy(text), true
		r.Choices, _ = parse(r.Text)
	}
	if err != nil && r.Choices == nil && strings.Contains(text, "=") { // a model
		var wrong *core.SyntaxError
		if errors.As(err, &wrong) {
			err = &core.SyntaxError{What: what, Column: wrong.Column + column - 1, Piece: wrong.Piece, Want: wrong.Want}
		}
		return r, []error{err}
	}
	if all := mistakes(what, word, text, column, nodes); len(all) > 0 {
		return r, all
	}
	if r.Choices == nil { // no single step is wrong, but the request is too long or has too many steps
		return r, []error{err}
	}
	if word == "mold" && strings.Contains(r.Text, "=") { // a model stays as the user wrote it
		if least := r.Choices[0].Peak(); least > nodes {
			return r, []error{&core.SyntaxError{What: what, Column: column, Piece: text, Want: fmt.Sprintf("within the machine's %d nodes: its smallest size has %d", nodes, least)}}
		}
		return r, nil
	}
	r.Text = normal(word, r.Choices)
	return r, nil
}

// mistakes returns the errors in the steps of a text.
func mistakes(what, word, text string, column, nodes int) (all []error) {
	if word == "mold" && strings.Contains(text, "=") {
		return nil
	}
	between := func(r rune) bool { return r == '|' || r == ',' && word == "ep" }
	for more := true; more; {
		piece := text
		at := strings.IndexFunc(text, between)
		if more = at >= 0; more {
			piece, text = text[:at], text[at+1:]
		}
		s, err := core.ParseStep(what, column, core.TidyStep(piece))
		if err != nil {
			_, err = core.ParseStep(what, column, piece)
			all = append(all, err)
		} else if s.Nodes > nodes {
			all = append(all, &core.SyntaxError{What: what, Column: column, Piece: piece, Want: fmt.Sprintf("within the machine's %d nodes", nodes)})
		}
		column += len(piece) + 1
	}
	return all
}

// normal returns a request in the form that the plug-ins give it.
func normal(word string, choices []core.EP) string {
	if word == "mold" {
		return moldable.Format(choices)
	}
	texts := make([]string, len(choices))
	for i, requested := range choices {
		texts[i] = ep.Format(requested)
	}
	return strings.Join(texts, "|")
}
