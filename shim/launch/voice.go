package launch

import (
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
