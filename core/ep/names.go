package ep

import "strings"

// AlgorithmNames lists the common names of algorithms, for messages and help. The names of CoreGRID 2011, Tables 1 and 2, come
// first, then names that the paper does not have. ParseAlgorithm accepts further names.
const AlgorithmNames = "rigid, noX, 2X, 2X+c, infX, infX+c, 2X+opt, infX+opt"

// Names returns AlgorithmNames as a list.
func Names() []string { return strings.Split(AlgorithmNames, ", ") }
