package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pool are the labs that tests of this process take and give back.
var pool struct {
	sync.Mutex
	ready bool // Main will end them
	labs  []*pooled
}

// pooled is a lab of the pool. Its holder is the name of the test that has it, "" while nobody does.
type pooled struct {
	lab    kept // nil: it is to be booted
	kind   string
	holder string
}

// kept is a lab that can be cleared for the next test.
type kept interface {
	booted
	Clear(t testing.TB)
}

// atOnce is how many labs of the pool live at once, unless more tests have one: those that nobody has are taken down for others.
const atOnce = 6

// Main runs the tests and then takes the labs of the pool down. It returns the exit status for os.Exit.
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

// take is a lab of that kind which no other test has meanwhile: one that another test gave back, or a new one; cleared. The test gives it
// back when it ends. A subtest that asks for the lab of a test above it has the same one.
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

// choose holds a lab for a test: that of a test above it, one that nobody has, or one that is to be booted. If there are enough, an old one
// of another kind has left the pool, to be taken down first.
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

// giveBack lets others have it; one that could not be booted leaves the pool.
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

// leave takes it out of the pool, which is locked.
func leave(gone *pooled) {
	pool.labs = slices.DeleteFunc(pool.labs, func(p *pooled) bool { return p == gone })
}
