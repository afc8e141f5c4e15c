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

// Selection says which jobs stay: those that meet all of it. The zero value keeps every job.
type Selection struct {
	From, To core.Time // seconds of the log; submitted at From or later and before To. To 0: to the end
	Skip     int       // so many of the jobs that meet everything else are left out first
	Jobs     int       // and so many of the next ones kept; 0: all

	MinSize, MaxSize int64 // processors, requested or else allocated; 0: any
	MinRun, MaxRun   core.Time
	MinRequest       core.Time // of the requested time; 0: any, known or not
	MaxRequest       core.Time

	// The values of these fields that stay; empty: any.
	Users, Groups, Applications, Queues, Partitions []int32
	Statuses                                        []Status

	Invert bool // what would stay goes, and the other way round; not of Skip and Jobs
}

// keeps says whether a job meets everything but Skip and Jobs.
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

// Select leaves the selected jobs in the log, and returns how many it removed. The bursts of a job go with it (swf.Burst).
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

// jobs yields the records of each job: its own, then its bursts.
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

// CountJobs returns how many jobs a log has: its records but for bursts.
func CountJobs(log *Log) (n int) {
	for range jobs(log.Records) {
		n++
	}
	return n
}

// prune drops the profiles of jobs that are no longer there.
func prune(log *Log) {
	there := make(map[int64]bool, len(log.EPs))
	for i := range log.Records {
		if n := log.Records[i].Number; log.EPs[n] != nil {
			there[n] = true
		}
	}
	maps.DeleteFunc(log.EPs, func(n int64, _ core.EP) bool { return !there[n] })
}

// Rezero moves the log's second 0 to its first submission. A log whose first job is submitted before its second 0 has no
// negative submissions afterwards.
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
			if i == 0 || job[i].Submit >= 0 { // a burst may have none
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

// Renumber numbers the jobs from 1 in the order of the log, and their bursts alike. Profiles go with their jobs, and so do references to preceding
// ones; those to a job that is not in the log become unknown. Where several jobs have one number, it means the first.
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

// Sort puts the jobs in the order of submission; those submitted at one second keep theirs. Bursts stay behind their jobs.
func Sort(log *Log) {
	sorted := slices.SortedStableFunc(jobs(log.Records), func(a, b []Record) int { return cmp.Compare(a[0].Submit, b[0].Submit) })
	log.Records = slices.Concat(sorted...)
}
