package server

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
)

// Herald watches OAR's database in the background.
type Herald struct {
	Changes chan struct{}
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// NewHerald returns a Herald that watches until Close.
func NewHerald(conf conf.Conf, log hclog.Logger) *Herald {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Herald{Changes: make(chan struct{}, 1), stop: cancel}
	h.stopped.Go(func() { watch(ctx, conf, log, h.call) })
	return h
}

// call leaves a message, unless there is one that nobody has taken yet: that tells as much.
func (h *Herald) call() {
	select {
	case h.Changes <- struct{}{}:
	default:
	}
}

// Close ends the watch and waits for its end.
func (h *Herald) Close() {
	h.stop()
	h.stopped.Wait()
}
