package hostlist

import "slices"

// Set returns the names as a set.
func Set(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// Within returns the names that are in a set, in their order. It returns the same slice if all are.
func Within(names []string, set map[string]bool) []string {
	outside := func(n string) bool { return !set[n] }
	if !slices.ContainsFunc(names, outside) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), outside)
}

// Same reports whether two lists have the same names, regardless of order and duplicates.
func Same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
