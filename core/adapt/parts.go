package adapt

// Parts is what the load of the machine over a job's run time is made of, as parts of 1.
type Parts struct {
	Own     float64 // the job itself
	Running float64 // jobs that run
	Waiting float64 // others that wait
	Future  float64 // jobs to come, as far as they are known
}

// Parts is what the load is made of at a factor of all references that was tried: for people, as Search is.
func (l Load) Parts(w *World, s *Sizes, factor float64) Parts {
	some := World{Now: w.Now, Machine: w.Machine}
	own := l.load(&some, s, nil, factor)
	some.Running = w.Running
	running := l.load(&some, s, nil, factor)
	some.Waiting = w.Waiting
	waiting := l.load(&some, s, nil, factor)
	return Parts{Own: own, Running: running - own, Waiting: waiting - running, Future: l.load(&some, s, l.forecast(w), factor) - waiting}
}
