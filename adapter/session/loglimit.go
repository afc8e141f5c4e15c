package session

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Bounds on the warnings about refused peers that are logged within logWindow, per client and in
// total. Otherwise many peers, or one that tries again and again, would fill the disk.
const (
	logWindow    = time.Minute
	maxPerClient = 5
	maxWarnings  = 60
)

// A LogLimit bounds how often the server logs lines that any peer can cause. The zero value is
// ready to use.
type LogLimit struct {
	mu      sync.Mutex
	until   time.Time // the end of the window
	of      map[string]int
	all     int
	leftOut int // lines left out since the last logged one
}

// Warn logs a warning that a client caused, or leaves it out. The next logged line has the number
// of lines left out.
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
