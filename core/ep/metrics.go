package ep

import "accordion/core"

// Metrics are the paper's figures of one schedule (CoreGRID 2011, section 5.1). These definitions reproduce the averages that
// the paper prints. Percentages may exceed 100.
type Metrics struct {
	Requested int64     // A: node-seconds that the applications requested
	Reserved  int64     // R: node-seconds that the applications got
	Makespan  core.Time // C: the last completion

	Completion float64 // mean completion, in seconds from 0 (ACT)
	Waiting    float64 // mean start, in seconds from 0 (AWT)

	Waste       float64 // % of the requested area that was reserved on top of it: 100(R-A)/A
	Utilisation float64 // % of the machine used for computation until the makespan: 100 A/(n C), the "Eff. Util."

	Expanded  float64 // % of the applications that last longer than requested
	Expansion float64 // mean over all applications: 100(length-requested)/requested
	AppWaste  float64 // mean over all applications: 100(reserved-requested)/requested area
}

// Measure computes the metrics of a schedule of applications on a machine. plan[i] is the place of eps[i]. Without
// applications all metrics are 0.
func Measure(nodes int, eps []core.EP, plan []core.Allocation) Metrics {
	var m Metrics
	if len(plan) == 0 {
		return m
	}
	for i, a := range plan {
		asked, length := eps[i].Total(), a.EP.Total()
		area, reserved := eps[i].Area(), a.EP.Area()
		m.Requested += area
		m.Reserved += reserved
		m.Makespan = max(m.Makespan, a.End())
		m.Completion += float64(a.End())
		m.Waiting += float64(a.Start)
		if length > asked {
			m.Expanded++
		}
		m.Expansion += percent(length-asked, asked)
		m.AppWaste += percent(reserved-area, area)
	}
	applications := float64(len(plan))
	m.Completion /= applications
	m.Waiting /= applications
	m.Expanded *= 100 / applications
	m.Expansion /= applications
	m.AppWaste /= applications
	m.Waste = percent(m.Reserved-m.Requested, m.Requested)
	if n := float64(nodes) * float64(m.Makespan); n > 0 {
		m.Utilisation = 100 * float64(m.Requested) / n
	}
	return m
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Relative has the figures that the paper gives as ratios to the rigid schedule of the same applications. The ratio 0/0
// counts as 1. Any other division by 0 gives -1, which means that there is no ratio.
type Relative struct {
	Reservation float64 // R / R of rigid: the "Utilisation (relative)"
	Makespan    float64
	Completion  float64
	Waiting     float64
}

// RelativeTo returns the ratios to the metrics of the rigid schedule.
func (m Metrics) RelativeTo(rigid Metrics) Relative {
	return Relative{
		Reservation: ratio(float64(m.Reserved), float64(rigid.Reserved)),
		Makespan:    ratio(float64(m.Makespan), float64(rigid.Makespan)),
		Completion:  ratio(m.Completion, rigid.Completion),
		Waiting:     ratio(m.Waiting, rigid.Waiting),
	}
}

func ratio(a, b float64) float64 {
	switch {
	case b > 0:
		return a / b
	case a == b:
		return 1
	}
	return -1
}
