package delegated

import (
	"accordion/core"
	"accordion/core/moldable"
)

// Launcher answers views for one job as in a run, where the clusters are not simulated. It keeps memory between its calls, of which one may
// be under way at a time.
type Launcher struct{ launcher *launcher }

// NewLauncher is for a job on so many clusters, from 1 to MaxClusters: those of a run, by their order.
func NewLauncher(job Job, clusters int) *Launcher { return &Launcher{newLauncher(&job, clusters)} }

// Answer is what the application wants of a view.
func (l *Launcher) Answer(view moldable.View, now core.Time) (moldable.Found, error) {
	copy(l.launcher.view, view)
	return l.launcher.find(now)
}

// Lasts is how long the job runs on these hosts, in seconds.
func (j Job) Lasts(parts []moldable.Part) core.Time {
	l := launcher{job: &j, view: make(moldable.View, MaxClusters)}
	return l.run(parts)
}
