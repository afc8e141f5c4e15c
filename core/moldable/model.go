package moldable

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/ep"
)

// The forms of a speed-up model, for messages.
const (
	amdahlForm = "amdahl:p=SHARE,t1=DURATION,nodes=FROM-TO, such as amdahl:p=0.99,t1=10h,nodes=1-256"
	downeyForm = "downey:a=PARALLELISM,sigma=NUMBER,t1=DURATION,nodes=FROM-TO, such as downey:a=64,sigma=1,t1=10h,nodes=1-128^2"
)

// millionth is the unit of a model's decimal numbers. They have at most six decimal places and are read exactly.
const millionth = 1_000_000

// curve returns how long an application runs on n nodes, in whole seconds, rounded up.
type curve func(n int) core.Time

// amdahl returns the curve of Amdahl's law: d(n) = (1 − P + P/n)·d(1) (RR-7389, Table 1), exactly. p is in
// millionths.
func amdahl(p int64, t1 core.Time) curve {
	return func(n int) core.Time {
		// t1·((10^6 − p)·n + p) / (10^6·n): the product needs 128 bits.
		over := uint64(millionth) * uint64(n)
		high, low := bits.Mul64(uint64(t1), uint64(millionth-p)*uint64(n)+uint64(p))
		low, carry := bits.Add64(low, over-1, 0)
		quotient, _ := bits.Div64(high+carry, low, over)
		return max(core.Time(quotient), 1)
	}
}

// downey returns the curve of Downey's model with average parallelism a and variance σ, both in millionths.
func downey(a, sigma int64, t1 core.Time) curve {
	A, σ := float64(a)/millionth, float64(sigma)/millionth
	return func(nodes int) core.Time {
		const rounding = 1e-9 // a value this close above a whole second counts as that second
		return max(core.Time(math.Ceil(float64(t1)/Downey(A, σ, nodes)-rounding)), 1)
	}
}

// Downey returns the speed-up on a number of nodes by Downey's model, as Cirne and Berman use it: with average
// parallelism A, at least 1, and variance σ of the parallelism, at least 0.
func Downey(A, σ float64, nodes int) float64 {
	n := float64(nodes)
	switch {
	case σ <= 1 && n <= A:
		return A * n / (A + σ*(n-1)/2)
	case σ <= 1 && n <= 2*A-1:
		return A * n / (σ*(A-0.5) + n*(1-σ/2))
	case σ > 1 && n <= A+A*σ-σ:
		return n * A * (σ + 1) / (σ*(n+A-1) + A)
	}
	return A
}

