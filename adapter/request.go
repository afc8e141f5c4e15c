package adapter

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/moldable"
)

// ParseRequest reads what a job asks of the sidecar: "ep=…" or "mold=…"; and what stands for a job that asks nothing (RequestOfRigid).
func ParseRequest(text string) ([]core.EP, error) {
	if size, ok := strings.CutPrefix(text, rigidWord); ok {
		return moldable.Parse(size)
	}
	if ep, ok := strings.CutPrefix(text, "ep="); ok {
		return moldable.ParseProfiles(ep)
	}
	if m, ok := strings.CutPrefix(text, "mold="); ok {
		return moldable.Parse(m)
	}
	if strings.HasPrefix(text, launchWord) {
		return nil, fmt.Errorf("%.40q names an application: its launcher says what it needs, and no profile does", text)
	}
	return nil, fmt.Errorf("%.40q is neither ep=… nor mold=…", text)
}

// rigidWord begins what stands for the request of a job that asks nothing of the sidecar, and is its own to let in all the same.
const rigidWord = "rigid="

// IsRigidRequest says whether that is what the text is.
func IsRigidRequest(text string) bool { return strings.HasPrefix(text, rigidWord) }

// RequestOfRigid is what stands for the request of a job that asks nothing: its size and its limit, "rigid=4x1h". One without a limit has
// the longest.
func RequestOfRigid(j *Job) string {
	size := core.Step{Nodes: max(j.Want, 1), Duration: min(max(j.Limit, 1), core.MaxTotal)}
	return rigidWord + moldable.Format([]core.EP{{size}})
}

// launchWord begins the request of a delegated job, a part of an application; the application's number follows.
const launchWord = "launch="

// mostDigits of an application's number: it is far below the largest int64, and the plug-ins of the batch systems agree.
const mostDigits = 18

// ParseLaunch reads the request of a delegated job, "launch=7": the number of its application, at least 1.
func ParseLaunch(text string) (application int64, err error) {
	digits, ok := strings.CutPrefix(text, launchWord)
	if !ok {
		return 0, fmt.Errorf("%.40q is no part of an application: write launch=APPLICATION", text)
	}
	if digits == "" || len(digits) > mostDigits || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%.40q: %.40q is not the number of an application, such as launch=7", text, digits)
	}
	return strconv.ParseInt(digits, 10, 64)
}

// LaunchOf is the application that a delegated job is a part of. Such a job is no managed one: its size and limit are its launcher's, and
// it holds all of its nodes to its end. Not ok: it is none, or its request cannot be read.
func LaunchOf(j *Job) (application int64, ok bool) {
	request := RequestOf(j)
	if !strings.HasPrefix(request, launchWord) { // most jobs: an error is not written for each
		return 0, false
	}
	application, err := ParseLaunch(request)
	return application, err == nil
}

// Delegated says whether a job belongs to an application, though it may not be readable to which.
func Delegated(j *Job) bool { return strings.HasPrefix(RequestOf(j), launchWord) }

// IsPart says whether a job is to be treated as an application's: it is marked, or it waits and is held. Else launch=… is no more than a word
// that its user wrote into a job which may run at any time.
func IsPart(j *Job) bool {
	return Delegated(j) && (strings.HasPrefix(j.Mark, MarkPrefix) || j.State == Pending && j.Held)
}

// RequestOf finds the request in a job: in the mark that only root can write, else in its comment, whose first word it
// must be. It is empty for an ordinary job.
func RequestOf(j *Job) string {
	if request, ok := strings.CutPrefix(j.Mark, MarkPrefix); ok {
		return request
	}
	word, _, _ := strings.Cut(j.Comment, " ")
	if IsRequest(word) {
		return word
	}
	return ""
}

// IsRequest says whether a word asks something of the sidecar: "ep=…", "mold=…", "launch=…". It may ask for nonsense.
func IsRequest(word string) bool {
	return strings.HasPrefix(word, "ep=") || strings.HasPrefix(word, "mold=") || strings.HasPrefix(word, launchWord)
}

// Made says whether a batch system made a job itself for an application's part (Maker).
func Made(j *Job) bool {
	_, ok := LaunchOf(j)
	return ok && j.Comment == ""
}

// LaunchMark is the mark of a job that is a part of the application.
func LaunchMark(application int64) string {
	return MarkPrefix + launchWord + strconv.FormatInt(application, 10)
}
