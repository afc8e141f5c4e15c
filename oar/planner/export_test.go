package planner

// AllOf returns the set of all n resources.
func AllOf(n int) Set {
	s := NewSet(n)
	for r := range n {
		s.Add(r)
	}
	return s
}

// SetOf returns the set of the named resources, of n.
func SetOf(n int, members ...int) Set {
	s := NewSet(n)
	for _, r := range members {
		s.Add(r)
	}
	return s
}
