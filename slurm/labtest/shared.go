package labtest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
)

// shared are the labs of this test process that its tests share; nil unless Main runs it.
var shared struct {
	sync.Mutex
	ready bool
	labs  map[string]*Lab
}

// Main runs the tests and then takes the shared labs down. It returns the exit status for os.Exit.
func Main(m *testing.M) int {
	shared.Lock()
	shared.ready, shared.labs = true, map[string]*Lab{}
	shared.Unlock()
	status := m.Run()
	all := slices.Collect(maps.Values(shared.labs))
	for _, p := range pool.labs {
		if p.lab != nil {
			all = append(all, p.lab)
		}
	}
	for _, lab := range all {
		if err := lab.down(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = max(status, 1)
		}
	}
	return status
}

// Shared is a lab that all tests of the process share which ask for the same size and options. It is booted once;
// jobs of an earlier test may be in it (Clear). The package's TestMain must call Main.
func Shared(t testing.TB, nodes int, options ...Option) *Lab {
	t.Helper()
	obtainable(t)
	needMain(t)
	shared.Lock()
	defer shared.Unlock()
	key := fmt.Sprint(nodes, options)
	if lab, booted := shared.labs[key]; booted {
		return lab
	}
	lab, err := up(t, nodes, options)
	if err != nil {
		t.Fatal(err)
	}
	shared.labs[key] = lab
	return lab
}

// needMain fails a test whose labs nobody would take down.
func needMain(t testing.TB) {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.ready {
		t.Fatal("a shared lab needs func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }")
	}
}
