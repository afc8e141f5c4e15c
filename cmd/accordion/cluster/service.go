package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"
)

// A service is this process as systemd sees it (Type=notify, WatchdogSec=): it is told when all loops serve, and that they live as long as
// each of them answers. A loop that hangs ends that, and systemd starts the process anew. A loop that waits for a lease, or whose batch system
// does not answer, does not hang.
type service struct {
	tell  func(state string) // to systemd
	every time.Duration      // the watchdog's patience; 0: there is none
	log   hclog.Logger

	mu    sync.Mutex
	loops map[*watchdogTarget]bool
}

// watchdogTarget is a loop that is asked.
type watchdogTarget struct {
	name     string
	alive    func(context.Context) error
	answered bool // once at least: before that it waits for its lease
}

// underSystemd is the process's service; nil where it is none of systemd's, or is not to say anything.
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

// watched is a loop's Run, and the loop is asked from now on until it has ended. Of a nil service it is Run.
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

// patienceAtFirst is for how long a loop is asked before the service is ready, where no watchdog says.
const patienceAtFirst = 10 * time.Second

// run tells systemd what there is to tell until ctx ends. A nil service has nobody to tell.
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
			continue // they were asked for as long as the pause is, or nobody is there to be asked yet
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause - min(pause, time.Since(begun))):
		}
	}
	return nil
}

// ask asks all loops, each of which has so long to answer. all says that each of them does, and that there are some; late is the name of
// one that has answered before and does not now, "" when there is none.
func (s *service) ask(ctx context.Context, patience time.Duration) (all bool, late string) {
	s.mu.Lock()
	loops := make([]*watchdogTarget, 0, len(s.loops))
	for w := range s.loops {
		loops = append(loops, w)
	}
	s.mu.Unlock()
	within, end := context.WithTimeout(ctx, patience)
	defer end()
	if len(loops) == 0 { // it may be that no batch system answers yet
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
