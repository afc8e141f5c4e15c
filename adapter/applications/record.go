package applications

import (
	"slices"

	kept "accordion/adapter/application" // its name is taken here by what a machine adds to it
	"accordion/shim/wire/launcher"
)

// What an application is made of.
type (
	durable = kept.Application
	piece   = kept.Part
	debt    = kept.Debt
	no      = kept.Refusal
)

// Record is an application as the journal keeps it.
type Record = kept.Record

// Where it is on its way.
const (
	fresh      = kept.Fresh
	subscribed = kept.Subscribed
	waiting    = kept.Waiting
	preparing  = kept.Preparing
	starting   = kept.Starting
	running    = kept.Running
	ending     = kept.Ending
)

// counter is the record of the last number given: numbers are not used again.
const counter = 0

// read makes a record an application again. What it had on clusters that are no longer there is gone: a request that used them, too.
func (m *Machine) read(r Record) (*application, error) {
	d, gone, err := kept.Read(r, func(name string) int {
		return slices.IndexFunc(m.clusters, func(c *cluster) bool { return c.Name == name })
	})
	if err != nil {
		return nil, err
	}
	a := newApplication(*d)
	switch {
	case gone && (a.Phase == starting || a.Phase == running):
		m.end(a, launcher.WhyLost, "a cluster of it was taken out of the configuration", 0)
	case gone && a.Phase != ending:
		a.Drop(a.Try)
		a.Phase, a.Tag, a.Walltime = subscribed, -1, 0
		for _, p := range a.Parts {
			p.Hosts = 0
		}
	case a.Phase == preparing: // presumed abort
		a.Drop(a.Try)
		a.Phase = waiting
	}
	return a, nil
}
