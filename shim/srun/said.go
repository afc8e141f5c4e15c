package srun

import (
	"regexp"
	"strings"
)

// aboutTasks are srun's lines on how tasks ended: "srun: error: n3: tasks 0-1: Exited with exit code 3".
var aboutTasks = regexp.MustCompile(`^srun: error: (\S+): tasks? ([0-9,\-]+): `)

// Said is what srun has said of itself on standard error, line by line. The zero value is ready.
type Said struct {
	ran bool   // tasks were there, since some have ended
	why string // its first complaint that is not about tasks
}

// Hear takes in one line, and says whether it is about how tasks ended.
func (s *Said) Hear(line string) (ended bool) {
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

// WhyNot says why srun, which has failed, started no task; "" when its tasks ran.
func (s *Said) WhyNot() string {
	if s.ran {
		return ""
	}
	return s.why
}
