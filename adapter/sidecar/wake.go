package sidecar

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// wakeAgain is the pause before a node that was told to boot and still sleeps is told again.
const wakeAgain = 30 * time.Second

// wakeMargin is how many seconds longer than it may take to boot a node is woken before it is needed.
const wakeMargin core.Time = 10

// wake has the nodes boot that jobs need soon: those that come with a step, and those on which a job is to start. A batch system
// wakes no node because it is reserved.
func (s *Sidecar) wake(ctx context.Context, v *plan.World) {
	waker, ok := s.acts.System.(adapter.Waker)
	if !ok || waker.BootTime() <= 0 {
		return
	}
	soon := v.Now + waker.BootTime() + wakeMargin
	var nodes []string
	for _, r := range s.sorted() {
		if r.Course == nil || r.Course.Err != nil || r.Phase == managed.Ending {
			continue
		}
		for _, l := range r.Course.Layers {
			if l.From <= soon && (l.Step > r.Step || r.Phase == managed.Waiting) {
				nodes = append(nodes, l.Nodes...)
			}
		}
	}
	now := s.clock.Now()
	for n := range s.woken {
		if !s.asleep(n) { // should it be put to sleep again, it is woken at once
			delete(s.woken, n)
		}
	}
	nodes = slices.DeleteFunc(nodes, func(n string) bool { return !s.asleep(n) || now.Before(s.woken[n].Add(wakeAgain)) })
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(nodes) == 0 {
		return
	}
	for _, n := range nodes {
		s.woken[n] = now
	}
	s.beside(func() error { return s.acts.Wake(ctx, waker, nodes) }, func(error) {})
}

// asleep says whether a node does not run, by the newest reading.
func (s *Sidecar) asleep(node string) bool {
	return slices.ContainsFunc(s.snapshot.Nodes, func(n adapter.Node) bool { return n.Name == node && n.Asleep })
}
