package adapter

import (
	"fmt"
	"strings"

	"accordion/core"
	"accordion/core/mold"
)

// ParseRequest reads what a job asks of the sidecar: "ep=…" or "mold=…".
func ParseRequest(text string) ([]core.EP, error) {
	if ep, ok := strings.CutPrefix(text, "ep="); ok {
		return mold.ParseProfiles(ep)
	}
	if m, ok := strings.CutPrefix(text, "mold="); ok {
		return mold.Parse(m)
	}
	return nil, fmt.Errorf("%.40q is neither ep=… nor mold=…", text)
}

// RequestOf finds the request in a job: in the mark that only root can write, else in its comment, whose first word it
// must be. It is empty for an ordinary job.
func RequestOf(j *Job) string {
	if request, ok := strings.CutPrefix(j.Mark, MarkPrefix); ok {
		return request
	}
	word, _, _ := strings.Cut(j.Comment, " ")
	if strings.HasPrefix(word, "ep=") || strings.HasPrefix(word, "mold=") {
		return word
	}
	return ""
}
