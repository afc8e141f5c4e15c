package managed

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// A Rejection records that the batch system sent a job back instead of starting it. The job is then
// set aside for a while. It has no place in the plan, so that no nodes are kept for it and no calls
// are made for it. The zero value means that the last start was not rejected.
type Rejection struct {
	Times     int       // number of rejections in a row
	Message   string    `json:"Said"` // the batch system's message
	At        core.Time // second of the last rejection
	Until     core.Time // second before which the start is not tried again
	Kinds     string    // the kinds of nodes in the pool at the rejection (KindsOf)
	Requested string    `json:"Asks"` // what the job requested in the reading after the rejection (RequestedBy); "" if there was no reading yet
}

// A job that was sent back is tried again after 10 s. Each further pause is twice as long, up to 10
// minutes.
const (
	firstPause   core.Time = 10
	longestPause core.Time = 600
)

// PauseAfter returns for how many seconds a job is set aside after it was sent back `times` times
// in a row.
func PauseAfter(times int) core.Time {
	return min(firstPause<<min(max(times-1, 0), 10), longestPause)
}

// Reject records that the batch system sent the job back, and sets it aside. The job waits again,
// from its beginning.
func (r *Job) Reject(said string, now core.Time, kinds string) {
	r.BackToQueue()
	times := r.Rejected.Times + 1
	r.Rejected = Rejection{Times: times, Message: ShortReason(said), At: now, Until: now + PauseAfter(times), Kinds: kinds}
	r.Course = nil
}

// Reconsider applies a reading of a rejected job, and reports whether the start is tried again
// without waiting for the end of the pause. The start is tried again if the job now requests
// something else, or if the kinds of nodes changed. The count of rejections then starts again. No
// pause is shorter than firstPause, because an owner may change the job repeatedly.
func (r *Job) Reconsider(seen *adapter.Job, kinds string, now core.Time) bool {
	if r.Rejected.Times == 0 {
		return false
	}
	asks := RequestedBy(seen)
	if r.Rejected.Kinds == kinds && (r.Rejected.Requested == asks || r.Rejected.Requested == "") {
		r.Unsaved = r.Unsaved || r.Rejected.Requested == ""
		r.Rejected.Requested = asks
		return false
	}
	if now < r.Rejected.At+firstPause {
		return false
	}
	r.Rejected = Rejection{}
	return true
}

// Text returns the rejection as a sentence, for status and explain.
func (j Rejection) Text() string {
	times := "once"
	if j.Times > 1 {
		times = fmt.Sprintf("%d times", j.Times)
	}
	return fmt.Sprintf("the batch system sent it back %s (%s); tried again at %s", times, j.Message, adapter.Instant(j.Until).Format(time.TimeOnly))
}

// InForce reports whether the job is still set aside.
func (j Rejection) InForce(now time.Time) bool { return now.Unix() < j.Until }

// RequestedBy returns a text that changes whenever the job's request to the batch system changes.
func RequestedBy(j *adapter.Job) string {
	return fmt.Sprintf("%s %s %d tasks %d CPUs %q %s", j.Partition, j.QOS, j.Tasks, j.CPUs, j.Kinds, j.Needs)
}

// KindsOf returns a text that changes whenever the pool has other kinds of nodes, or other numbers
// of nodes of a kind.
func KindsOf(nodes []adapter.Node) string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Kind
	}
	slices.Sort(all)
	sum := fnv.New64a()
	for _, kind := range all {
		fmt.Fprintln(sum, kind)
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// ShortReason cuts a text to at most 160 bytes.
func ShortReason(text string) string {
	const most = 160
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