// isModel reports whether a text is meant as a speed-up model. A model begins with a word and a colon; no duration does.
func isModel(body string) bool {
	word, _, colon := strings.Cut(body, ":")
	return colon && word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// parseModel parses "amdahl:…" or "downey:…" and returns its sizes, fewest nodes first. It leaves out a size that is
// no faster than a smaller one.
func parseModel(body string, column int) ([]core.EP, error) {
	word, rest, _ := strings.Cut(body, ":")
	r := &fields{column: column + len(word) + 1}
	var c curve
	switch word {
	case "amdahl":
		r.split(rest, amdahlForm, "p=", "t1=", "nodes=")
		p := r.decimal(0, 0, millionth, "a share from 0 to 1 with at most six places, as in p=0.99")
		c = amdahl(p, r.duration(1))
	case "downey":
		r.split(rest, downeyForm, "a=", "sigma=", "t1=", "nodes=")
		a := r.decimal(0, millionth, core.MaxNodes*millionth, "an average parallelism of at least 1 with at most six places, as in a=64")
		sigma := r.decimal(1, 0, 1000*millionth, "a number from 0 to 1000 with at most six places, as in sigma=1")
		c = downey(a, sigma, r.duration(2))
	default:
		return nil, &core.SyntaxError{What: what, Column: column, Piece: word, Want: "a model: amdahl or downey"}
	}
	sizes := r.sizes(len(r.pieces) - 1)
	if r.err != nil {
		return nil, r.err
	}
	var choices []core.EP
	for _, n := range sizes {
		d := c(n)
		if last := len(choices) - 1; d > core.MaxTotal || last >= 0 && d >= choices[last][0].Duration {
			continue
		}
		choices = append(choices, core.EP{{Duration: d, Nodes: n}})
	}
	return choices, nil
}

// fields are the values of a model's parameters, in their fixed order. err is the first error.
type fields struct {
	column  int
	pieces  []string
	columns []int
	err     error
}

func (r *fields) wrong(i int, want string) {
	if r.err == nil {
		r.err = &core.SyntaxError{What: what, Column: r.columns[i], Piece: r.pieces[i], Want: want}
	}
}

func (r *fields) split(text, form string, names ...string) {
	pieces := strings.Split(text, ",")
	column := r.column
	for i, name := range names {
		if len(pieces) != len(names) || !strings.HasPrefix(pieces[i], name) {
			r.err = &core.SyntaxError{What: what, Column: r.column, Piece: text, Want: form}
			r.pieces, r.columns = make([]string, len(names)), make([]int, len(names))
			return
		}
		r.pieces = append(r.pieces, pieces[i][len(name):])
		r.columns = append(r.columns, column+len(name))
		column += len(pieces[i]) + 1
	}
}

// decimal parses a number with at most six decimal places, in millionths.
func (r *fields) decimal(i int, least, most int64, want string) int64 {
	if r.err != nil {
		return least
	}
	whole, places, dot := strings.Cut(r.pieces[i], ".")
	ok := digits(whole) && len(whole) <= 7 && (!dot || digits(places) && len(places) <= 6)
	var n int64
	if ok {
		n, _ = strconv.ParseInt(whole+(places + "000000")[:6], 10, 64)
	}
	if !ok || n < least || n > most {
		r.wrong(i, want)
	}
	return n
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (r *fields) duration(i int) core.Time {
	if r.err != nil {
		return 1
	}
	d, ok := core.ParseDuration(r.pieces[i])
	if !ok || d < 1 {
		r.wrong(i, "a duration above 0 and up to 3650 days: write "+core.DurationForms)
	}
	return d
}

// sizes parses FROM-TO, or FROM-TO^2 for the powers of two in the range.
func (r *fields) sizes(i int) []int {
	if r.err != nil {
		return nil
	}
	text, powers := strings.CutSuffix(r.pieces[i], "^2")
	a, b, dash := strings.Cut(text, "-")
	from, ok1 := core.ParseNodes(a)
	to, ok2 := core.ParseNodes(b)
	if !dash || !ok1 || !ok2 || from > to {
		r.wrong(i, fmt.Sprintf("a range of sizes from 1 to %d, as in nodes=1-256, or nodes=1-256^2 for powers of two", core.MaxNodes))
		return nil
	}
	var sizes []int
	for n := from; n <= to; n++ {
		if powers && n&(n-1) != 0 {
			n = 1<<bits.Len(uint(n)) - 1 // the loop adds 1, which gives a power of two
			continue
		}
		if len(sizes) == MaxChoices {
			r.wrong(i, fmt.Sprintf("a range of at most %d sizes: narrow it, or end it with ^2 for powers of two", MaxChoices))
			return nil
		}
		sizes = append(sizes, n)
	}
	if len(sizes) == 0 {
		r.wrong(i, "a range with a power of two in it, as in nodes=1-256^2")
	}
	return sizes
}

// ParseProfiles parses alternatives of whole profiles, "2x1h,8x1h|4x40m,16x40m", of an application that is moldable
// and evolving. The result has 1 to MaxChoices profiles, and at most core.MaxSteps steps in all. Its error is a
// *core.SyntaxError.
func ParseProfiles(text string) ([]core.EP, error) {
	var choices []core.EP
	column, steps := 0, 0
	for piece := range strings.SplitSeq(text, "|") {
		if len(choices) == MaxChoices {
			return nil, &core.SyntaxError{What: "evolution profile", Column: column + 1, Piece: piece, Want: "within the 256 alternatives that a job may have"}
		}
		requested, err := ep.ParseAfter(steps, piece)
		if err != nil {
			return nil, later(err, column)
		}
		steps += strings.Count(piece, ",") + 1
		choices = append(choices, requested)
		column += len(piece) + 1
	}
	return choices, nil
}

// later adds columns to a syntax error's column, so that the column refers to the whole text.
func later(err error, columns int) error {
	var wrong *core.SyntaxError
	if errors.As(err, &wrong) {
		moved := *wrong
		moved.Column += columns
		return &moved
	}
	return err
}
