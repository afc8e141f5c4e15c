// Package evolve schedules evolving applications: those whose node count changes at times known in advance.
//
// An application says what it needs as an evolution profile (Klein & Pérez, CoreGRID 2011, section 3.1):
//
//	ep, err := evolve.Parse("5x500s,10x1h") // 5 nodes for 500 s, then 10 for an hour
//
// Fit finds its place with the earliest completion beside what occupies a machine, where steps may wait for the nodes of the
// next within a limit; Compact and LeastWaste take, of all schedules with this completion, the one that starts latest and the
// one that wastes least. An Algorithm is a choice of these by its name, Schedule places one application after the other:
//
//	a, err := evolve.ParseAlgorithm("2X+opt")
//	plan, err := evolve.Schedule(profile.New(100), []core.EP{ep}, nil, a)
//
// It knows one profile at a time and counts of nodes only: which job comes first is core/queue's matter, which nodes
// core/place's. Everything here is a pure function of its arguments; times are whole seconds.
package evolve
