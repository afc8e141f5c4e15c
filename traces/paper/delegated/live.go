package delegated

import (
	"accordion/core"
	"accordion/core/moldable"
)

// Launcher answers views for one job as the launchers of a run do, but for clusters that are not simulated. It keeps memory between calls,
// so only one goroutine at a time may use it.
type Launcher struct{ launcher *launcher }

// NewLauncher returns a Launcher for a job on 1 to MaxClusters clusters, in the order of a run's clusters.
func NewLauncher(job Job, clusters int) *Launcher { return &Launcher{newLauncher(&job, clusters)} }

// Answer returns the application's request, given a view.
func (l *Launcher) Answer(view moldable.View, now core.Time) (moldable.Found, error) {
	copy(l.launcher.view, view)
	return l.launcher.find(now)
}

// Lasts returns how long the job runs on these hosts, in seconds.
func (j Job) Lasts(parts []moldable.Part) core.Time {
	l := launcher{job: &j, view: make(moldable.View, MaxClusters)}
	return l.run(parts)
}
