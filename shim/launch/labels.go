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

// sharedWriter is a writer for the lines of several parts. It writes each line as a whole.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *sharedWriter) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// labels converts the output of one part, so that task numbers count over all parts.
type labels struct {
	first    int // number of the part's first task
	width    int // number of digits of the largest task number of all parts
	label    bool
	messages srun.Messages
}

// `labeled` matches lines with srun's labels, such as "3: text". `ended` matches srun's lines about the end of tasks,
// such as "srun: error: n3: tasks 0-1: Killed".
var (
	labeled = regexp.MustCompile(`^ *([0-9]+): `)
	ended   = regexp.MustCompile(`^(srun: error: \S+: tasks? )([0-9,\-]+)(: )`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// relabel converts the label of a line that a task has printed.
func (v *labels) relabel(line []byte) []byte {
	m := labeled.FindSubmatchIndex(line)
	if !v.label || m == nil {
		return line
	}
	n, err := strconv.Atoi(string(line[m[2]:m[3]]))
	if err != nil {
		return line
	}
	return fmt.Appendf(nil, "%*d: %s", v.width, n+v.first, line[m[1]:])
}

// convert converts a line of srun's standard error. `own` reports whether srun itself wrote the line.
func (v *labels) convert(line []byte) (converted []byte, own bool) {
	text := string(line)
	if !strings.HasPrefix(text, "srun: ") {
		return v.relabel(line), false
	}
	v.messages.Add(strings.TrimRight(text, "\n"))
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
