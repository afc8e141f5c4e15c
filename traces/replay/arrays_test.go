package replay_test

import (
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// arrays is EASY back-filling as one writes it for rigid jobs and nothing else: what runs is an array by requested end and another by end, the
// queue is an array, and nothing has a structure. It is there to be compared with: the same schedule, and no word of explanation.
type arrays struct {
	sly    bool // where only a submission happened the new job alone is tried, beside the reservation that is known from before
	jobs   []workload.Job
	starts []core.Time

	free  int
	held  []arrayEnd // by requested end, the soonest last; those whose requested end has come are out of it
	ends  []arrayEnd // by end, the soonest last; of equals the one that began last comes first
	queue []int32    // in the order of the log

	shadow core.Time // when the head of the queue starts
	extra  int       // nodes that are free beside it then
}

// arrayEnd is an end of a job, requested or real.
type arrayEnd struct {
	at  core.Time
	job int32
}

// insert puts an end in its place.
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

// easyOnArrays replays the jobs, which run no longer than requested, and gives their starts.
func easyOnArrays(w workload.Workload, sly bool) []core.Time {
	s := &arrays{sly: sly, jobs: w.Jobs, free: w.Machine.Nodes, starts: make([]core.Time, len(w.Jobs))}
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

// submit lets a job start, or wait.
func (s *arrays) submit(job int32, now core.Time) {
	s.queue = append(s.queue, job)
	if s.overdue(now) || len(s.queue) == 1 || !s.sly {
		s.pass(now)
	} else if s.beside(job, now) {
		s.queue = s.queue[:len(s.queue)-1]
		s.start(job, now)
	}
}

// end takes the job out that ends first.
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

// overdue frees the nodes of those whose requested end has come.
func (s *arrays) overdue(now core.Time) (some bool) {
	for n := len(s.held) - 1; n >= 0 && s.held[n].at <= now; n-- {
		s.free += s.jobs[s.held[n].job].Size
		s.held = s.held[:n]
		some = true
	}
	return some
}

// pass starts the heads of the queue, and whoever is not in the way of the first that has to wait.
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

// reserve finds out when the head of the queue starts.
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

// beside says whether a job starts now, and not in the way of the head.
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

// BenchmarkEASYBesideAPlainProgramOnArrays replays by turns, and reports how many times as fast ours is as the plain program, and as the sly
// one, by the least processor time of each. The bound is 1 for the plain one on each log.
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
			var plain, sly []core.Time
			took := byTurns(b, []func(){
				func() { r = replay.Run(w, sched.EASY{}) },
				func() { plain = easyOnArrays(w, false) },
				func() { sly = easyOnArrays(w, true) },
			})
			for i, o := range r.Outcomes {
				if o.Start != plain[i] || o.Start != sly[i] {
					b.Fatalf("job %d starts at %d, and on arrays at %d and %d", w.Jobs[i].Number, o.Start, plain[i], sly[i])
				}
			}
			b.ReportMetric(float64(len(w.Jobs))/took[0].Seconds(), "jobs/s")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "of-plain")
			b.ReportMetric(took[2].Seconds()/took[0].Seconds(), "of-sly")
		})
	}
}
