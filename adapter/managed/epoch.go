package managed

// An Epoch numbers readings in the order in which they begin. What was done at an epoch, when so many had begun, is seen in a reading
// only if that began later.
type Epoch int

// Shows says whether the reading of this epoch shows what was done at the other one.
func (e Epoch) Shows(done Epoch) bool { return e > done }
