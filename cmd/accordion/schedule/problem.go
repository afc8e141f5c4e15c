// Package schedule has the command "accordion schedule": the JSON that it reads (a machine, its occupation, evolving
// applications), its flags, and the JSON that it writes. Errors in the input have a line and a path. core/ep and
// core/order compute the schedule.
package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Problem is the input of `accordion schedule`: a machine, its occupation, and the applications to place.
//
//	{"nodes":100,"busy":[[1200,10]],"applications":[{"id":"a","ep":[[500,5],[3600,10]]},{"id":"b","ep":"5x500s"}]}
type Problem struct {
	Nodes        int     // of the machine
	Busy         core.EP // resource EP from second 0 on; its steps may have 0 nodes
	Applications []Application
}

// Application is one evolving application of a problem.
type Application struct {
	ID string
	EP core.EP // the requested profile; if it was written as pairs, adjacent steps of equal size are not joined
}

// An Error is an error at a place in a problem's text.
type Error struct {
	Line  int    // line number, counted from 1
	Field string // such as applications[3].ep; "" if the text is not JSON
	Err   error
}

// Error returns the error on one line.
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Parse parses a problem from JSON. Unless `nodes` is 0, it replaces the size of the machine in the text. Unknown and repeated fields are
// errors. Its errors are of type *Error.
func Parse(text []byte, nodes int) (*Problem, error) {
	r := &reader{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	if err := r.valid(); err != nil {
		return nil, err
	}
	if err := r.problem(); err != nil {
		return nil, err
	}
	if err := r.check(nodes); err != nil {
		return nil, err
	}
	return &r.Problem, nil
}

// Profile returns the occupation of the machine.
func (p *Problem) Profile() *profile.Profile {
	machine := profile.New(p.Nodes)
	machine.Add(0, p.Busy)
	return machine
}

// Profiles returns the requested profiles of the applications.
func (p *Problem) Profiles() []core.EP {
	eps := make([]core.EP, len(p.Applications))
	for i, a := range p.Applications {
		eps[i] = a.EP
	}
	return eps
}

// reader reads the text token by token, so that every value's position is known.
type reader struct {
	Problem
	text   []byte
	json   *json.Decoder
	at     int    // offset of the current value
	nodes  int    // offset of "nodes"
	busy   int    // of "busy"
	starts []int  // of the applications
	pairs  bool   // the last profile was written as pairs
	paired []bool // for each application: whether its profile was written as pairs
}

// fail returns an error about the value at an offset.
func (r *reader) fail(offset int, field string, err error) error {
	return &Error{Line: 1 + bytes.Count(r.text[:min(offset, len(r.text))], []byte("\n")), Field: field, Err: err}
}

// next moves to the beginning of the next value.
func (r *reader) next() {
	r.at = int(r.json.InputOffset())
	for r.at < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[r.at]) >= 0 {
		r.at++
	}
}

// valid checks that the text is JSON. So the code that reads the text afterwards needs to check only the values.
func (r *reader) valid() error {
	var all json.RawMessage
	err := json.Unmarshal(r.text, &all)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return r.fail(int(syntax.Offset), pathToError(r.text), fmt.Errorf("not JSON: %w", syntax))
	}
	return r.fail(0, "", err)
}

// enter reads the bracket or brace that begins a list or an object.
func (r *reader) enter(want json.Delim, field, otherwise string) error {
	r.next()
	if token, err := r.json.Token(); err != nil || token != want {
		return r.fail(r.at, field, errors.New(otherwise))
	}
	return nil
}

// leave reads the bracket or brace that ends a list or an object.
func (r *reader) leave() error {
	_, err := r.json.Token()
	return err
}

func (r *reader) problem() error {
	if err := r.enter('{', "", `not a JSON object such as {"nodes":100,"applications":[{"id":"a","ep":[[500,5],[3600,10]]}]}`); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.json.More() {
		key, err := r.key("", seen)
		if err != nil {
			return err
		}
		switch key {
		case "nodes":
			r.nodes = r.at
			err = r.number(&r.Nodes)
		case "busy":
			r.busy = r.at
			r.Busy, err = r.profile(key, maxBusy)
		case "applications":
			err = r.applications()
		default:
			err = r.fail(r.at, pathTo("", key), errors.New("unknown field; a problem has nodes, busy and applications"))
		}
		if err != nil {
			return err
		}
	}
	if !seen["applications"] {
		return r.fail(r.at, "applications", errors.New(`missing; give a list such as [{"id":"a","ep":"5x500s,10x1h"}]`))
	}
	return r.leave()
}

// key reads the name of an object's field and moves to its value.
func (r *reader) key(object string, seen map[string]bool) (string, error) {
	r.next()
	token, err := r.json.Token()
	if err != nil {
		return "", err
	}
	key, _ := token.(string)
	if seen[key] {
		return "", r.fail(r.at, pathTo(object, key), errors.New("given twice"))
	}
	seen[key] = true
	r.next()
	return key, nil
}

func (r *reader) number(n *int) error {
	var value *int // nil if the JSON has null
	if r.json.Decode(&value) != nil || value == nil {
		return r.fail(r.at, "nodes", errors.New("not a whole number of nodes, such as 100"))
	}
	*n = *value
	return nil
}

