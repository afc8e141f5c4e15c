package managed

import (
	"fmt"

	"accordion/core"
	"accordion/core/ep"
)

// Limits bound the calls that one job may cause in the batch system. They come from the [limits]
// section of the configuration.
type Limits struct {
	ShortestStep   core.Time // minimum number of seconds of each step of a job with several steps; 0 if there is no bound
	ResizesPerHour int       // maximum number of resizes of one job per hour in the long run; 0 if there is no bound
}

// TooShort returns a message for the user if a step of a new job is shorter than the bound, and ""
// otherwise.
func (l Limits) TooShort(r *Job) string {
	if !r.StepLengthChecked || l.ShortestStep == 0 {
		return ""
	}
	piece := 0
	for _, requested := range r.Choices {
		for _, step := range requested {
			if piece++; len(requested) > 1 && step.Duration < l.ShortestStep {
				return fmt.Sprintf("evolution profile, piece %d: %q is shorter than the %s that a step lasts at least on this cluster ([limits] shortest_step)",
					piece, ep.Format(core.EP{step}), core.FormatDuration(l.ShortestStep))
			}
		}
	}
	return ""
}

// ahead bounds bursts. A job may be resized ResizesPerHour/ahead times in a row before its resizes
// have to be evenly spaced.
const ahead = 4

// `between` returns the mean number of seconds between two resizes in the long run, and 0 if there
// is no bound.
func (l Limits) between() core.Time {
	if l.ResizesPerHour == 0 {
		return 0
	}
	return max(1, core.Time(3600/l.ResizesPerHour))
}

// NextResize returns the second from which the job may be resized again, and why not before. A job
// whose steps are no shorter than ShortestStep never has to wait. A job whose steps end early may
// have to wait after ResizesPerHour/ahead resizes.
func (l Limits) NextResize(r *Job) (second core.Time, why string) {
	if l.between() == 0 {
		return 0, ""
	}
	return r.PacedUntil - 3600/ahead, fmt.Sprintf("it changed its size too often: %d times an hour in the long run ([limits] resizes_per_hour)", l.ResizesPerHour)
}

// CountResize counts a resize of the job.
func (l Limits) CountResize(r *Job, now core.Time) {
	if l.between() > 0 {
		r.PacedUntil = max(r.PacedUntil, now) + l.between()
	}
}
