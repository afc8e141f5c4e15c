package workload

import (
	"strconv"
	"strings"

	"accordion/core"
	"accordion/traces/swf"
)

// windowForms has the forms of a Window, for messages.
const windowForms = "FROM..TO, each a time since the log's beginning as 30d, 12h or 86400, or a date as 2006-12-24 or 2006-12-24T18:00; " +
	"either may be left out"

// ParseWindow parses FROM..TO: seconds since the log's beginning, a duration since then, or a date in the site's time zone if the header has
// the date of the beginning. Without FROM the window starts at the log's beginning, without TO it ends with the log. Errors are
// *core.SyntaxError.
func ParseWindow(text string, h *swf.Header) (Window, error) {
	wrong := &core.SyntaxError{What: "window", Column: 1, Piece: text, Want: windowForms}
	from, to, ok := strings.Cut(text, "..")
	if !ok || from == "" && to == "" {
		return Window{}, wrong
	}
	var w Window
	if from != "" {
		if w.From, ok = parseInstant(from, h); !ok {
			wrong.Piece = from
			return Window{}, wrong
		}
	}
	if to != "" {
		if w.To, ok = parseInstant(to, h); !ok {
			wrong.Column, wrong.Piece = len(from)+3, to
			return Window{}, wrong
		}
		if w.To <= max(w.From, 0) {
			wrong.Want = "a window: it ends before it begins, or with the log's beginning"
			return Window{}, wrong
		}
	}
	return w, nil
}

// parseInstant parses one end of a window as a second of the log.
func parseInstant(text string, h *swf.Header) (core.Time, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0 && n <= swf.MaxValue
	}
	if d, ok := core.ParseDuration(text); ok {
		return d, true
	}
	second, known, _ := h.ParseDate(text)
	return second, known
}

// ParseShare parses a share of jobs: 30% or 0.3. `what` names it in errors, which are *core.SyntaxError.
func ParseShare(what, text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, &core.SyntaxError{What: what, Column: 1, Piece: text, Want: "a share, as in 30% or 0.3"}
	}
	return share, nil
}
