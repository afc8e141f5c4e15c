package delegated

import (
	"errors"
	"fmt"

	"accordion/core"
	"accordion/core/sched"
)

// ErrLocal is the reason of errors about a sched.Local.
var ErrLocal = errors.New("a cluster's own jobs come in the order of their ranks, with IDs of 0 and more, each once")

// local is the load that a cluster has of its own: jobs that do not belong to the applications of the RMS.
type local struct {
	sched.Local
	state   sched.Viewer   // the cluster's state in the current pass
	next    int            // index in Waiting of the next job to place
	drawn   bool           // the board has the occupation that state shows
	windows []sched.Window // the part of Windows that the current pass has not used
	own     core.JobID     // the last ID that an application or ghost got in state; these IDs count down from −1
}

// Local sets the load that a cluster has of its own from now on. The RMS keeps l. Errors are *Error.
func (r *RMS) Local(now core.Time, cluster int, l sched.Local) error {
	if cluster < 0 || cluster >= len(r.hosts) {
		return &Error{"local jobs", noID, fmt.Sprintf("cluster %d of %d, counted from 0", cluster, len(r.hosts)), ErrNoCluster}
	}
	if l.State != nil {
		if _, ok := l.State.Clone().(sched.Viewer); !ok {
			return &Error{"local jobs", noID, fmt.Sprintf("cluster %d: a clone of the policy's state does not show its view", cluster), ErrLocal}
		}
	}
	seen := map[core.JobID]bool{}
	for i, j := range l.Waiting {
		if j.ID < 0 || seen[j.ID] || i > 0 && j.Rank < l.Waiting[i-1].Rank {
			return &Error{"local jobs", j.ID, fmt.Sprintf("cluster %d", cluster), ErrLocal}
		}
		seen[j.ID] = true
	}
	if err := r.at(now, "local jobs", noID); err != nil {
		return err
	}
	r.fromOutside()
	for len(r.locals) <= cluster {
		r.locals = append(r.locals, nil)
	}
	r.locals[cluster] = nil
	if l.State != nil {
		r.locals[cluster] = &local{Local: l}
	}
	r.want()
	return nil
}

// beginLocals begins a pass with the clusters' own jobs that are running.
func (r *RMS) beginLocals() {
	for c, l := range r.locals {
		if l != nil {
			l.state, l.next, l.drawn, l.own = l.State.Clone().(sched.Viewer), 0, false, 0
			l.state.Nodes(r.now, core.Machine{Nodes: r.hosts[c]})
			l.windows = append(l.windows[:0], l.Windows...)
		}
	}
}

// placeLocals places the clusters' own jobs whose ranks are before a second.
func (r *RMS) placeLocals(before core.Time) {
	for c, l := range r.locals {
		if l == nil {
			continue
		}
		changed := !l.drawn
		for ; l.next < len(l.Waiting) && l.Waiting[l.next].Rank < before; l.next++ {
			l.state.Submit(r.now, l.Waiting[l.next].Job)
			changed = true
		}
		if changed {
			r.points = l.state.View(r.now).Points(r.now, r.points[:0])
			r.board.Put(c, r.points)
			l.drawn = true
		}
	}
}

// addRunning adds to a cluster's own state hosts that an application or ghost occupies in [from, to).
func (r *RMS) addRunning(cluster int, from, to core.Time, hosts int) {
	if l := r.local(cluster); l != nil && from < to {
		l.own--
		l.state.Running(r.now, core.Allocation{Job: l.own, Start: from, EP: core.EP{{Duration: to - from, Nodes: hosts}}})
	}
}

// addWaiting adds a request that begins at its estimate to a cluster's own state.
func (r *RMS) addWaiting(cluster int, at, d core.Time, hosts int) {
	if l := r.local(cluster); l != nil {
		l.own--
		l.state.Submit(r.now, core.Job{ID: l.own, Submit: r.now, Begin: at, Choices: []core.EP{{{Duration: d, Nodes: hosts}}}})
	}
}

func (r *RMS) local(cluster int) *local {
	if cluster < len(r.locals) {
		return r.locals[cluster]
	}
	return nil
}
