// Package evolve schedules evolving applications: those whose node count changes at times known in advance.
//
// An application says what it needs as an evolution profile (Klein & Pérez, CoreGRID 2011, section 3.1):
//
//	ep, err := evolve.Parse("5x500s,10x1h") // 5 nodes for 500 s, then 10 for an hour
//
// It knows one profile at a time and counts of nodes only: which job comes first is core/queue's matter, which nodes
// core/place's. Everything here is a pure function of its arguments; times are whole seconds.
package evolve
