package view

import (
	"reflect"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// If Same did not compare a field, users would not see a change of that field.
func TestSameComparesEveryField(t *testing.T) {
	for _, other := range []any{
		int64(1), core.JobID(1), 1, "x", core.EP{{Duration: 1, Nodes: 1}}, &Limit{Nodes: 1}, []adapter.RankPart{{}}, []Job{{}}, &AllowedSizes{},
	} {
		for _, c := range []struct {
			zero any
			same func(changed any) bool
		}{
			{Job{}, func(x any) bool { a, b := Job{}, x.(Job); return a.Same(&b) }},
			{Entry{}, func(x any) bool { a, b := Entry{}, x.(Entry); return a.Same(&b) }},
			{Status{}, func(x any) bool { a, b := Status{}, x.(Status); return a.Same(&b) }},
		} {
			if !c.same(c.zero) {
				t.Errorf("%T is not the same as itself", c.zero)
			}
			for i := range reflect.TypeOf(c.zero).NumField() {
				changed := reflect.New(reflect.TypeOf(c.zero)).Elem()
				f := reflect.TypeOf(c.zero).Field(i)
				if f.Type != reflect.TypeOf(other) || f.Name == "At" {
					continue
				}
				changed.Field(i).Set(reflect.ValueOf(other))
				if c.same(changed.Interface()) {
					t.Errorf("%T: a change of %s is not seen", c.zero, f.Name)
				}
			}
		}
	}
}
