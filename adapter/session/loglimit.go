package session

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// How many warnings of refused peers are logged within logWindow: of one client, and of all. A crowd, or one peer that comes again and
// again, would fill the disk otherwise.
const (
	logWindow    = time.Minute
	maxPerClient = 5
	maxWarnings  = 60
)

// LogLimit bounds how often something is logged that any peer can cause. Its zero value is ready for use.
type LogLimit struct {
	mu      sync.Mutex
	until   time.Time // the window's end
	of      map[string]int
	all     int
	leftOut int // since the last line
}

// Warn logs a warning that a client caused, or leaves it out. The next line that is logged says how many were left out.
func (l *LogLimit) Warn(log hclog.Logger, client, message string, args ...any) {
	if ok, leftOut := l.take(client, time.Now()); ok {
		if leftOut > 0 {
			args = append(args, "left_out", leftOut)
		}
		log.Warn(message, args...)
	}
}

// take reports whether one more line may be logged, and how many were left out before it.
func (l *LogLimit) take(client string, now time.Time) (ok bool, leftOut int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.until) {
		l.until, l.all, l.of = now.Add(logWindow), 0, map[string]int{}
	}
	if l.all >= maxWarnings || l.of[client] >= maxPerClient {
		l.leftOut++
		return false, 0
	}
	l.all++
	l.of[client]++
	leftOut, l.leftOut = l.leftOut, 0
	return true, leftOut
}
