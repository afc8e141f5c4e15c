package ep

import (
	"errors"
	"fmt"
	"strings"

	"accordion/core"
)

const what = "evolution profile"

// Parse parses the text form of a requested profile, NODESxDURATION,NODESxDURATION,… as in "5x500s,10x1h". See
// core.ParseDuration for durations. White space is allowed only at both ends. Neighbors with equal nodes are joined
// into one step. The text has 1 to core.MaxSteps steps, and the profile lasts at most core.MaxTotal.
//
// Its error is a *core.SyntaxError with the wrong piece and the correct form, in one printable line.
func Parse(text string) (core.EP, error) { return ParseAfter(0, text) }

// ParseAfter does what Parse does for one of several profiles of a job. `steps` is the number of steps, as written, in the
// job's earlier profiles.
func ParseAfter(steps int, text string) (core.EP, error) {
	body, column := core.TrimSpace(text)
	var ep core.EP
	var total core.Time
	for piece := range strings.SplitSeq(body, ",") {
		s, err := core.ParseStep(what, column, piece)
		if err != nil {
			return nil, err
		}
		if total += s.Duration; total > core.MaxTotal {
			return nil, &core.SyntaxError{What: what, Column: column, Piece: piece, Want: "within the longest total, 3650 days"}
		}
		if steps++; steps > core.MaxSteps {
			return nil, &core.SyntaxError{What: what, Column: column, Piece: piece, Want: "within the 1024 steps that a job may have"}
		}
		ep = then(ep, s)
		column += len(piece) + 1
	}
	return ep, nil
}

// then appends a step, or extends the last step if the node count is the same.
func then(ep core.EP, s core.Step) core.EP {
	if last := len(ep) - 1; last >= 0 && ep[last].Nodes == s.Nodes {
		ep[last].Duration += s.Duration
		return ep
	}
	return append(ep, s)
}

// Format returns the text form of a profile, such as "5x8m20s,10x1h". Parse reads it.
func Format(ep core.EP) string {
	var b strings.Builder
	for i, s := range ep {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%dx%s", s.Nodes, core.FormatDuration(s.Duration))
	}
	return b.String()
}

// A StepError is an error in one step of a profile.
type StepError struct {
	Step int // index of the step; the first step is 0
	why  string
}

// Error returns the error with the step counted from 1.
func (e *StepError) Error() string {
	return fmt.Sprintf("evolution profile, step %d: %s", e.Step+1, e.why)
}

// Check returns an error if a profile cannot be requested. It is for profiles from files and messages, which
// did not come from Parse. `maxNodes` is the machine's size.
func Check(ep core.EP, maxNodes int) error {
	if len(ep) == 0 {
		return errors.New("evolution profile: no steps; at least one is needed")
	}
	if len(ep) > core.MaxSteps {
		return fmt.Errorf("evolution profile: %d steps; at most %d are allowed", len(ep), core.MaxSteps)
	}
	var total core.Time
	for i, s := range ep {
		switch {
		case s.Duration <= 0 || s.Duration > core.MaxTotal:
			return &StepError{i, fmt.Sprintf("duration %d is not 1 to %d seconds", s.Duration, core.MaxTotal)}
		case s.Nodes <= 0 || s.Nodes > maxNodes:
			return &StepError{i, fmt.Sprintf("%d nodes are not 1 to %d, the machine's size", s.Nodes, maxNodes)}
		}
		if total += s.Duration; total > core.MaxTotal {
			return &StepError{i, fmt.Sprintf("the total exceeds %d seconds (3650 days)", core.MaxTotal)}
		}
	}
	return nil
}
