package labtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// pool are the labs that tests of this process take and give back.
var pool struct {
	sync.Mutex
	labs []*pooled
}

// pooled is a lab of the pool. Its holder is the name of the test that has it, "" while nobody does.
type pooled struct {
	lab    *Lab
	kind   string
	holder string
}

// atOnce is how many labs of the pool live at once, unless more tests have one: those that nobody has are taken down for others.
const atOnce = 6

// Take is a lab of that size and with these options which no other test has meanwhile: one that another test gave back, cleared, or a new
// one. The test gives it back when it ends. A subtest that asks for the lab of a test above it has the same one. The package's TestMain
// must call Main.
func Take(t testing.TB, nodes int, options ...Option) *Lab {
	t.Helper()
	obtainable(t)
	needMain(t)
	kind := fmt.Sprint(nodes, options)
	mine, old, above := choose(t.Name(), kind)
	if old != nil {
		if err := old.lab.down(); err != nil {
			t.Error(err)
		}
	}
	if !above {
		t.Cleanup(func() { giveBack(mine) })
	}
	if mine.lab == nil {
		lab, err := up(t, nodes, options)
		if err != nil {
			t.Fatal(err)
		}
		pool.Lock()
		mine.lab = lab
		pool.Unlock()
	}
	mine.lab.Clear(t)
	return mine.lab
}

// choose holds a lab for a test: that of a test above it, one that nobody has, or one that is to be booted. If there are enough, an old one
// of another kind has left the pool, to be taken down first.
func choose(name, kind string) (mine, old *pooled, above bool) {
	pool.Lock()
	defer pool.Unlock()
	for _, p := range pool.labs {
		if p.kind == kind && p.holder != "" && (p.holder == name || strings.HasPrefix(name, p.holder+"/")) {
			return p, nil, true
		}
	}
	for _, p := range pool.labs {
		if p.kind == kind && p.holder == "" {
			p.holder = name
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
	mine = &pooled{kind: kind, holder: name}
	pool.labs = append(pool.labs, mine)
	return mine, old, false
}

// giveBack lets others have it; one that could not be booted leaves the pool.
func giveBack(p *pooled) {
	pool.Lock()
	defer pool.Unlock()
	if p.holder = ""; p.lab == nil {
		leave(p)
	}
}

// leave takes it out of the pool, which is locked.
func leave(gone *pooled) {
	for i, p := range pool.labs {
		if p == gone {
			pool.labs = append(pool.labs[:i], pool.labs[i+1:]...)
			return
		}
	}
}
