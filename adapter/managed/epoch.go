package managed

// An Epoch is the number of a reading. Readings are numbered in the order in which they begin. A
// call made in epoch e, that is after reading e began and before reading e+1 did, is certain to
// show only in readings after e.
type Epoch int

// Shows reports whether the reading of epoch e shows a call that was made in epoch done.
func (e Epoch) Shows(done Epoch) bool { return e > done }
