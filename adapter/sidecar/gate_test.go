package sidecar

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/journal"
)

// gatedSystem is a batch system with a gate, and a journal that keeps nothing.
type gatedSystem struct {
	adapter.BatchSystem
	adapter.Gatekeeper
	actions.Journal
	told  []bool
	fails bool
}

func (d *gatedSystem) Open(_ context.Context, open bool) error {
	d.told = append(d.told, open)
	if d.fails {
		return errors.New("no answer")
	}
	return nil
}
func (*gatedSystem) Begin(journal.Intent) (int64, error)  { return 1, nil }
func (*gatedSystem) Finish(int64, time.Time, error) error { return nil }

func TestTheGateIsSetOnlyWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &gatedSystem{}
		acts := &actions.Caller{System: d, Journal: d, Meter: actions.NoMeter{}, Clock: adapter.Wall{}, Log: hclog.NewNullLogger(), Deadline: time.Minute}
		var over func()
		k := newGateKeeper(acts, true, adapter.Wall{}, func(do func() error, then func(error)) {
			err := do()
			over = func() { then(err) }
		})
		tend := func(open bool) { k.set(t.Context(), open) }
		tend(true)
		tend(false) // the first call is under way
		over()
		tend(true)
		tend(false)
		over()
		if want := []bool{true, false}; !slices.Equal(d.told, want) {
			t.Errorf("it was set to %v, want %v", d.told, want)
		}
		d.told, d.fails = nil, true
		tend(true)
		over()
		tend(true) // too early after the failed call
		time.Sleep(gateRetry)
		d.fails = false
		tend(true)
		over()
		tend(true)
		if want := []bool{true, true}; !slices.Equal(d.told, want) {
			t.Errorf("after a failure it was set to %v, want %v", d.told, want)
		}
		d.told = nil
		other := newGateKeeper(acts, false, adapter.Wall{}, func(do func() error, then func(error)) { then(do()) })
		if other.set(t.Context(), true); d.told != nil {
			t.Errorf("although not all jobs are the sidecar's it was set to %v", d.told)
		}
	})
}
