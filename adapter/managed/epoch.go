package managed

// An Epoch numbers readings in the order in which they begin. What was done while the reading of an epoch was the last to begin, only later
// readings show.
type Epoch int

// Shows reports whether the reading of this epoch shows what was done at the other one.
func (e Epoch) Shows(done Epoch) bool { return e > done }
