package serve

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"
)

// A service notifies systemd (Type=notify, WatchdogSec=) when all loops serve, and feeds the watchdog as long as each
// of them answers. If a loop hangs, systemd restarts the process. A loop that waits for a lease, or whose batch
// system does not answer, does not hang.
type service struct {
	tell  func(state string) // sends a state to systemd
	every time.Duration      // the watchdog's timeout; 0: no watchdog
	log   hclog.Logger

	mu    sync.Mutex
	loops map[*watchdogTarget]bool
}

// watchdogTarget is a loop that must answer.
type watchdogTarget struct {
	name     string
	alive    func(context.Context) error
	answered bool // at least once; before that it waits for its lease
}

// underSystemd returns the process's service, or nil if systemd does not expect notifications.
func underSystemd(log hclog.Logger) *service {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("systemd's watchdog is not fed", "error", err)
	}
	return &service{every: every, log: log, loops: map[*watchdogTarget]bool{}, tell: func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("systemd was not told", "state", state, "error", err)
		}
	}}
}

// watched returns a loop's run function. While it runs, the loop must answer. For nil it returns run unchanged.
func (s *service) watched(name string, alive, run func(context.Context) error) func(context.Context) error {
	if s == nil {
		return run
	}
	w := &watchdogTarget{name: name, alive: alive}
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

// run notifies systemd until ctx ends. For nil it only waits.
func (s *service) run(ctx context.Context) error {
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
			s.log.Error(fmt.Sprintf("%s does not answer: unless it does, systemd starts this process anew", late), "within", pause)
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

// ask asks all loops and waits for at most patience. all reports that each of them has answered at least once. late
// is the name of a loop that has answered before and does not now, or "".
func (s *service) ask(ctx context.Context, patience time.Duration) (all bool, late string) {
	s.mu.Lock()
	loops := make([]*watchdogTarget, 0, len(s.loops))
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
	atOnce(len(loops), func(i int) { silent[i] = loops[i].alive(within) != nil })
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
