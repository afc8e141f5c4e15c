package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/shim/seal/sealtest"
)

func TestPreflightSaysWhetherJobsOnOtherHostsReachTheSidecar(t *testing.T) {
	munge := sealtest.Munged(t)
	for name, c := range map[string]struct {
		session config.Session
		want    adapter.Severity // "" if no finding
		says    string
	}{
		"no address":     {config.Session{}, adapter.Note, "this host only"},
		"an address":     {config.Session{Listen: ":6820", MungeSocket: munge}, "", ""},
		"without munged": {config.Session{Listen: ":6820", MungeSocket: filepath.Join(t.TempDir(), "nobody")}, adapter.Fatal, "nobody"},
	} {
		found := checkSession(t.Context(), c.session)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: %v", name, found)
		case c.want != "" && (len(found) != 1 || found[0].Severity != c.want || !strings.Contains(found[0].What, c.says)):
			t.Errorf("%s: %v, want %s: %s", name, found, c.want, c.says)
		}
	}
}

// lostGrant is a batch system that grants a lease, but whose answer is lost.
type lostGrant struct {
	adapter.Leaser
	holder string
	told   chan struct{} // closed when the lease is granted
}

func (g *lostGrant) TakeLease(ctx context.Context, c adapter.Claim) error {
	g.holder = c.ID
	close(g.told)
	<-ctx.Done()
	return ctx.Err()
}

func (g *lostGrant) LeaveLease(ctx context.Context, h adapter.Holder, _ time.Duration) error {
	if g.holder == h.ID {
		g.holder = ""
	}
	return ctx.Err()
}

func TestATrialThatIsInterruptedWhileItAsksForTheLeaseLeavesNone(t *testing.T) {
	g := &lostGrant{told: make(chan struct{})}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-g.told
		interrupt()
	}()
	c := &Cluster{Leaser: g, Deadline: time.Minute}
	if _, err := c.holdLease(ctx, "preflight --try"); !errors.Is(err, context.Canceled) {
		t.Errorf("asking for the lease ends with %v", err)
	}
	if g.holder != "" {
		t.Errorf("the lease stays %q's", g.holder)
	}
}
