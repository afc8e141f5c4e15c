package managed

// An Epoch is the number of a reading. Readings are numbered in the order in which they begin. A
// call belongs to epoch e if it was made after reading e began and before reading e+1 began. Only
// readings after e are certain to show the call.
type Epoch int

// Shows reports whether the reading of epoch e is certain to show a call that was made in epoch
// `done`.
func (e Epoch) Shows(done Epoch) bool { return e > done }
