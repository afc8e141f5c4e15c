package sched

import (
	"maps"
	"slices"

	"accordion/core"
)

// jobTable maps job IDs to values. Small IDs, such as those of a replay, need no hashing.
type jobTable[V any] struct {
	small []entry[V]
	large map[core.JobID]V
}

type entry[V any] struct {
	known bool
	value V
}

// smallIDs is the first ID that is hashed.
const smallIDs = 1 << 16

// Set stores the value of a job.
func (t *jobTable[V]) Set(id core.JobID, v V) {
	if uint64(id) >= uint64(len(t.small)) {
		t.widen(id, v)
		return
	}
	t.small[id] = entry[V]{true, v}
}

// widen stores the value of a job that is not in small.
func (t *jobTable[V]) widen(id core.JobID, v V) {
	if id < 0 || id >= smallIDs {
		if t.large == nil {
			t.large = map[core.JobID]V{}
		}
		t.large[id] = v
		return
	}
	for int(id) > len(t.small) {
		t.small = append(t.small, entry[V]{})
	}
	t.small = append(t.small, entry[V]{true, v})
}

// Get returns the value of a job.
func (t *jobTable[V]) Get(id core.JobID) (v V, known bool) {
	if uint64(id) >= uint64(len(t.small)) {
		v, known = t.large[id]
		return v, known
	}
	e := &t.small[id]
	return e.value, e.known
}

// Take returns the value of a job and removes it.
func (t *jobTable[V]) Take(id core.JobID) (v V, known bool) {
	if uint64(id) >= uint64(len(t.small)) {
		v, known = t.large[id]
		delete(t.large, id)
		return v, known
	}
	e := &t.small[id]
	v, known = e.value, e.known
	*e = entry[V]{}
	return v, known
}

// Each calls `visit` for all values, in no particular order.
func (t *jobTable[V]) Each(visit func(V)) {
	for i := range t.small {
		if t.small[i].known {
			visit(t.small[i].value)
		}
	}
	for _, v := range t.large {
		visit(v)
	}
}

// Map returns a table with the results of the function `become`.
func (t *jobTable[V]) Map(become func(V) V) jobTable[V] {
	c := t.Clone()
	for i := range c.small {
		if c.small[i].known {
			c.small[i].value = become(c.small[i].value)
		}
	}
	for id, v := range c.large {
		c.large[id] = become(v)
	}
	return c
}

// Clone returns a copy.
func (t *jobTable[V]) Clone() jobTable[V] {
	return jobTable[V]{slices.Clone(t.small), maps.Clone(t.large)}
}
