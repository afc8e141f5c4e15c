package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pool holds the labs that tests of this process take and give back.
var pool struct {
	sync.Mutex
	ready bool // Main will end the labs
	labs  []*pooled
}

// pooled is a lab of the pool. Its holder is the name of the test that uses it, or "".
type pooled struct {
	lab    kept // nil if not booted yet
	kind   string
	holder string
}

// kept is a lab that can be cleared for the next test.
type kept interface {
	booted
	Clear(t testing.TB)
}

// atOnce is how many labs of the pool may exist at the same time. There are more only if more tests use labs at the
// same time. Unused labs are taken down to make room for others.
const atOnce = 6

// Main runs the tests, takes the labs of the pool down, and returns the exit status.
func Main(m *testing.M) int {
	pool.Lock()
	pool.ready = true
	pool.Unlock()
	status := m.Run()
	for _, p := range pool.labs {
		if p.lab == nil {
			continue
		}
		if err := p.lab.down(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = max(status, 1)
		}
	}
	return status
}

// take returns a cleared lab of a kind that no other test uses. The lab is one that another test gave back, or a
// new one. The test gives the lab back when it ends. A subtest gets the lab of its parent test.
func take[L kept](t testing.TB, kind string, boot func(testing.TB) (L, error)) L {
	t.Helper()
	mine, old, above := choose(t, kind)
	if old != nil {
		if err := old.lab.down(); err != nil {
			t.Error(err)
		}
	}
	if !above {
		t.Cleanup(func() { giveBack(t, mine) })
	}
	if mine.lab == nil {
		lab, err := boot(t)
		if err != nil {
			t.Fatal(err)
		}
		pool.Lock()
		mine.lab = lab
		pool.Unlock()
	}
	mine.lab.Clear(t)
	return mine.lab.(L)
}

// choose selects a lab for a test: the lab of a parent test, an unused lab, or a new lab that the caller must boot.
// If there are enough labs, choose removes an old lab of another kind from the pool. Then the caller must first
// take down the old lab.
func choose(t testing.TB, kind string) (mine, old *pooled, above bool) {
	t.Helper()
	pool.Lock()
	defer pool.Unlock()
	if !pool.ready {
		t.Fatal("a lab of the pool needs func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }")
	}
	for _, p := range pool.labs {
		if p.kind == kind && p.holder != "" && (p.holder == t.Name() || strings.HasPrefix(t.Name(), p.holder+"/")) {
			return p, nil, true
		}
	}
	for _, p := range pool.labs {
		if p.kind == kind && p.holder == "" {
			p.holder = t.Name()
			return p, nil, false
		}
	}
	if len(pool.labs) >= atOnce {
		for _, p := range pool.labs {
			if p.holder == "" {
				old = p
				leave(p)
				break
			}
		}
	}
	mine = &pooled{kind: kind, holder: t.Name()}
	pool.labs = append(pool.labs, mine)
	return mine, old, false
}

// giveBack makes a lab available to other tests. If the lab could not be booted, giveBack removes it from the pool.
func giveBack(t testing.TB, p *pooled) {
	if p.lab != nil {
		p.lab.tell(t)
	}
	pool.Lock()
	defer pool.Unlock()
	if p.holder = ""; p.lab == nil {
		leave(p)
	}
}

// leave removes a lab from the pool. The caller holds the pool's lock.
func leave(gone *pooled) {
	pool.labs = slices.DeleteFunc(pool.labs, func(p *pooled) bool { return p == gone })
}
