package evolve

import (
	"slices"
	"strings"
)

// Names are those of AlgorithmNames, one by one: those of CoreGRID 2011, Tables 1 and 2, in that order, then those that it does
// not have.
func Names() []string {
	names := strings.Split(AlgorithmNames, ", ")
	var ours []string
	names = slices.DeleteFunc(names, func(name string) bool {
		if !strings.HasSuffix(name, "+opt") {
			return false
		}
		ours = append(ours, name)
		return true
	})
	return append(names, ours...)
}
