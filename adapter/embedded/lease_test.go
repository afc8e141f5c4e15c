package embedded

import (
	"errors"
	"testing"
	"time"

	"accordion/adapter"
)

func TestLeaseHasOneHolderUntilItExpiresIsLeftOrTakenOver(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		claim := func(id string) adapter.Claim {
			return adapter.Claim{Holder: adapter.Holder{ID: id, Host: "host-" + id, PID: 7}, Length: time.Minute}
		}
		refused := func(err error, by string, until int) {
			t.Helper()
			leased := (*adapter.LeaseHeldError)(nil)
			if !errors.As(err, &leased) || leased.ID != by || leased.Host != "host-"+by || leased.PID != 7 || leased.Until != w.unix(int64(until)) {
				t.Errorf("refused with %v, want the lease of %s until second %d", err, by, until)
			}
		}
		w.must(w.TakeLease(w.ctx, claim("a")))
		refused(w.TakeLease(w.ctx, claim("b")), "a", 60)
		w.at(40)
		w.must(w.RenewLease(w.ctx, claim("a")))
		w.at(99)
		refused(w.TakeLease(w.ctx, claim("b")), "a", 100)
		w.must(w.TakeLease(w.ctx, claim("a"))) // as if the same sidecar was started again
		w.at(158)
		if got := w.LeaseOf(); got != "a" {
			t.Errorf("at second 158 the lease is %q's, want a's", got)
		}
		w.at(159)
		if got := w.LeaseOf(); got != "" {
			t.Errorf("at second 159 the lease is %q's, want nobody's", got)
		}
		w.must(w.TakeLease(w.ctx, claim("b")))
		refused(w.RenewLease(w.ctx, claim("a")), "b", 219)
		w.must(w.LeaveLease(w.ctx, claim("a").Holder, 0)) // changes nothing, because sidecar a no longer has the lease
		over := claim("a")
		over.Over = true
		w.must(w.TakeLease(w.ctx, over))
		refused(w.RenewLease(w.ctx, claim("b")), "a", 219)
		w.must(w.LeaveLease(w.ctx, claim("a").Holder, 0))
		w.must(w.RenewLease(w.ctx, claim("b"))) // the lease is free
	})
}
