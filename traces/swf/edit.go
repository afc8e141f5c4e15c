package swf

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"accordion/core"
)

// Selection is the conditions that a job must meet to stay in a log. The zero value keeps every job.
type Selection struct {
	From, To core.Time // seconds of the log: submitted at From or later, and before To; if To is 0 there is no end
	Skip     int       // number of jobs to remove at the beginning, among those that meet the other conditions
	Jobs     int       // maximum number of jobs to keep of the rest; 0 means all

	MinSize, MaxSize int64 // requested processors, or allocated processors if that is unknown; 0 means any
	MinRun, MaxRun   core.Time
	MinRequest       core.Time // requested time; 0 means any, also unknown
	MaxRequest       core.Time

	// The values of these fields to keep. An empty list keeps all values.
	Users, Groups, Applications, Queues, Partitions []int32
	Statuses                                        []Status

	Invert bool // keep the jobs that do not meet the conditions; does not change Skip and Jobs
}

// keeps reports whether a job meets the conditions, without Skip and Jobs.
func (s *Selection) keeps(r *Record) bool {
	within := func(n, least, most int64) bool {
		return (least == 0 && most == 0) || n >= max(least, 0) && (most == 0 || n <= most)
	}
	one := func(n int32, of []int32) bool { return len(of) == 0 || slices.Contains(of, n) }
	meets := (s.From == 0 || r.Submit >= s.From) && (s.To == 0 || r.Submit < s.To) &&
		within(int64(r.Size()), s.MinSize, s.MaxSize) && within(r.Run, s.MinRun, s.MaxRun) &&
		within(r.RequestedTime, s.MinRequest, s.MaxRequest) &&
		one(r.User, s.Users) && one(r.Group, s.Groups) && one(r.Application, s.Applications) && one(r.Queue, s.Queues) &&
		one(r.Partition, s.Partitions) && (len(s.Statuses) == 0 || slices.Contains(s.Statuses, r.Status))
	return meets != s.Invert
}

// Select keeps only the selected jobs in the log, with their bursts (Burst), and returns how many jobs it removed.
func Select(log *Log, s Selection) (removed int) {
	kept := log.Records[:0:0]
	met := 0
	for job := range jobs(log.Records) {
		keep := s.keeps(&job[0])
		if keep {
			met++
			keep = met > s.Skip && (s.Jobs == 0 || met <= s.Skip+s.Jobs)
		}
		if keep {
			kept = append(kept, job...)
		} else {
			removed++
		}
	}
	log.Records = kept
	if removed > 0 {
		prune(log)
	}
	log.Header.Set("MaxRecords", fmt.Sprint(len(log.Records)))
	return removed
}

// jobs yields the records of each job: the job, then its bursts.
func jobs(records []Record) iter.Seq[[]Record] {
	return func(yield func([]Record) bool) {
		for first := 0; first < len(records); {
			next := first + 1
			for next < len(records) && Burst(records, next) {
				next++
			}
			if !yield(records[first:next]) {
				return
			}
			first = next
		}
	}
}

// CountJobs returns how many jobs a log has, without bursts.
func CountJobs(log *Log) (n int) {
	for range jobs(log.Records) {
		n++
	}
	return n
}

// prune removes the profiles of jobs that are not in the log.
func prune(log *Log) {
	there := make(map[int64]bool, len(log.EPs))
	for i := range log.Records {
		if n := log.Records[i].Number; log.EPs[n] != nil {
			there[n] = true
		}
	}
	maps.DeleteFunc(log.EPs, func(n int64, _ core.EP) bool { return !there[n] })
}

// Rezero moves second 0 of the log to the first submission. After it no submission is negative.
func Rezero(log *Log) {
	if len(log.Records) == 0 {
		return
	}
	first := log.Records[0].Submit
	for job := range jobs(log.Records) {
		first = min(first, job[0].Submit)
	}
	for job := range jobs(log.Records) {
		for i := range job {
			if i == 0 || job[i].Submit >= 0 { // the submission time of a burst may be unknown
				job[i].Submit -= first
			}
		}
	}
	if start, ok := log.Header.UnixStart(); ok {
		log.Header.Set("UnixStartTime", fmt.Sprint(start+first))
		if _, said := log.Header.Get("StartTime"); said {
			log.Header.Set("StartTime", time.Unix(start+first, 0).In(log.Header.Location()).Format(time.UnixDate))
		}
	}
}

// Renumber numbers the jobs from 1 in the order of the log, and their bursts like the jobs. It changes the numbers of profiles and of
// preceding jobs, too. A preceding job that is not in the log becomes unknown. A number that several jobs have means the first of these jobs.
func Renumber(log *Log) {
	now := make(map[int64]int64, len(log.Records))
	count := int64(0)
	for job := range jobs(log.Records) {
		count++
		if _, again := now[job[0].Number]; !again {
			now[job[0].Number] = count
		}
	}
	var eps map[int64]core.EP
	for old, ep := range log.EPs {
		if n, there := now[old]; there {
			if eps == nil {
				eps = map[int64]core.EP{}
			}
			eps[n] = ep
		}
	}
	log.EPs = eps
	count = 0
	for job := range jobs(log.Records) {
		count++
		for i := range job {
			r := &job[i]
			r.Number = count
			if n, there := now[r.Preceding]; there {
				r.Preceding = n
			} else {
				r.Preceding = Unknown
			}
		}
	}
}

// Sort sorts the jobs by submission. Jobs submitted in the same second keep their order. Bursts stay behind their jobs.
func Sort(log *Log) {
	sorted := slices.SortedStableFunc(jobs(log.Records), func(a, b []Record) int { return cmp.Compare(a[0].Submit, b[0].Submit) })
	log.Records = slices.Concat(sorted...)
}
