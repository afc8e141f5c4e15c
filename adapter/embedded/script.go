package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/shim/wire"
)

// Script is the program of a job. When the job is ended, ctx ends, and the script must return soon. If
// the script returns an error, the job fails.
type Script func(ctx context.Context, h *Handle) error

// StepFunc answers a job's request for the nodes of its next step. uid is the user ID of the job's owner.
type StepFunc func(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error)

// ErrNoSidecar is returned by Handle.Step if there is no StepFunc.
var ErrNoSidecar = errors.New("no sidecar answers")

// Handle is a running job as its script sees it.
type Handle struct {
	system *System
	job    *job // accessed only under the system's lock, because a restart replaces all fields of the job

	// These do not change while the script runs.
	key     adapter.Key
	uid     uint32
	signals <-chan string
}

// Job returns the key of the job.
func (h *Handle) Job() adapter.Key { return h.key }

// Nodes returns the nodes that the job holds now.
func (h *Handle) Nodes() []string {
	h.system.enter()
	defer h.system.leave()
	return h.system.names(h.job.nodes)
}

// Print adds a line to the job's output.
func (h *Handle) Print(line string) {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	h.job.output = append(h.job.output, line)
}

// Hosts returns the content of the job's hosts file, as Publish last wrote it.
func (h *Handle) Hosts() string {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	return h.job.hosts
}

// Signals returns the channel of signals to the job's script. It buffers 16 signals. Further signals are lost.
func (h *Handle) Signals() <-chan string { return h.signals }

// Work waits until d has passed on the batch system's clock. If the job is ended before that, Work returns the context's error.
func (h *Handle) Work(ctx context.Context, d time.Duration) error {
	return adapter.Wait(ctx, h.system.clock, d)
}

// Step ends the current step and waits for the nodes of the next one, as `accordion step` does. The
// caller need not set Version and Job in the request.
func (h *Handle) Step(ctx context.Context, r wire.Request) (wire.Reply, error) {
	h.system.mu.Lock()
	ask := h.system.step
	h.system.mu.Unlock()
	if ask == nil {
		return wire.Reply{}, ErrNoSidecar
	}
	r.Version, r.Job = wire.Version, int64(h.key.ID)
	return ask(ctx, h.uid, r)
}

// Phases returns the script of an application that works for the given time in each step. Between two
// steps, the application asks for the nodes of the next step. It continues even if it does not get
// them.
func Phases(work ...time.Duration) Script {
	return func(ctx context.Context, h *Handle) error {
		for i, d := range work {
			if i > 0 {
				reply, err := h.Step(ctx, wire.Request{})
				if err != nil {
					h.Print(fmt.Sprintf("step %d: %v", i+1, err))
				} else {
					h.Print(fmt.Sprintf("step %d: %s, %d nodes: %s", reply.Step, reply.Status, reply.Count, reply.Nodes))
				}
			}
			if err := h.Work(ctx, d); err != nil {
				return err
			}
		}
		return nil
	}
}

// launch runs a job's script in its own goroutine. When the script returns, the job ends, unless it has already been ended.
func (s *System) launch(j *job) {
	if s.closed {
		return
	}
	ctx, kill := context.WithCancel(s.context)
	j.kill = kill
	j.signals = make(chan string, 16)
	run, script := j.run, j.spec.Script
	handle := &Handle{system: s, job: j, key: j.key, uid: j.spec.UID, signals: j.signals}
	s.workers.Go(func() {
		defer kill()
		err := script(ctx, handle)
		s.enter()
		defer s.leave()
		if j.run != run || j.state != adapter.Running || s.context.Err() != nil {
			return
		}
		if err != nil {
			j.output = append(j.output, err.Error())
			s.finish(j, "FAILED")
			return
		}
		s.finish(j, "COMPLETED")
	})
}
