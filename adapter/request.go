package adapter

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/moldable"
)

// ParseRequest parses the request of a job: "ep=…" or "mold=…". It also parses what RequestOfRigid returns for a job without a request.
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

// rigidWord begins the request that the sidecar makes for a job without a request, if the sidecar
// also decides when that job starts.
const rigidWord = "rigid="

// IsRigidRequest reports whether text has the form of a result of RequestOfRigid.
func IsRigidRequest(text string) bool { return strings.HasPrefix(text, rigidWord) }

// RequestOfRigid returns a request with the size and time limit of a job that has no request, such as "rigid=4x1h". If the job has no time
// limit, RequestOfRigid uses the longest possible one.
func RequestOfRigid(j *Job) string {
	size := core.Step{Nodes: max(j.Want, 1), Duration: min(max(j.Limit, 1), core.MaxTotal)}
	return rigidWord + moldable.Format([]core.EP{{size}})
}

// launchWord begins the request of a delegated job: a part of an application, whose number follows.
const launchWord = "launch="

// mostDigits is the largest number of digits of an application's number. Such a number is below the largest int64. The plug-ins of the batch
// systems have the same limit.
const mostDigits = 18

// ParseLaunch parses the request of a delegated job, such as "launch=7". It returns the number of the application, at least 1.
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

// LaunchOf returns the number of the application that a delegated job is a part of. ok is false if the job is not delegated, or its request
// cannot be read. A delegated job is not managed: its launcher chooses its size and time limit, and it holds all of its nodes to the end.
func LaunchOf(j *Job) (application int64, ok bool) {
	request := RequestOf(j)
	if !strings.HasPrefix(request, launchWord) { // checked before parsing, because a parse error would cost an allocation for each ordinary job
		return 0, false
	}
	application, err := ParseLaunch(request)
	return application, err == nil
}

// Delegated reports whether a job's request begins like that of a delegated job, even if the application's number cannot be read.
func Delegated(j *Job) bool { return strings.HasPrefix(RequestOf(j), launchWord) }

// IsPart reports whether a job must be treated as a part of an application. Such a job is delegated,
// and either has a mark, or is pending and held. In any other job, launch=… is only a text in the
// user's comment.
func IsPart(j *Job) bool {
	return Delegated(j) && (strings.HasPrefix(j.Mark, MarkPrefix) || j.State == Pending && j.Held)
}

// RequestOf returns the request of a job. It uses the job's mark, which only root can write. If the
// job has no mark, it uses the first word of the job's comment. It returns "" for an ordinary job.
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

// IsRequest reports whether a text begins like a request to the sidecar: "ep=…", "mold=…", "launch=…". The rest of the text may be invalid.
func IsRequest(word string) bool {
	return strings.HasPrefix(word, "ep=") || strings.HasPrefix(word, "mold=") || strings.HasPrefix(word, launchWord)
}

// MadeByBatchSystem reports whether the job is a part of an application, and was submitted by the batch system itself (JobSubmitter).
func MadeByBatchSystem(j *Job) bool {
	_, ok := LaunchOf(j)
	return ok && j.Comment == ""
}

// LaunchMark returns the mark of a job that is a part of the application with the given number.
func LaunchMark(application int64) string {
	return MarkPrefix + launchWord + strconv.FormatInt(application, 10)
}
