package server

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
)

// ChangeWatcher watches OAR's database in the background.
type ChangeWatcher struct {
	Changes chan struct{}
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// NewChangeWatcher returns a ChangeWatcher that works until Close.
func NewChangeWatcher(conf conf.Conf, log hclog.Logger) *ChangeWatcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &ChangeWatcher{Changes: make(chan struct{}, 1), stop: cancel}
	w.stopped.Go(func() { watch(ctx, conf, log, w.call) })
	return w
}

// call sends to Changes unless a message is already waiting there.
func (w *ChangeWatcher) call() {
	select {
	case w.Changes <- struct{}{}:
	default:
	}
}

// Close ends the watch and waits for its end.
func (w *ChangeWatcher) Close() {
	w.stop()
	w.stopped.Wait()
}
