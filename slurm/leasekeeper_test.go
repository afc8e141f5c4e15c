package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/client/clienttest"
)

// oneReservation returns a scontrol that keeps one reservation in a file of the folder, as Slurm does.
func oneReservation(dir string) string {
	return clienttest.Speaking(dir, `file=`+dir+`/lease
	set -- $line
	for word in "$@"; do case $word in EndTime=uts*) end=${word#*=uts} ;; StartTime=uts*) start=${word#*=uts} ;; BurstBuffer=*) said=${word#*=} ;; esac; done
	case $line in
	"create reservation ReservationName=accordion-lease "*)
		if [ -e $file ]; then echo "Error creating the reservation: Duplicate reservation name" >&2; else echo "$start $end $said" >$file; fi ;;
	"update reservation ReservationName=accordion-lease "*)
		if [ ! -e $file ]; then echo "Error updating the reservation: Requested reservation is invalid" >&2; else
			read -r start before holder <$file; echo "$start $end ${said:-$holder}" >$file; fi ;;
	"show reservation accordion-lease")
		if [ ! -e $file ]; then echo "Reservation accordion-lease not found"; else
			read -r start end holder <$file
			echo "ReservationName=accordion-lease StartTime=$start EndTime=$end Duration=00:01:00 Nodes=(null) NodeCnt=0 Flags=ANY_NODES Users=root State=ACTIVE BurstBuffer=$holder Watts=n/a"; fi ;;
	"delete ReservationName=accordion-lease") rm $file ;;
	esac; unset start end said`)
}

func keeper(t *testing.T) (k *leaseKeeper, dir string) {
	t.Helper()
	dir = t.TempDir()
	run := client.New(client.Config{Bin: clienttest.Programs(t, map[string]string{"scontrol": oneReservation(dir)}), Timeout: time.Minute, AtOnce: 2})
	t.Cleanup(run.Close)
	return newLease(run), dir
}

func claim(id string) adapter.Claim {
	return adapter.Claim{Holder: adapter.Holder{ID: id, Host: "h " + id, PID: 7, Journal: "/v/" + id + ",=:.db"}, Length: time.Minute}
}

func refused(t *testing.T, err error, by string) {
	t.Helper()
	leased := (*adapter.LeaseHeldError)(nil)
	if !errors.As(err, &leased) {
		t.Fatalf("%v, want the lease of %s", err, by)
	}
	want := claim(by).Holder
	want.Since, want.Until = leased.Since, leased.Until
	if leased.Holder != want || leased.Since == 0 || leased.Until < time.Now().Unix()+50 {
		t.Errorf("refused by %+v, want %+v for a minute", leased.Holder, want)
	}
}

func TestALeaseKeepsItsHolderUntilItIsLeftOrTakenOver(t *testing.T) {
	k, dir := keeper(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(k.TakeLease(t.Context(), claim("a")))
	refused(t, k.TakeLease(t.Context(), claim("b")), "a")
	must(k.TakeLease(t.Context(), claim("a"))) // a restarted sidecar takes its own lease again

	before := commands(t, dir)
	must(k.RenewLease(t.Context(), claim("a")))
	if n := commands(t, dir) - before; n != 2 {
		t.Errorf("a renewal takes %d commands, want 2", n)
	}

	over := claim("b")
	over.Over = true
	must(k.TakeLease(t.Context(), over))
	refused(t, k.RenewLease(t.Context(), claim("a")), "b")
	must(k.LeaveLease(t.Context(), claim("a").Holder, 0)) // sidecar a no longer holds the lease
	refused(t, k.TakeLease(t.Context(), claim("a")), "b")
	must(k.LeaveLease(t.Context(), claim("b").Holder, time.Minute))
	must(k.RenewLease(t.Context(), claim("a"))) // no sidecar holds the lease
	refused(t, k.RenewLease(t.Context(), claim("b")), "a")
}

func commands(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestALeaseWithOtherTextIsAnothers(t *testing.T) {
	h, err := parseLease(leaseName, "scontrol: ReservationName=accordion-lease StartTime=100 EndTime=160 Nodes=(null) BurstBuffer=mine,since:x Watts=n/a\n")
	if want := (adapter.Holder{ID: "?", Host: "mine,since:x", Since: 100, Until: 160}); err != nil || *h != want {
		t.Errorf("%+v, %v; want %+v", h, err, want)
	}
	if _, err := parseLease(leaseName, "ReservationName=accordion-lease StartTime=soon EndTime=160"); err == nil {
		t.Error("a lease that begins soon is read")
	}
}
