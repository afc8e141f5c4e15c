package plan

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// makePlan makes a plan and applies it. It panics if Make changed its inputs.
func makePlan(in Input) *World {
	before := deepCopy(reflect.ValueOf(in)).Interface()
	v := Make(in)
	if d := diffInputs(before, in); d != "" {
		panic("Make changed its inputs (-before +after):\n" + d)
	}
	v.Apply()
	return v
}

func diffInputs(before, after any) string {
	return cmp.Diff(before, after, cmp.AllowUnexported(managed.ReleasedNodes{}), cmpopts.IgnoreFields(Input{}, "OutOfService", "Fresh", "OverLimit"),
		cmpopts.IgnoreFields(managed.Question{}, "Reply", "Gone"), cmpopts.EquateErrors())
}

// deepCopy copies everything that exported fields, pointers, slices and maps reach.
func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(deepCopy(v.Elem()))
		return p
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		s.Set(v)
		for i := range v.NumField() {
			if f := s.Field(i); f.CanSet() {
				f.Set(deepCopy(v.Field(i)))
			}
		}
		return s
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(deepCopy(v.Index(i)))
		}
		return s
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, key := range v.MapKeys() {
			m.SetMapIndex(key, deepCopy(v.MapIndex(key)))
		}
		return m
	default:
		return v
	}
}

// TestMakeChangesNoneOfItsInputs draws pools of two kinds of nodes with ordinary, evolving and
// moldable jobs. In some pools promises have to be moved, applications can continue early, and jobs
// have nodes of both kinds. makePlan compares the inputs before and after.
func TestMakeChangesNoneOfItsInputs(t *testing.T) {
	moved, early, spanning := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		s := newSituation(pick("nodes", 6, 12), nil)
		s.Settings.Advance, s.Settings.Protect = true, 2
		for i := range s.Snapshot.Nodes {
			s.Snapshot.Nodes[i].Kind = []string{"thin", "fat"}[i%2]
		}
		for range pick("evolving", 2, 3) {
			var ep core.EP
			for range pick("steps", 1, 3) {
				ep = append(ep, core.Step{Duration: core.Time(pick("seconds", 20, 60)), Nodes: pick("size", 1, 2)})
			}
			s.runsEvolving(ep, core.Time(pick("began", 950, 1000)), rapid.Bool().Draw(t, "asks"))
		}
		if n := len(s.free) - pick("free", 0, 2); n > 0 {
			s.runsOrdinary(n, core.Time(pick("left", -50, 50)))
		}
		for range pick("waiting", 0, 3) {
			r := s.waits(fmt.Sprintf("%dx40s|%dx30s", pick("few", 1, 3), pick("many", 4, 6)))
			r.Seen.Kinds = rapid.SampledFrom([][]string{nil, {"thin"}, {"fat"}}).Draw(t, "kinds")
		}
		if rapid.Bool().Draw(t, "reservation") {
			s.Snapshot.Reservations = []adapter.Reservation{{Name: "class", Nodes: []string{"n1", "n2"}, Start: 1030, End: 1060}}
		}
		for range 2 {
			v := s.plan()
			for _, n := range v.Notes {
				switch n.Text {
				case "promise moved":
					moved++
				case "goes on early":
					early++
				}
			}
			if len(v.machines()) > 1 {
				spanning++
			}
			s.Now++
		}
	})
	if moved == 0 || early == 0 || spanning == 0 {
		t.Errorf("promises moved %d times, jobs went on early %d times, the pool was divided %d times; each must happen", moved, early, spanning)
	}
}

// runsEvolving adds an evolving job in its first step, which began at the second `began`. If asks
// is true, the application waits at the end of that step.
func (s *situation) runsEvolving(ep core.EP, began core.Time, asks bool) {
	r := s.waits("1x1s")
	r.Request, r.Choices = "ep=", []core.EP{ep}
	r.Phase, r.Planned, r.Began, r.Nodes, r.Promise = managed.Running, began, began, s.take(ep[0].Nodes), make([]core.Time, len(ep))
	r.SetPromise(began, ep)
	r.PlannedEnd = r.Due()
	r.Seen.State, r.Seen.Nodes, r.Seen.Held = adapter.Running, r.Nodes, false
	if asks {
		r.Question = &managed.Question{}
	}
}
