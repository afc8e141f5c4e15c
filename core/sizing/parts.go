package sizing

// Parts are the parts of the machine's load during a job's run time, as fractions of 1.
type Parts struct {
	Own     float64 // the job itself
	Running float64 // running jobs
	Waiting float64 // other waiting jobs
	Future  float64 // jobs to come, as far as a forecast exists
}

// Parts returns the parts of the load at a factor that was tried. Like Search it is for output to people.
func (l Load) Parts(w *World, s *Sizes, factor float64) Parts {
	all := w.ready()
	own, span := all.on(s, factor)
	whole := float64(w.Machine) * span
	p := Parts{Own: own * span / whole, Running: all.held(0, span) / whole, Waiting: all.others(0, s, factor, span) / whole}
	if f := l.forecast(w); f != nil {
		p.Future = f.work(w.Now, span, factor) / whole
	}
	return p
}
