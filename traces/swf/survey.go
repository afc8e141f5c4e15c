package swf

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"accordion/core"
)

// week is 604,800 seconds.
const week = 7 * 86400

// Survey describes a log. Times are seconds of the log. The JSON keys are the output of "accordion trace info --json".
type Survey struct {
	Log      string `json:"log"`
	Computer string `json:"computer,omitempty"`
	Machine  int    `json:"machine"`         // processors; 0 if unknown
	Start    int64  `json:"unix_start_time"` // second 0 in Unix time; −1 if unknown

	Jobs         int            `json:"jobs"`
	Bursts       int            `json:"bursts,omitempty"` // records of parts of jobs, which do not count as jobs
	Evolving     int            `json:"evolving"`         // jobs with a profile
	Users        int            `json:"users"`            // known users
	Status       map[string]int `json:"status"`           // jobs by status
	Serial       float64        `json:"serial"`           // share of jobs with one processor, among jobs of known size
	PowersOfTwo  float64        `json:"powers_of_two"`
	FirstSubmit  int64          `json:"first_submit"`
	LastSubmit   int64          `json:"last_submit"`
	LastEnd      int64          `json:"last_end"`    // latest sum of submission, wait and run time, as far as they are known
	Area         float64        `json:"area"`        // processor-seconds of all jobs
	Utilisation  float64        `json:"utilisation"` // Area over the machine's capacity from the first submission to the last end; 0 if the machine is unknown
	Size         Quantiles      `json:"size"`
	Run          Quantiles      `json:"run_time"`
	Request      Quantiles      `json:"requested_time"`
	Wait         Quantiles      `json:"wait_time"`
	Interarrival Quantiles      `json:"interarrival_time"`
	Weeks        []Week         `json:"weeks"`
	Anomalies    []Anomaly      `json:"anomalies"`
	Problems     []string       `json:"problems"` // violations of the format, as the reader counted them

	zone    *time.Location
	unsized error // why the header's machine size is unreadable
}

// Week is the jobs submitted in seven days, counted from the first submission. Weeks without jobs are absent.
type Week struct {
	From int64   `json:"from"` // seconds of the log
	Jobs int     `json:"jobs"`
	Area float64 `json:"area"` // processor-seconds of the jobs submitted in it
	Load float64 `json:"load"` // Area over the machine's capacity in seven days; 0 if the machine is unknown
}

// Quantiles describes the known values of the jobs. Each quantile is one of the values. If two values are
// possible, it is the lower one.
type Quantiles struct {
	Known int     `json:"known"` // number of jobs with a known value
	Mean  float64 `json:"mean"`
	Min   int64   `json:"min"`
	P10   int64   `json:"p10"`
	P25   int64   `json:"p25"`
	P50   int64   `json:"p50"`
	P75   int64   `json:"p75"`
	P90   int64   `json:"p90"`
	P99   int64   `json:"p99"`
	Max   int64   `json:"max"`
}

func quantiles(values []int64) (q Quantiles) {
	if q.Known = len(values); q.Known == 0 {
		return q
	}
	slices.Sort(values)
	for _, v := range values {
		q.Mean += float64(v)
	}
	q.Mean /= float64(len(values))
	at := func(percent int) int64 { return values[(len(values)-1)*percent/100] }
	q.Min, q.P10, q.P25, q.P50, q.P75, q.P90, q.P99, q.Max = at(0), at(10), at(25), at(50), at(75), at(90), at(99), at(100)
	return q
}

// SurveyOf returns the survey of a log. `machine` replaces the header's number of processors if it is above 0.
func SurveyOf(log *Log, machine int) *Survey {
	all := log.Records
	whole := *log
	whole.Records = Summaries(all)
	log = &whole
	s := &Survey{Log: log.Name, Machine: machine, Start: Unknown, Jobs: len(log.Records), Status: map[string]int{}, Weeks: []Week{}, zone: log.Header.Location()}
	s.Bursts = len(all) - len(log.Records)
	s.Computer, _ = log.Header.Get("Computer")
	if machine <= 0 {
		s.Machine, s.unsized = log.Header.MachineSize()
	}
	if start, ok := log.Header.UnixStart(); ok {
		s.Start = start
	}
	s.count(log)
	s.measure(log.Records)
	s.load(log)
	s.Anomalies = anomalies(log.Records, s.Machine)
	s.Problems = append([]string{}, log.Warnings.Lines()...)
	return s
}