// maxBusy limits the steps of the machine's occupation.
const maxBusy = 100_000

// profile reads [[DURATION, NODES], …] of at most the given number of steps, or the text form.
func (r *reader) profile(field string, most int) (core.EP, error) {
	at := r.at
	r.pairs = false
	var raw json.RawMessage
	if err := r.json.Decode(&raw); err != nil {
		return nil, err
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		requested, err := ep.Parse(text)
		if err != nil {
			return nil, r.fail(at, field, err)
		}
		return requested, nil
	}
	var steps []json.RawMessage
	if err := json.Unmarshal(raw, &steps); err != nil || steps == nil {
		return nil, r.fail(at, field, errors.New(`not a profile; write [[500,5],[3600,10]], pairs of seconds and nodes, or "5x500s,10x1h"`))
	}
	if len(steps) > most {
		return nil, r.fail(at, field, fmt.Errorf("%d steps; at most %d are allowed", len(steps), most))
	}
	r.pairs = true
	requested := make(core.EP, len(steps))
	for i, step := range steps {
		var pair []*int64
		if err := json.Unmarshal(step, &pair); err != nil || len(pair) != 2 || pair[0] == nil || pair[1] == nil {
			return nil, r.fail(at, fmt.Sprintf("%s[%d]", field, i), fmt.Errorf("%s is not a pair of seconds and nodes, such as [500,5]", core.Shown(string(step))))
		}
		requested[i] = core.Step{Duration: *pair[0], Nodes: int(*pair[1])}
	}
	return requested, nil
}

func (r *reader) applications() error {
	if err := r.enter('[', "applications", `not a list such as [{"id":"a","ep":"5x500s"}]`); err != nil {
		return err
	}
	for r.json.More() {
		r.next()
		r.starts = append(r.starts, r.at)
		if err := r.application(fmt.Sprintf("applications[%d]", len(r.Applications))); err != nil {
			return err
		}
	}
	return r.leave()
}

func (r *reader) application(field string) error {
	start := r.at
	if err := r.enter('{', field, `not an object such as {"id":"a","ep":"5x500s"}`); err != nil {
		return err
	}
	var a Application
	seen := map[string]bool{}
	for r.json.More() {
		key, err := r.key(field, seen)
		if err != nil {
			return err
		}
		switch key {
		case "id":
			if r.json.Decode(&a.ID) != nil || a.ID == "" {
				err = r.fail(r.at, field+".id", errors.New("not a string with the application's name"))
			}
		case "ep":
			a.EP, err = r.profile(field+".ep", core.MaxSteps)
		default:
			err = r.fail(r.at, pathTo(field, key), errors.New("unknown field; an application has id and ep"))
		}
		if err != nil {
			return err
		}
	}
	for _, key := range []string{"id", "ep"} {
		if !seen[key] {
			return r.fail(start, field+"."+key, errors.New("missing"))
		}
	}
	r.Applications, r.paired = append(r.Applications, a), append(r.paired, r.pairs)
	return r.leave()
}

// largestArea is an upper bound for the node-seconds that a problem may reserve, so that no sum of node-seconds overflows.
const largestArea = core.Forever

// check checks what depends on the whole problem: that sizes fit the machine, and that names are unique.
func (r *reader) check(nodes int) error {
	if nodes > 0 {
		r.Nodes = nodes
	}
	if r.Nodes < 1 || r.Nodes > core.MaxNodes {
		return r.fail(r.nodes, "nodes", fmt.Errorf("the machine has %d nodes; give 1 to %d here or with --nodes", r.Nodes, core.MaxNodes))
	}
	var total core.Time
	for i, s := range r.Busy {
		if s.Duration <= 0 || s.Duration > core.MaxTotal || s.Nodes < 0 || s.Nodes > r.Nodes {
			return r.fail(r.busy, fmt.Sprintf("busy[%d]", i), fmt.Errorf("%d nodes for %d seconds: at least 1 second (and 3650 days at most) of 0 to %d nodes is right",
				s.Nodes, s.Duration, r.Nodes))
		}
		if total += s.Duration; total > core.MaxTotal {
			return r.fail(r.busy, fmt.Sprintf("busy[%d]", i), fmt.Errorf("occupation beyond %d seconds (3650 days)", core.MaxTotal))
		}
	}
	named := map[string]bool{}
	for i, a := range r.Applications {
		field := fmt.Sprintf("applications[%d]", i)
		if err := ep.Check(a.EP, r.Nodes); err != nil {
			path := field + ".ep"
			var wrong *ep.StepError
			if errors.As(err, &wrong) && r.paired[i] {
				path = fmt.Sprintf("%s[%d]", path, wrong.Step)
			}
			return r.fail(r.starts[i], path, err)
		}
		if total += a.EP.Total(); total > largestArea/core.Time(r.Nodes) {
			return r.fail(r.starts[i], field+".ep", fmt.Errorf("the applications may last so long on %d nodes that their node-seconds cannot be counted", r.Nodes))
		}
		if named[a.ID] {
			return r.fail(r.starts[i], field+".id", fmt.Errorf("%s names two applications", core.Shown(a.ID)))
		}
		named[a.ID] = true
	}
	return nil
}
