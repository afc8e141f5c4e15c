package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/shim/wire"
)

// Script is what a job does. It returns soon after its context ends (the job was ended); an error ends the job as
// failed.
type Script func(ctx context.Context, h *Handle) error

// StepFunc answers a job's request for its next step's nodes; uid is its owner's.
type StepFunc func(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error)

// ErrNoSidecar is what Handle.Step returns when nobody answers requests.
var ErrNoSidecar = errors.New("no sidecar answers")

// Handle is a running job as seen from inside.
type Handle struct {
	system *System
	job    *job // under the system's lock: a restart writes all its fields anew

	// What does not change while the script runs.
	key     adapter.Key
	uid     uint32
	signals <-chan string
}

// Job names the job.
func (h *Handle) Job() adapter.Key { return h.key }

// Nodes is what the job holds now.
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

// Hosts is the job's hosts file as last published.
func (h *Handle) Hosts() string {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	return h.job.hosts
}

// Signals are the signals that the job's script gets. One that nobody waits for is dropped after 16.
func (h *Handle) Signals() <-chan string { return h.signals }

// Work passes d of the batch system's time, or less when the job is ended: then it returns the context's error.
func (h *Handle) Work(ctx context.Context, d time.Duration) error {
	return adapter.Wait(ctx, h.system.clock, d)
}

// Step says that the current step is over and waits for the next one's nodes, as `accordion step` does. Version and
// Job of the request are filled in.
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

// Phases is the script of an application that works so long in each step, and asks for the next step in between,
// whatever the answer.
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

// launch runs a job's script in a goroutine of its own; its return ends the job, unless that was ended otherwise.
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
