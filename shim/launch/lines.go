package launch

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"accordion/shim/srun"
)

// outlet is where the lines of several parts come out, each in one piece.
type outlet struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// longest is how much of a line without an end is held back, in bytes.
const longest = 64 << 10

// lines is an io.Writer that passes whole lines on, and what is left at the end. It belongs to one goroutine.
type lines struct {
	pass func(line []byte) error // with its end, if it has one
	raw  bool                    // pass everything on as it comes
	held []byte
}

func (l *lines) Write(p []byte) (int, error) {
	if l.raw {
		return len(p), l.pass(p)
	}
	l.held = append(l.held, p...)
	for {
		end := bytes.IndexByte(l.held, '\n') + 1
		if end == 0 && len(l.held) < longest {
			return len(p), nil
		}
		if end == 0 {
			end = len(l.held)
		}
		if err := l.pass(l.held[:end]); err != nil {
			return 0, err
		}
		l.held = append(l.held[:0], l.held[end:]...)
	}
}

// flush passes on what has no end.
func (l *lines) flush() {
	if len(l.held) > 0 {
		_ = l.pass(l.held) // nobody is left to be told
		l.held = nil
	}
}

// voice is one part's output: its tasks' numbers become those of the whole.
type voice struct {
	first int // number of its first task
	width int // of the largest number of all, in digits
	label bool
	said  srun.Said
}

// numbered are srun's labels, "3: text", and its lines on how tasks ended, "srun: error: n3: tasks 0-1: Killed".
var (
	labelled = regexp.MustCompile(`^ *([0-9]+): `)
	ended    = regexp.MustCompile(`^(srun: error: \S+: tasks? )([0-9,\-]+)(: )`)
	digits   = regexp.MustCompile(`[0-9]+`)
)

// relabel gives a line of a task its number in the whole.
func (v *voice) relabel(line []byte) []byte {
	m := labelled.FindSubmatchIndex(line)
	if !v.label || m == nil {
		return line
	}
	n, err := strconv.Atoi(string(line[m[2]:m[3]]))
	if err != nil {
		return line
	}
	return fmt.Appendf(nil, "%*d: %s", v.width, n+v.first, line[m[1]:])
}

// hear takes in a line of srun's standard error. own says whether srun itself says it.
func (v *voice) hear(line []byte) (heard []byte, own bool) {
	text := string(line)
	if !strings.HasPrefix(text, "srun: ") {
		return v.relabel(line), false
	}
	v.said.Hear(strings.TrimRight(text, "\n"))
	if m := ended.FindStringSubmatch(text); m != nil {
		tasks := digits.ReplaceAllStringFunc(m[2], func(n string) string {
			local, err := strconv.Atoi(n)
			if err != nil {
				return n
			}
			return strconv.Itoa(local + v.first)
		})
		text = m[1] + tasks + m[3] + text[len(m[0]):]
	}
	return []byte(text), true
}
