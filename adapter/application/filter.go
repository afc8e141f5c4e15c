package application

import (
	"slices"

	"accordion/adapter/part"
	"accordion/shim/wire/launcher"
)

// Admits says whether a filter lets a cluster through, as far as that is known: b is its newest board, nil before the first.
func Admits(f launcher.Filter, name string, attrs map[string]string, b *part.Board) bool {
	if len(f.Clusters) > 0 && !slices.Contains(f.Clusters, name) {
		return false
	}
	for k, v := range f.Attrs {
		if has, ok := attrs[k]; !ok || has != v {
			return false
		}
	}
	if b == nil {
		return true
	}
	return b.Hosts >= f.MinHosts && b.Memory >= f.HostMem && b.Memory*int64(b.Hosts) >= f.TotalMem && f.Scratch <= 0 &&
		(f.Arch == "" || f.Arch == b.Arch)
}
