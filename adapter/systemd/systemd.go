// Package systemd notifies systemd of the state of a service, and feeds its watchdog.
//
//	service := systemd.New(log)
//	go service.Run(ctx)
//	err := service.Watch("the sidecar", loop.Alive, loop.Run)(ctx)
package systemd

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"
)

// Service notifies systemd (Type=notify, WatchdogSec=) when all loops serve, and feeds the watchdog
// as long as each of them answers. If a loop hangs, systemd restarts the process. A loop that waits
// for a lease, or whose batch system does not answer, does not hang.
type Service struct {
	tell  func(state string) // sends a state to systemd
	every time.Duration      // the watchdog's timeout; 0 means no watchdog
	log   hclog.Logger

	mu    sync.Mutex
	loops map[*loop]bool
}

// loop is a loop that must answer.
type loop struct {
	name     string
	alive    func(context.Context) error
	answered bool // the loop has answered at least once; before that it waits for its lease
}

// New returns the process's service, or nil if systemd does not expect notifications. The methods
// can be called on nil.
func New(log hclog.Logger) *Service {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("read systemd's watchdog setting failed", "error", err)
	}
	return &Service{every: every, log: log, loops: map[*loop]bool{}, tell: func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("notify systemd failed", "state", state, "error", err)
		}
	}}
}

// Watch wraps a loop's run function. While the returned function runs, the loop must answer. On a
// nil Service, Watch returns run unchanged.
func (s *Service) Watch(name string, alive, run func(context.Context) error) func(context.Context) error {
	if s == nil {
		return run
	}
	w := &loop{name: name, alive: alive}
	s.mu.Lock()
	s.loops[w] = true
	s.mu.Unlock()
	return func(ctx context.Context) error {
		defer func() {
			s.mu.Lock()
			delete(s.loops, w)
			s.mu.Unlock()
		}()
		return run(ctx)
	}
}

// patienceAtFirst is the timeout for a loop before the service is ready, if there is no watchdog.
const patienceAtFirst = 10 * time.Second

// Run notifies systemd until ctx ends. On a nil Service it only waits.
func (s *Service) Run(ctx context.Context) error {
	if s == nil {
		<-ctx.Done()
		return nil
	}
	defer s.tell(daemon.SdNotifyStopping)
	pause := s.every / 3
	if s.every == 0 {
		pause = patienceAtFirst
	}
	for ready := false; ctx.Err() == nil; {
		begun := time.Now()
		switch all, late := s.ask(ctx, pause); {
		case late != "":
			s.log.Error(fmt.Sprintf("%s does not answer: systemd will restart this process", late), "within", pause)
		case !ready && all:
			ready = true
			s.tell(daemon.SdNotifyReady)
		case ready && s.every > 0:
			s.tell(daemon.SdNotifyWatchdog)
		case ready:
			<-ctx.Done()
		}
		if !ready {
			continue // ask has waited for as long as the pause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause - min(pause, time.Since(begun))):
		}
	}
	return nil
}

// ask asks all loops, and waits for at most the time `patience`. `all` is true if each loop has
// answered at least once. `late` is the name of a loop that has answered before but does not answer
// now, or "".
func (s *Service) ask(ctx context.Context, patience time.Duration) (all bool, late string) {
	s.mu.Lock()
	loops := make([]*loop, 0, len(s.loops))
	for w := range s.loops {
		loops = append(loops, w)
	}
	s.mu.Unlock()
	within, end := context.WithTimeout(ctx, patience)
	defer end()
	if len(loops) == 0 { // perhaps no batch system answers yet
		<-within.Done()
		return true, ""
	}
	silent := make([]bool, len(loops))
	var asked sync.WaitGroup
	for i, w := range loops {
		asked.Go(func() { silent[i] = w.alive(within) != nil })
	}
	asked.Wait()
	all = true
	for i, w := range loops {
		w.answered = w.answered || !silent[i]
		all = all && w.answered
		if silent[i] && w.answered && ctx.Err() == nil {
			late = w.name
		}
	}
	return all, late
}
