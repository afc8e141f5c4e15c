package ep

import "strings"

// AlgorithmNames are the names that everybody knows, for messages and help: those of CoreGRID 2011, Tables 1 and 2, in that
// order, then those that it does not have. ParseAlgorithm reads others too.
const AlgorithmNames = "rigid, noX, 2X, 2X+c, infX, infX+c, 2X+opt, infX+opt"

// Names are those of AlgorithmNames, one by one.
func Names() []string { return strings.Split(AlgorithmNames, ", ") }
