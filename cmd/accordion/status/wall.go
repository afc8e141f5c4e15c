package status

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	"accordion/cmd/accordion/live"
)

// watcher watches one of several clusters.
type watcher struct {
	command.Cluster
	pane   *live.Pane
	system *cluster.Cluster // nil if not connected
	j      journal.Reader   // nil if not open
	idle   atomic.Bool
}

// watchAll shows the clusters until ctx ends, or until no job is left on any of them. If a cluster cannot be read,
// its pane shows why, and the others continue.
func watchAll(ctx context.Context, all []command.Cluster, out io.Writer, column, every time.Duration, untilIdle bool) error {
	options := make([]live.Options, len(all))
	for i := range all {
		options[i] = live.Options{Title: all[i].Name, Begin: time.Now(), Column: column}
	}
	wall := live.NewWall(out, options...)
	defer wall.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watchers := make([]*watcher, len(all))
	for i := range all {
		watchers[i] = &watcher{Cluster: all[i], pane: wall.Pane(i)}
	}
	errs := make([]error, len(all))
	var watching sync.WaitGroup
	for i, w := range watchers {
		watching.Go(func() {
			defer w.close()
			errs[i] = w.watch(ctx, every, func() {
				for _, w := range watchers {
					if !untilIdle || !w.idle.Load() {
						return
					}
				}
				stop()
			})
			if errs[i] != nil { // the output is closed
				stop()
			}
		})
	}
	watching.Wait()
	return errors.Join(errs...)
}

// watch shows the cluster repeatedly until ctx ends, and calls `looked` after each time. It returns an error if the output fails.
func (w *watcher) watch(ctx context.Context, every time.Duration, looked func()) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := w.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		looked()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look reads the cluster and shows it once.
func (w *watcher) look(ctx context.Context) error {
	snapshot, report, err := w.read(ctx)
	w.idle.Store(err == nil && idle(snapshot))
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return w.pane.Say(err.Error())
	}
	return w.pane.Show(snapshot, report.Status)
}

// read reads the batch system and the journal, after connecting to them if necessary.
func (w *watcher) read(ctx context.Context) (*adapter.Snapshot, status.Report, error) {
	var err error
	if w.system == nil {
		if w.system, err = cluster.Connect(ctx, w.Config, hclog.NewNullLogger()); err != nil {
			return nil, status.Report{}, err
		}
	}
	if w.j == nil {
		if w.j, err = w.Journal(); err != nil {
			return nil, status.Report{}, err
		}
	}
	snapshot, err := w.system.System.Observe(ctx)
	if err != nil {
		return nil, status.Report{}, err
	}
	report, err := status.Read(w.j)
	return snapshot, report, err
}

func (w *watcher) close() {
	if w.system != nil {
		w.system.Close()
	}
	if w.j != nil {
		w.j.Close()
	}
}
