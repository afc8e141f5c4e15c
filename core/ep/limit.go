package ep

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"accordion/core"
)

// Limit is an expansion limit (CoreGRID 2011, section 4.2). A step that waits for the next step's nodes may last at most its
// duration times the limit. A Limit is an exact decimal in millionths. A limit below 1 counts as 1, so that the zero value
// allows no expansion.
type Limit int64

// The named limits.
const (
	NoExpansion  Limit = 1_000_000     // noX: every step lasts exactly its duration
	Twice        Limit = 2_000_000     // 2X
	Unlimited    Limit = math.MaxInt64 // infX
	largestLimit       = 1_000_000     // times; a larger number should be inf
)

// Longest returns the length to which a step of d seconds may be expanded: floor(limit × d), exactly. It returns
// Forever if there is no limit.
func (l Limit) Longest(d core.Time) core.Time {
	if l == Unlimited || d >= core.Forever {
		return core.Forever
	}
	if l <= NoExpansion || d <= 0 {
		return d
	}
	high, low := bits.Mul64(uint64(d), uint64(l))
	if high >= uint64(NoExpansion) {
		return core.Forever
	}
	product, _ := bits.Div64(high, low, uint64(NoExpansion))
	return core.Time(min(product, uint64(core.Forever)))
}

// ParseLimit parses "inf" or a decimal from 1 to 1000000 with at most six places, such as 2 or 1.13. Its error is a
// *core.SyntaxError.
func ParseLimit(text string) (Limit, error) {
	if text == "inf" {
		return Unlimited, nil
	}
	whole, places, hasPoint := strings.Cut(text, ".")
	units, ok := digits(whole, 7)
	millionths, ok2 := digits(places+strings.Repeat("0", max(0, 6-len(places))), 6)
	l := Limit(units*int64(NoExpansion) + millionths)
	if !ok || !ok2 || hasPoint && places == "" || l < NoExpansion || l > largestLimit*NoExpansion {
		return 0, &core.SyntaxError{What: "expand limit", Column: 1, Piece: text,
			Want: "a decimal from 1 to 1000000 with at most 6 places, or inf: 1 never expands a step, 2 up to twice its duration"}
	}
	return l, nil
}

// digits parses plain digits: at least one and at most `most`.
func digits(text string, most int) (n int64, ok bool) {
	if text == "" || len(text) > most {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(text[i]-'0')
	}
	return n, true
}

// String returns the limit in the form that ParseLimit reads: "1", "1.13", "inf".
func (l Limit) String() string {
	if l == Unlimited {
		return "inf"
	}
	l = max(l, NoExpansion)
	text := strconv.FormatInt(int64(l/NoExpansion), 10)
	if places := int64(l % NoExpansion); places > 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(int64(NoExpansion)+places, 10)[1:], "0")
	}
	return text
}
