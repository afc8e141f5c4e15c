package replay_test

import (
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// arrays is EASY back-filling in its simplest form, for rigid jobs only: running jobs are in two arrays, sorted by requested end and by end,
// and the queue is an array. It computes the same schedule as our engine, and the benchmark compares their speed.
type arrays struct {
	incremental bool // after a submission only the new job is tried, with the reservation of the last pass
	jobs        []workload.Job
	starts      []core.Time

	free  int
	held  []arrayEnd // running jobs by requested end, the earliest last; without jobs whose requested end has passed
	ends  []arrayEnd // running jobs by end, the earliest last; if ends are equal, the job that began last comes first
	queue []int32    // in the order of the log

	shadow core.Time // when the head of the queue starts
	extra  int       // nodes that are free then in addition to the head's nodes
}

// arrayEnd is the requested or the real end of a job.
type arrayEnd struct {
	at  core.Time
	job int32
}

// insert inserts an end in its place.
func insert(all []arrayEnd, e arrayEnd) []arrayEnd {
	all = append(all, e)
	i := len(all) - 1
	for i > 0 && all[i-1].at <= e.at {
		all[i] = all[i-1]
		i--
	}
	all[i] = e
	return all
}

// easyOnArrays replays the jobs, which run no longer than requested, and returns their starts.
func easyOnArrays(w workload.Workload, incremental bool) []core.Time {
	s := &arrays{incremental: incremental, jobs: w.Jobs, free: w.Machine.Nodes, starts: make([]core.Time, len(w.Jobs))}
	for next := 0; ; {
		submit, end := core.Forever, core.Forever
		if next < len(s.jobs) {
			submit = s.jobs[next].Submit
		}
		if last := len(s.ends) - 1; last >= 0 {
			end = s.ends[last].at
		}
		switch {
		case submit <= end && submit < core.Forever:
			s.submit(int32(next), submit)
			next++
		case end < core.Forever:
			s.end(end)
			s.pass(end)
		default:
			return s.starts
		}
	}
}

// submit starts a job, or appends it to the queue.
func (s *arrays) submit(job int32, now core.Time) {
	s.queue = append(s.queue, job)
	if s.overdue(now) || len(s.queue) == 1 || !s.incremental {
		s.pass(now)
	} else if s.beside(job, now) {
		s.queue = s.queue[:len(s.queue)-1]
		s.start(job, now)
	}
}

// end removes the job that ends first.
func (s *arrays) end(now core.Time) {
	job := s.ends[len(s.ends)-1].job
	s.ends = s.ends[:len(s.ends)-1]
	for i := len(s.held) - 1; i >= 0; i-- {
		if s.held[i].job == job {
			s.held = append(s.held[:i], s.held[i+1:]...)
			s.free += s.jobs[job].Size
			return
		}
	}
}

// overdue frees the nodes of jobs whose requested end has passed.
func (s *arrays) overdue(now core.Time) (some bool) {
	for n := len(s.held) - 1; n >= 0 && s.held[n].at <= now; n-- {
		s.free += s.jobs[s.held[n].job].Size
		s.held = s.held[:n]
		some = true
	}
	return some
}

// pass starts jobs from the head of the queue, and then the jobs that do not delay the first job that has to wait.
func (s *arrays) pass(now core.Time) {
	s.overdue(now)
	head := 0
	for head < len(s.queue) && s.jobs[s.queue[head]].Size <= s.free {
		s.start(s.queue[head], now)
		head++
	}
	if s.queue = s.queue[:copy(s.queue, s.queue[head:])]; len(s.queue) == 0 {
		return
	}
	s.reserve()
	kept := 1
	for _, job := range s.queue[1:] {
		if s.beside(job, now) {
			s.start(job, now)
		} else {
			s.queue[kept] = job
			kept++
		}
	}
	s.queue = s.queue[:kept]
}

// reserve computes when the head of the queue starts.
func (s *arrays) reserve() {
	free, size := s.free, s.jobs[s.queue[0]].Size
	i := len(s.held)
	for free < size {
		i--
		free += s.jobs[s.held[i].job].Size
	}
	for s.shadow = s.held[i].at; i > 0 && s.held[i-1].at == s.shadow; i-- {
		free += s.jobs[s.held[i-1].job].Size
	}
	s.extra = free - size
}

// beside reports whether a job can start now without delaying the head.
func (s *arrays) beside(job int32, now core.Time) bool {
	j := &s.jobs[job]
	return j.Size <= s.free && (now+j.Request <= s.shadow || j.Size <= s.extra)
}

// start starts a job.
func (s *arrays) start(job int32, now core.Time) {
	j := &s.jobs[job]
	s.starts[job] = now
	s.free -= j.Size
	if now+j.Request > s.shadow {
		s.extra -= j.Size
	}
	s.held = insert(s.held, arrayEnd{now + j.Request, job})
	s.ends = insert(s.ends, arrayEnd{now + j.Run, job})
}

// BenchmarkEASYBesideAPlainProgramOnArrays replays each log alternately with our engine and with both variants of arrays. It reports the
// speed of our engine relative to arrays, by the least processor time of each. Our engine must be at least as fast as the plain variant on
// each log.
func BenchmarkEASYBesideAPlainProgramOnArrays(b *testing.B) {
	for _, m := range measures {
		if m.name != "KTH" && m.name != "CTC" && m.name != "Curie" || len(m.policies) > len(both) {
			continue
		}
		b.Run(m.name, func(b *testing.B) {
			w, err := m.workload()
			if err != nil {
				b.Skipf("%v; ACCORDION_TRACES is the directory of the logs", err)
			}
			var r replay.Result
			var plain, incremental []core.Time
			took := byTurns(b, []func(){
				func() { r = replay.Run(w, sched.EASY{}) },
				func() { plain = easyOnArrays(w, false) },
				func() { incremental = easyOnArrays(w, true) },
			})
			for i, o := range r.Outcomes {
				if o.Start != plain[i] || o.Start != incremental[i] {
					b.Fatalf("job %d starts at %d, and on arrays at %d and %d", w.Jobs[i].Number, o.Start, plain[i], incremental[i])
				}
			}
			b.ReportMetric(float64(len(w.Jobs))/took[0].Seconds(), "jobs/s")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "of-plain")
			b.ReportMetric(took[2].Seconds()/took[0].Seconds(), "of-incremental")
		})
	}
}
