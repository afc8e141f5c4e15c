package sizing

// Parts is what the load of the machine over a job's run time is made of, as parts of 1.
type Parts struct {
	Own     float64 // the job itself
	Running float64 // jobs that run
	Waiting float64 // others that wait
	Future  float64 // jobs to come, as far as they are known
}

// Parts is what the load is made of at a factor of all references that was tried: for people, as Search is.
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