// statusNames are the names of the format's statuses. Others are unknown.
var statusNames = map[Status]string{
	Failed: "failed", Completed: "completed", Cancelled: "cancelled",
	Part: "part", LastPart: "last part", LastPartFailed: "last part, failed",
}

// count counts jobs by status, users, profiles and sizes.
func (s *Survey) count(log *Log) {
	users := map[int32]bool{}
	var sized, serial, powers int
	for i := range log.Records {
		r := &log.Records[i]
		name, known := statusNames[r.Status]
		if !known {
			name = "unknown"
		}
		s.Status[name]++
		if r.User >= 0 {
			users[r.User] = true
		}
		if log.EPs[r.Number] != nil {
			s.Evolving++
		}
		if n := r.Size(); n > 0 {
			sized++
			if n == 1 {
				serial++
			}
			if bits.OnesCount32(uint32(n)) == 1 {
				powers++
			}
		}
	}
	s.Users = len(users)
	if sized > 0 {
		s.Serial, s.PowersOfTwo = float64(serial)/float64(sized), float64(powers)/float64(sized)
	}
}

// measure computes the quantiles.
func (s *Survey) measure(records []Record) {
	for _, q := range []struct {
		into  *Quantiles
		value func(*Record) int64
		least int64 // smaller values are unknown
	}{
		{&s.Size, func(r *Record) int64 { return int64(r.Size()) }, 1},
		{&s.Run, func(r *Record) int64 { return r.Run }, 0},
		{&s.Request, func(r *Record) int64 { return r.RequestedTime }, 0},
		{&s.Wait, func(r *Record) int64 { return r.Wait }, 0},
	} {
		var known []int64
		for i := range records {
			if v := q.value(&records[i]); v >= q.least {
				known = append(known, v)
			}
		}
		*q.into = quantiles(known)
	}
	submits := submissions(records)
	for i := len(submits) - 1; i > 0; i-- {
		submits[i] -= submits[i-1]
	}
	s.Interarrival = quantiles(submits[min(1, len(submits)):])
}

// submissions returns the known submission times, sorted.
func submissions(records []Record) []int64 {
	var all []int64
	for i := range records {
		if t := records[i].Submit; t >= 0 {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// load sums the areas, in total and per week.
func (s *Survey) load(log *Log) {
	submits := submissions(log.Records)
	if len(submits) == 0 {
		return
	}
	s.FirstSubmit, s.LastSubmit = submits[0], submits[len(submits)-1]
	weeks := map[int64]*Week{}
	for i := range log.Records {
		r := &log.Records[i]
		if r.Submit < 0 {
			continue
		}
		s.LastEnd = max(s.LastEnd, r.Submit+max(r.Wait, 0)+max(r.Run, 0))
		n := (r.Submit - s.FirstSubmit) / week
		w := weeks[n]
		if w == nil {
			w = &Week{From: s.FirstSubmit + n*week}
			weeks[n] = w
		}
		area := area(r, log.EPs[r.Number])
		w.Jobs++
		w.Area += area
		s.Area += area
	}
	for _, w := range weeks {
		if s.Machine > 0 {
			w.Load = w.Area / week / float64(s.Machine)
		}
		s.Weeks = append(s.Weeks, *w)
	}
	slices.SortFunc(s.Weeks, func(a, b Week) int { return cmp.Compare(a.From, b.From) })
	if span := s.LastEnd - s.FirstSubmit; span > 0 && s.Machine > 0 {
		s.Utilisation = s.Area / float64(span) / float64(s.Machine)
	}
}

// area returns what a job held in processor-seconds: its size, or the sizes of its profile, for its run time.
func area(r *Record, ep core.EP) float64 {
	if ep == nil {
		return float64(max(r.Size(), 0)) * float64(max(r.Run, 0))
	}
	sum, left := 0.0, r.Run
	for _, step := range ep {
		length := min(step.Duration, max(left, 0))
		sum += float64(step.Nodes) * float64(length)
		left -= length
	}
	return sum
}
