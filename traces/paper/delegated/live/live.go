package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"accordion/core"
	"accordion/traces/files"
	"accordion/traces/paper/delegated"
)

// Settings of the sidecar, in seconds of its clock, as in the other figures.
const (
	fairStart = 5
	timer     = 1
)

// Live describes a run.
type Live struct {
	Program  string // path of accordion
	Clusters int    // number of clusters with delegated.Hosts hosts each, 1 to delegated.MaxClusters
	Pace     int    // seconds of the clusters' clock per second, 1 to 1000

	// Done, unless nil, is called with the number of launchers that have ended. Only one goroutine calls it at a time.
	Done func(launchers int)
}

// Counted is the result of a run.
type Counted struct {
	Bytes     int64            `json:"bytes"`     // size of all messages in both directions, including the length prefix of each message
	Types     map[string]int64 `json:"types"`     // bytes by the type of message
	Sidecar   float64          `json:"sidecar"`   // processor time in seconds, from before the first launcher to the end of the last one
	Launchers float64          `json:"launchers"` // processor time of all launchers in seconds, each from its "welcome" message on
	Makespan  core.Time        `json:"makespan"`  // until the end of the last launcher, in seconds of the clusters' clock
	Failed    int              `json:"failed"`    // launchers with an exit status other than 0, most of which used up their walltime
	Why       string           `json:"why,omitempty"`
}

// patience is the timeout for the start and the end of the sidecar, and for the end of the launchers.
const patience = time.Minute

// Run runs the jobs once. It makes a temporary folder and removes it, and ends all processes that it started, also when ctx ends.
func (l Live) Run(ctx context.Context, jobs []delegated.Job) (c Counted, err error) {
	if l.Clusters < 1 || l.Clusters > delegated.MaxClusters || l.Pace < 1 || l.Pace > 1000 {
		return c, fmt.Errorf("%d clusters at a pace of %d: there are 1 to %d, at a pace of 1 to 1000", l.Clusters, l.Pace, delegated.MaxClusters)
	}
	simulated, err := l.setup().Run(jobs)
	if err != nil {
		return c, err
	}
	folder, err := os.MkdirTemp("", "accordion-fig12-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "jobs")
	if err := files.Save(files.File{Path: path, Write: func(w io.Writer) error { return delegated.Write(w, jobs) }}); err != nil {
		return c, err
	}
	// The limit is ten times the expected time, in case something hangs.
	most := patience + 10*time.Duration(simulated.Makespan)*time.Second/time.Duration(l.Pace)
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the run was not over after %v", most))
	defer cancel()
	s, err := l.serve(ctx, folder)
	if err != nil {
		return c, cause(ctx, err)
	}
	defer func() { err = errors.Join(err, s.end()) }()
	begun, err := s.used()
	if err != nil {
		return c, err
	}
	crew := crew{live: l, jobs: path, socket: s.socket}
	start := time.Now()
	crew.run(ctx, jobs)
	c.Makespan = core.Time(time.Since(start).Seconds() * float64(l.Pace))
	c.Launchers, c.Failed, c.Why = crew.seconds, crew.failed, crew.why
	if ctx.Err() != nil {
		return c, context.Cause(ctx)
	}
	ended, err := s.used()
	if err != nil {
		return c, err
	}
	c.Sidecar = ended - begun
	c.Types, err = s.bytes(ctx)
	for _, n := range c.Types {
		c.Bytes += n
	}
	return c, err
}

func (l Live) setup() delegated.Setup {
	return delegated.Setup{Clusters: l.Clusters, FairStart: fairStart, Timer: timer}
}

// cause returns why ctx ended, or err if ctx has not ended.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
