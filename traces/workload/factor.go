package workload

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"accordion/core"
)

// Factor is an exact decimal with at most six places, counted in millionths. Divided by 1.1, 11 seconds are exactly 10 seconds, while floating
// point may round the result down to 9.
type Factor int64

const (
	one        Factor = 1_000_000
	mostFactor        = 1_000_000 * one
)

// ParseFactor parses a decimal above 0 and up to 1000000 with at most six places, such as 1.25. `what` names it in errors, which are
// *core.SyntaxError.
func ParseFactor(what, text string) (Factor, error) {
	whole, places, point := strings.Cut(text, ".")
	plain := strings.Trim(whole+places, "0123456789") == "" && whole != "" && (!point || places != "")
	var f Factor
	if plain && len(whole) <= 7 && len(places) <= 6 {
		n, _ := strconv.ParseInt(whole+(places + "000000")[:6], 10, 64) // at most 13 digits
		f = Factor(n)
	}
	if f <= 0 || f > mostFactor {
		return 0, &core.SyntaxError{What: what, Column: 1, Piece: text, Want: "a number above 0 and up to 1000000 with at most six places, as in 1.25"}
	}
	return f, nil
}

// String returns the factor in the form of ParseFactor: "1.25".
func (f Factor) String() string {
	return strconv.FormatFloat(float64(f)/float64(one), 'f', -1, 64)
}

// Divide returns the whole part of n / f, for n ≥ 0.
func (f Factor) Divide(n int64) int64 { return MulDiv(n, int64(one), int64(f)) }

// Multiply returns the whole part of n · f, for n ≥ 0.
func (f Factor) Multiply(n int64) int64 { return MulDiv(n, int64(f), int64(one)) }

// MulDiv returns the whole part of a·b/c without overflow in between, or core.Forever if the result is larger.
func MulDiv(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high >= uint64(c) {
		return core.Forever
	}
	quotient, _ := bits.Div64(high, low, uint64(c))
	return int64(min(quotient, uint64(core.Forever)))
}

// mulDivUp returns a·b/c rounded up, for numbers above 0, or core.Forever if the result is larger.
func mulDivUp(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	low, carry := bits.Add64(low, uint64(c)-1, 0)
	if high += carry; high >= uint64(c) {
		return core.Forever
	}
	quotient, _ := bits.Div64(high, low, uint64(c))
	return int64(min(quotient, uint64(core.Forever)))
}

// Estimates determines which times jobs request: the times in the log (the zero value), or a multiple of the
// run times.
type Estimates struct{ times Factor }

// Actual is estimates that are equal to the run times.
var Actual = Estimates{times: one}

// estimateForms has the forms of Estimates, for messages.
const estimateForms = "requested, actual, or how many times a job's run time it asks for, as in ×2 or x2.5"

// ParseEstimates parses "requested", "actual", or ×F (xF): F times the run time, F at least 1. Errors are *core.SyntaxError.
func ParseEstimates(text string) (Estimates, error) {
	wrong := &core.SyntaxError{What: "estimates", Column: 1, Piece: text, Want: estimateForms}
	switch text {
	case "requested":
		return Estimates{}, nil
	case "actual":
		return Actual, nil
	}
	number, ok := strings.CutPrefix(text, "×")
	if !ok {
		if number, ok = strings.CutPrefix(text, "x"); !ok {
			return Estimates{}, wrong
		}
	}
	f, err := ParseFactor("estimates", number)
	if err != nil {
		return Estimates{}, wrong
	}
	if f < one {
		return Estimates{}, fmt.Errorf("%w: below 1 every job would be killed before its end", wrong)
	}
	return Estimates{times: f}, nil
}

// String returns the estimates in the form of ParseEstimates.
func (e Estimates) String() string {
	switch e.times {
	case 0:
		return "requested"
	case one:
		return "actual"
	}
	return "×" + e.times.String()
}

// request returns the requested time of a job, given its run time and its request in the log.
func (e Estimates) request(run, request core.Time) core.Time {
	if e.times == 0 {
		return request
	}
	return min(e.times.Multiply(run), MaxTime)
}
