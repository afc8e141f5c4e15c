package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// abandoned is a batch system with a reservation for a waiting job and one for a later step of a running job.
type abandoned struct {
	now     core.Time // the time of the batch system's clock
	holder  *adapter.Holder
	kept    core.Time
	step    core.Time // end of the reservation for the later step
	deleted []string
}

func (a *abandoned) Now(context.Context) (core.Time, error)          { return a.now, nil }
func (a *abandoned) Holder(context.Context) (*adapter.Holder, error) { return a.holder, nil }
func (a *abandoned) KeptUntil(context.Context) (core.Time, error)    { return a.kept, nil }
func (a *abandoned) Hold(context.Context, adapter.Key) error         { return nil }
func (a *abandoned) Detach(context.Context, adapter.Key) error       { return nil }
func (a *abandoned) Unreserve(_ context.Context, name string) error {
	a.deleted = append(a.deleted, name)
	return nil
}
func (a *abandoned) Reserved(context.Context) ([]adapter.Reservation, []adapter.Job, error) {
	runs := adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Running, Mark: "accordion:ep=1x1h,2x1h"}
	return []adapter.Reservation{{Name: "accordion-7-1", End: a.step}, {Name: "accordion-9-0", End: a.now + 3600}}, []adapter.Job{runs}, nil
}

// The batch system's clock decides whether a sidecar's lease is valid, which reservations are kept after a stop, and which have ended.
func TestReservationsAreReleasedByTheBatchSystemsClock(t *testing.T) {
	for name, skew := range map[string]core.Time{"this host is 5 minutes ahead": -300, "the clocks agree": 0, "this host is 5 minutes behind": 300} {
		now := time.Now().Unix() + skew
		holder := func(until core.Time) *adapter.Holder { return &adapter.Holder{ID: "a", Host: "n1", Until: until} }
		for _, c := range []struct {
			what       string
			holder     *adapter.Holder
			kept, step core.Time
			want       []string
		}{
			{"a sidecar lives", holder(now + 30), 0, now + 100, nil},
			{"a sidecar died", holder(now - 1), 0, now + 100, []string{"accordion-9-0"}},
			{"a sidecar left its reservations", nil, now + 30, now + 100, nil},
			{"they are not kept any longer", nil, now - 1, now + 100, []string{"accordion-9-0"}},
			{"the later step is over", nil, 0, now - 1, []string{"accordion-7-1", "accordion-9-0"}},
		} {
			system := &abandoned{now: now, holder: c.holder, kept: c.kept, step: c.step}
			text, err := (&Cluster{stopped: system}).release(t.Context(), false, true)
			if diff := cmp.Diff(c.want, system.deleted); err != nil || diff != "" {
				t.Errorf("%s, %s: %q, %v; deleted are (-want +got)\n%s", name, c.what, text, err, diff)
			}
		}
	}
}

// A database that accepts connections and never answers delays the command only until the command's own deadline.
func TestReleaseAllEndsWhereTheBatchSystemDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	host, port, _ := net.SplitHostPort(silent.Addr().String())
	file := filepath.Join(t.TempDir(), "oar.conf")
	text := fmt.Sprintf("DB_TYPE=Pg\nDB_HOSTNAME=%s\nDB_PORT=%s\nDB_BASE_PASSWD=x\nDB_BASE_PASSWD_RO=x\n", host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := config.Default()
	conf.System, conf.OAR.Conf = config.SystemOAR, file
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	said, err := releaseAll(ctx, command.Cluster{Config: conf}, false, true, 100*time.Millisecond)
	if err == nil || ctx.Err() != nil {
		t.Errorf("release-all says %q, %v; it took longer than 3 s: %v", said, err, ctx.Err())
	}
}
