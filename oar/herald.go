package oar

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
)

var _ adapter.Herald = (*System)(nil)

// Changes has a message soon after a job or a node of OAR's has another state, so that a submission is noticed at once.
func (s *System) Changes() <-chan struct{} { return s.herald.changes }

// Identity names the queue whose jobs are managed, for everybody who can reach it alike.
func (s *System) Identity(context.Context) (string, error) {
	c := s.db.conf
	return fmt.Sprintf("oar-%s-%d-%s-%s", c.Host, c.Port, c.Database, s.queue), nil
}

// herald watches OAR's database in the background.
type herald struct {
	changes chan struct{}
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newHerald(conf Conf, log hclog.Logger) *herald {
	ctx, cancel := context.WithCancel(context.Background())
	h := &herald{changes: make(chan struct{}, 1), stop: cancel}
	h.stopped.Go(func() { watch(ctx, conf, log, h.call) })
	return h
}

// call leaves a message, unless there is one that nobody has taken yet: that tells as much.
func (h *herald) call() {
	select {
	case h.changes <- struct{}{}:
	default:
	}
}

func (h *herald) close() {
	h.stop()
	h.stopped.Wait()
}
