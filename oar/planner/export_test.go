package planner

// AllOf is the set of all of n resources.
func AllOf(n int) Set {
	s := NewSet(n)
	for r := range n {
		s.Add(r)
	}
	return s
}

// SetOf is the set of the named ones of n resources.
func SetOf(n int, members ...int) Set {
	s := NewSet(n)
	for _, r := range members {
		s.Add(r)
	}
	return s
}
