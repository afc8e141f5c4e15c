package evolve

// Names are the algorithms that are compared: those of CoreGRID 2011, Tables 1 and 2, in that order, then those that no
// paper has. ParseAlgorithm reads each, and other limits in the place of the 2.
func Names() []string { return []string{"rigid", "noX", "2X", "2X+c", "infX", "infX+c"} }
