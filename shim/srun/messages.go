package srun

import (
	"regexp"
	"strings"
)

// aboutTasks matches srun's lines about the end of tasks, such as "srun: error: n3: tasks 0-1: Exited with exit code 3".
var aboutTasks = regexp.MustCompile(`^srun: error: (\S+): tasks? ([0-9,\-]+): `)

// Messages collects what srun itself prints on standard error. The zero value is ready.
type Messages struct {
	ran bool   // tasks have run, because some have ended
	why string // the first error that is not about tasks
}

// Add takes one line. It reports whether the line is about the end of tasks.
func (s *Messages) Add(line string) (ended bool) {
	if aboutTasks.MatchString(line) {
		s.ran = true
		return true
	}
	for _, begin := range []string{"srun: error: ", "srun: fatal: "} {
		if why, found := strings.CutPrefix(line, begin); found && s.why == "" {
			s.why = strings.TrimSpace(why)
		}
	}
	return false
}

// StartError returns why an srun that failed has started no task, or "" if its tasks ran.
func (s *Messages) StartError() string {
	if s.ran {
		return ""
	}
	return s.why
}
