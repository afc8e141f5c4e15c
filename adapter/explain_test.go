package adapter_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/status"
)

// explained is what `accordion explain` says of a job now.
func (w *world) explained(key adapter.Key) string {
	w.t.Helper()
	x, err := status.Explain(w.journal, int64(key.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	if err := x.Write(&b, time.Now(), time.UTC); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

func TestXX(t *testing.T) {
	o := slurmish
	inWorld(t, o, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 8, Limit: 600, Runs: 300, User: "bob", Name: "big"})
		ev := w.evolving("4x500s,2x100s")
		w.at(30)
		ord := w.submit(embedded.JobSpec{Nodes: 12, Limit: 1800, Runs: 200, User: "carl", Name: "wide"})
		w.at(32)
		job := w.evolving("5x500s,10x1h")
		w.at(40)
		late := w.evolving("2x100s,16x1h")
		w.at(100)
		t.Log(w.explained(job))
		t.Log(w.explained(ord))
		t.Log(w.explained(ev))
		t.Log(w.explained(late))
		q, _ := status.ReadQueue(w.journal)
		var b strings.Builder
		q.Table(&b, time.Now(), time.UTC)
		t.Log(b.String())
		w.at(400)
		t.Log(w.explained(job))
		t.Log(w.explained(ev))
		w.quiet(20000)
		t.Log(w.explained(job))
	})
}
