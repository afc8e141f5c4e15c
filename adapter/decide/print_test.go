package decide

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// print writes a decision, with one line for each field that is set.
func (d Decision) print(b *strings.Builder) {
	line(b, "waits for", d.Waits)
	line(b, "obstacle", string(d.Obstacle))
	line(b, "limit", d.Limit)
	if d.For != 0 {
		line(b, "of job", fmt.Sprint(d.For))
	}
	if !d.Again.IsZero() {
		line(b, "again at", value(d.Again))
	}
	line(b, "notice", d.Notice)
	for _, c := range d.Changes {
		line(b, "change", fields(c))
	}
	for _, e := range d.Events {
		line(b, "event", e.text())
	}
	if d.Reserves != nil {
		line(b, "reserves", reservation(*d.Reserves))
	}
	line(b, "takes", nodesOf(d.Takes))
	if d.Do != nil {
		d.Do.print(b)
	}
	if d.AtOnce != nil {
		d.AtOnce.print(b, "at once: ")
	}
}

func (op *Operation) print(b *strings.Builder) {
	text := op.Verb
	for _, word := range []struct {
		is   bool
		text string
	}{
		{op.Talk, "talk"}, {op.Starts, "starts it"}, {op.Resize, "resize to " + nodesOf(op.Nodes)}, {op.Next, "next step"}, {op.Shrink, "releases nodes"},
		{op.Uses != nil, "uses " + strings.Join(op.Uses, " ")}, {op.ShrinkAt > 0, "of a shrink at " + value(op.ShrinkAt)},
	} {
		if word.is {
			text += "; " + word.text
		}
	}
	line(b, "operation", text)
	for _, c := range op.Calls {
		line(b, "call", fields(c))
	}
	op.Then.print(b, "success: ")
}

// print writes an outcome. `when` begins each line. For the outcome of an operation that succeeds
// it is "success: ", and for the outcome of a decision itself "at once: ".
func (o Outcome) print(b *strings.Builder, when string) {
	for _, n := range o.Notices {
		line(b, when+"notice", n)
	}
	for _, c := range o.Changes {
		line(b, when+"change", fields(c))
	}
	for _, e := range o.Events {
		line(b, when+"event", e.text())
	}
	if o.Reply != nil {
		line(b, when+"reply", strings.TrimSuffix(fmt.Sprintf("%s: %s", o.Reply.Status, o.Reply.Why), ": "))
	}
	if o.Grew != nil {
		line(b, when+"metric", fmt.Sprintf("grew %v late, cause %q", o.Grew.Late, o.Grew.Cause))
	}
	if o.GaveBack {
		line(b, when+"released nodes", "yes")
	}
	if o.Retry > 0 {
		line(b, when+"pause", o.Retry.String())
	}
	if o.Trapped > 0 {
		line(b, when+"no resize of any job", "for "+o.Trapped.String())
	}
}

// line writes the label `word` and the text, unless the text is empty.
func line(b *strings.Builder, word, text string) {
	if text != "" {
		fmt.Fprintf(b, "    %-10s %s\n", word, text)
	}
}

func (e Event) text() string {
	text := e.Kind + ": " + e.Text
	for _, k := range slices.Sorted(maps.Keys(e.Fields)) {
		text += fmt.Sprintf(" %s=%s", k, value(e.Fields[k]))
	}
	return text
}

// fields returns a change or a call as text: its type, and its fields that are not zero. It leaves
// out the job, which is always the same.
func fields(x any) string {
	v := reflect.ValueOf(x)
	text := v.Type().Name()
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && f.Type() != reflect.TypeFor[adapter.Key]() {
			text += fmt.Sprintf(" %s=%s", v.Type().Field(i).Name, value(f.Interface()))
		}
	}
	return text
}

// value returns a value in a short form: instants as times of day, nodes as host lists, and
// profiles as users write them.
func value(x any) string {
	switch x := x.(type) {
	case core.Time:
		if x > now/2 && x < 2*now {
			return time.Unix(x, 0).UTC().Format(time.TimeOnly)
		}
		return fmt.Sprint(x)
	case float64:
		if x > float64(now)/2 {
			return value(core.Time(x))
		}
		return fmt.Sprint(x)
	case time.Time:
		return x.UTC().Format(time.TimeOnly)
	case []string:
		return nodesOf(x)
	case core.EP:
		return x.String()
	case adapter.Key:
		return fmt.Sprint(x.ID)
	case adapter.Job:
		return fmt.Sprintf("%d(%s)", x.ID, nodesOf(x.Nodes))
	case adapter.Reservation:
		return x.Name
	case adapter.Shape:
		return fmt.Sprintf("(%s, limit %d s, at least %d s)", nodesOf(x.On), x.Limit, x.Least)
	case []adapter.Part:
		var all []string
		for _, p := range x {
			all = append(all, fmt.Sprintf("%d(%s)", p.Job, nodesOf(p.Nodes)))
		}
		return strings.Join(all, "+")
	case *adapter.Programs:
		return fmt.Sprintf("%d", len(x.Begun))
	}
	if text := fmt.Sprint(x); !strings.ContainsAny(text, " \n") {
		return text
	} else {
		return fmt.Sprintf("%q", text)
	}
}

func reservation(r adapter.Reservation) string {
	text := fmt.Sprintf("%s: %s from %s to %s", r.Name, nodesOf(r.Nodes), value(r.Start), value(r.End))
	if r.Idle > 0 {
		text += fmt.Sprintf(", %d s at most without its job", r.Idle)
	}
	return text
}
