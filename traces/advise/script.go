package advise

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"accordion/core"
)

var (
	// directive matches a line of a script that gives sbatch or oarsub a request.
	directive = regexp.MustCompile(`^#(?:SBATCH|OAR)[ \t].*?(?:--comment(?:=|[ \t]+)["']?|--|-t[ \t]+|--type(?:=|[ \t]+)["']?)(ep|mold)=["']?([^ \t"'#]*)`)
	// reserved matches the line of a malleable job: see core/moldable.
	reserved = regexp.MustCompile(`^#MALLEABLE[ \t]+[0-9]`)
	// nearlyLine matches a line that was probably meant as a request.
	nearlyLine = regexp.MustCompile(`^(?i)[ \t]*#[ \t]*(ep|mold)[:= \t]*["']?(?:\d+[ \t]*x[ \t]*\d|amdahl:|downey:)`)
)

// CheckScript parses the request in a job's script as sbatch and oarsub do, from the lines before the first
// command. It returns all errors, each with its line and column. A form that sbatch and oarsub refuse is an
// error here, too. The error names the right form.
func CheckScript(script string, nodes int) (Request, []error) {
	var (
		lines, options Request // lines is the request of the #EP and #MOLD lines, each of which continues the one before; options is the request of an #SBATCH or #OAR line
		all            []error
		after          bool // the first command has been reached
	)
	for i, text := range strings.Split(script, "\n") {
		at := request(text)
		where := fmt.Sprintf("%s, script line %d", kinds[at.word], i+1)
		body, _ := core.TrimSpace(text)
		switch {
		case after && at.word != "":
			all = append(all, fmt.Errorf("%s: %s is after the first command, where it is not read: move it up", where, core.Shown(text)))
		case at.word != "":
			r, wrong := check(where, at.word, at.text, at.column, nodes)
			if len(wrong) == 0 && r.Loose {
				wrong = []error{&core.SyntaxError{What: where, Column: at.column, Piece: at.text, Want: "as sbatch and oarsub read it: write " + r.Text}}
			}
			all = append(all, wrong...)
			into := &lines
			if at.option {
				into = &options
			}
			if into.Word != "" && (at.option || into.Word != at.word) {
				return r, append(all, fmt.Errorf("%s: the script has another request before it: a job has one", where))
			}
			into.appendLine(at.word, r.Text)
		case !after && reserved.MatchString(text):
			all = append(all, fmt.Errorf("script line %d: #MALLEABLE is reserved for malleable jobs, which this release does not run: write #EP or #MOLD", i+1))
		case !after && nearlyLine.MatchString(text):
			all = append(all, wrongBegin(fmt.Sprintf(", script line %d", i+1), text, 1))
		case body != "" && body[0] != '#':
			after = true
		}
	}
	return combine(lines, options, all, nodes)
}

// combine returns the request of a script. If the script has a request in its lines and a request in its
// options, the two must be equal.
func combine(lines, options Request, all []error, nodes int) (Request, []error) {
	r := lines
	switch {
	case len(all) > 0:
		return r, all
	case lines.Word == "" && options.Word == "":
		return r, []error{errors.New("the script has no request: no #EP or #MOLD line, no --comment=ep= and no --ep before its first command")}
	case lines.Word == "":
		r = options
	}
	r, all = check(kinds[r.Word], r.Word, r.Text, 1, nodes)
	if lines.Word != "" && options.Word != "" && (options.Word != r.Word || options.Text != r.Text) {
		return r, []error{fmt.Errorf("the script's #%s line says %s, and its #SBATCH or #OAR line %s: a job has one request", strings.ToUpper(r.Word), r.Text, options.Text)}
	}
	return r, all
}

// found is a request in a line of a script.
type found struct {
	word, text string
	column     int
	option     bool // the request is an option in an #SBATCH or #OAR line
}

// request returns the request in one line of a script.
func request(text string) found {
	if m := line.FindStringSubmatch(text); m != nil {
		body, lead := core.TrimSpace(text[len(m[0]):])
		return found{word: strings.ToLower(m[1]), text: body, column: len(m[0]) + lead}
	}
	if m := directive.FindStringSubmatchIndex(text); m != nil {
		return found{word: text[m[2]:m[3]], text: text[m[4]:m[5]], column: m[4] + 1, option: true}
	}
	return found{}
}

// appendLine adds the request of a further line, whose steps follow the steps of earlier lines.
func (r *Request) appendLine(word, text string) {
	switch {
	case r.Word == "":
		r.Word, r.Text = word, text
	case word == "ep":
		r.Text += "," + text
	default:
		r.Text += "|" + text
	}
}
