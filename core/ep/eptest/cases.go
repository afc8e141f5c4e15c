// Package eptest has correct and wrong texts that users write for a request. The Lua plug-in and the admission rules
// in Perl must judge them as the planner does. Production code does not use it.
//
// cases.txt is the table of these texts with the grammar's verdict on each. A test of core/moldable writes it.
package eptest

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Case is the text of a request of an evolving job ("ep") or a moldable job ("mold").
type Case struct{ Word, Text string }

//go:embed cases.txt
var table string

// Cases returns the texts of the table.
func Cases() (all []Case) {
	for line := range strings.Lines(table) {
		word, quoted, _ := strings.Cut(line, " ")
		c := Case{Word: word}
		for quoted[0] != '\t' {
			piece, err := strconv.QuotedPrefix(quoted)
			if err != nil {
				panic(fmt.Sprintf("cases.txt: %.60s: %v", line, err))
			}
			quoted = quoted[len(piece):]
			text, _ := strconv.Unquote(piece)
			times := 1
			if rest, repeated := strings.CutPrefix(quoted, "*"); repeated {
				digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
				times, _ = strconv.Atoi(digits)
				quoted = rest[len(digits):]
			}
			c.Text += strings.Repeat(text, times)
		}
		all = append(all, c)
	}
	return all
}

// Table returns the table with the result of the function `judge` for each text, on one line. It cuts a long
// result.
func Table(judge func(Case) string) string {
	var b strings.Builder
	cases := Cases()
	for line := range strings.Lines(table) {
		begin, _, _ := strings.Cut(line, "\t")
		said := judge(cases[0])
		if len(said) > 400 {
			said = fmt.Sprintf("%s... (%d bytes)", said[:100], len(said))
		}
		b.WriteString(begin + "\t" + said + "\n")
		cases = cases[1:]
	}
	return b.String()
}

// Words returns the message of a refusal. If the refused text has a byte that is not printable ASCII, Words
// removes the quoted piece from the message, because Go escapes such bytes differently from other languages.
func Words(refusal, text string) string {
	first, last := strings.IndexByte(refusal, '"'), strings.LastIndex(refusal, " is not ")
	if first < 0 || last < first || strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return refusal
	}
	return refusal[:first] + refusal[last:]
}

// written lists the texts that Random inserts: characters and words of requests, common errors, blanks and empty texts.
var written = strings.Split("0_1_2_9_10_60_24:_:00_1-_x_,_|_:_-_d_h_m_s_\t_._\xc3_X_*_×_min_hrs_.5_1.5h_20m_2x20s_,4x1h_|8x70m_ 4-64_^2_=_ _ _ ______", "_")

// Random returns n texts that are nearly correct. Each is a correct text of the table with up to three changes, on
// one line. The same seed gives the same texts.
func Random(seed uint64, n int, word string) []Case {
	var right []string
	lines := strings.Split(table, "\n")
	for i, c := range Cases() {
		if c.Word == word && len(c.Text) < 100 && !strings.Contains(c.Text, "\n") && strings.Contains(lines[i], "\ttaken: ") {
			right = append(right, c.Text)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	all := make([]Case, n)
	for i := range all {
		text := right[random.IntN(len(right))]
		for range random.IntN(4) {
			from := random.IntN(len(text) + 1)
			to := min(len(text), from+random.IntN(3))
			with := written[random.IntN(len(written))]
			text = text[:from] + with + text[to:]
		}
		all[i] = Case{word, text}
	}
	return all
}
