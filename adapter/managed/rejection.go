package managed

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// A Rejection is how a job's last start ended when the batch system sent the job back unstarted. The job is set aside for a while then: it has
// no place in the plan, so that it holds no nodes and costs no calls. The zero Rejection: its last start did not end so.
type Rejection struct {
	Times int       // in a row
	Said  string    // why, in the batch system's own words
	At    core.Time // second of the last of them
	Until core.Time // second before which it is not tried again
	Kinds string    // the kinds of nodes that there were
	Asks  string    // what it asked for, by the first reading after; "": there was none yet
}

// A job that was sent back is tried again after 10 s, and after twice as long each further time, up to 10 minutes.
const (
	firstPause   core.Time = 10
	longestPause core.Time = 600
)

// PauseAfter returns for how many seconds a job is set aside that was sent back so many times in a row.
func PauseAfter(times int) core.Time {
	return min(firstPause<<min(max(times-1, 0), 10), longestPause)
}

// Reject notes that the batch system sent the job back, and sets it aside. It waits again, from its beginning.
func (r *Job) Reject(said string, now core.Time, kinds string) {
	r.BackToQueue()
	times := r.Rejected.Times + 1
	r.Rejected = Rejection{Times: times, Said: cut(said, 160), At: now, Until: now + PauseAfter(times), Kinds: kinds}
	r.Course = nil
}

// Reconsider takes in a reading of a job that was sent back: where it asks for something else now, or where there are other kinds of nodes, it
// is tried again, and its next pause is the first again. It reports whether that is so. No pause is shorter than the first: its owner may change
// the job over and over.
func (r *Job) Reconsider(seen *adapter.Job, kinds string, now core.Time) bool {
	if r.Rejected.Times == 0 {
		return false
	}
	asks := AsksOf(seen)
	if r.Rejected.Kinds == kinds && (r.Rejected.Asks == asks || r.Rejected.Asks == "") {
		r.Dirty = r.Dirty || r.Rejected.Asks == ""
		r.Rejected.Asks = asks
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
	return fmt.Sprintf("the batch system sent it back %s (%s); tried again at %s", times, j.Said, adapter.Instant(j.Until).Format(time.TimeOnly))
}

// Lasts reports whether the job is still set aside.
func (j Rejection) Lasts(now time.Time) bool { return now.Unix() < j.Until }

// AsksOf returns a text that changes when what the job asks for changes.
func AsksOf(j *adapter.Job) string {
	return fmt.Sprintf("%s %s %d tasks %d CPUs %q %s", j.Partition, j.QOS, j.Tasks, j.CPUs, j.Kinds, j.Needs)
}

// KindsOf returns a text that changes when there are other kinds of nodes, or other numbers of them.
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

// cut returns a text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
