package swf

import (
	"fmt"
)

// Anomaly is one kind of wrong jobs in a log, with their number.
type Anomaly struct {
	Kind    string `json:"kind"`    // key, such as "run_over_request"
	Meaning string `json:"meaning"` // what is wrong, as a phrase after the word "jobs"
	Jobs    int    `json:"jobs"`
	First   int64  `json:"first"` // number of the first such job
	Place   int    `json:"place"` // position of the first such job in the log; the log's first job has 1
}

// noEnd is a duration that no real job has: 31 years, in seconds.
const noEnd = 1_000_000_000

// seen has the facts about the current job that depend on earlier jobs.
type seen struct {
	machine int32
	submit  int64 // submission of the previous job; −1 at first
	numbers map[int64]bool
	twice   bool // an earlier job has the same number
}

// signs are the kinds of anomalies, in the order of the output.
var signs = []struct {
	kind, meaning string
	is            func(*Record, *seen) bool
}{
	{"negative_submit", "submitted before the log's second 0, or nobody knows when", func(r *Record, _ *seen) bool { return r.Submit < 0 }},
	{"out_of_order", "submitted before the job above them", func(r *Record, s *seen) bool { return r.Submit < s.submit }},
	{"duplicate_number", "whose number another job has", func(_ *Record, s *seen) bool { return s.twice }},
	{"no_run_time", "whose run time is unknown", func(r *Record, _ *seen) bool { return r.Run < 0 }},
	{"zero_run_time", "that ran for no second", func(r *Record, _ *seen) bool { return r.Run == 0 }},
	{"no_processors", "without processors, requested or allocated", func(r *Record, _ *seen) bool { return r.Size() < 1 }},
	{"larger_than_machine", "larger than the machine", func(r *Record, s *seen) bool {
		return s.machine > 0 && max(r.RequestedProcessors, r.Processors) > s.machine
	}},
	{"no_requested_time", "without a requested time", func(r *Record, _ *seen) bool { return r.RequestedTime <= 0 }},
	{"run_over_request", "that ran longer than they asked for", func(r *Record, _ *seen) bool {
		return r.RequestedTime > 0 && r.Run > r.RequestedTime
	}},
	{"more_cpu_than_run", "that used more processor time than they had", func(r *Record, _ *seen) bool {
		return r.Run >= 0 && r.CPU > float64(r.Run)+1
	}},
	{"endless", "with a time of 10^9 seconds or more", func(r *Record, _ *seen) bool {
		return max(r.Submit, r.Wait, r.Run, r.RequestedTime) >= noEnd
	}},
}

// anomalies checks every job. It returns only kinds with jobs.
func anomalies(records []Record, machine int) []Anomaly {
	found := make([]Anomaly, len(signs))
	past := seen{machine: int32(min(machine, 1<<31-1)), submit: Unknown, numbers: make(map[int64]bool, len(records))}
	for i := range records {
		r := &records[i]
		past.twice = past.numbers[r.Number]
		for k, sign := range signs {
			if !sign.is(r, &past) {
				continue
			}
			if found[k].Jobs++; found[k].Jobs == 1 {
				found[k] = Anomaly{Kind: sign.kind, Meaning: sign.meaning, Jobs: 1, First: r.Number, Place: i + 1}
			}
		}
		past.numbers[r.Number] = true
		past.submit = r.Submit
	}
	all := []Anomaly{}
	for _, a := range found {
		if a.Jobs > 0 {
			all = append(all, a)
		}
	}
	return all
}

// String returns one line: the number of jobs, what is wrong, and the first job.
func (a Anomaly) String() string {
	return fmt.Sprintf("jobs %s: %d, first job %d, the %s of the log", a.Meaning, a.Jobs, a.First, ordinal(a.Place))
}

func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}
