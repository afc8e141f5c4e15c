package oar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// elsewhere starts a sidecar for some seconds as if on another host, with another host name, journal and folder of locks. It returns the
// sidecar's output, and whether the sidecar served. Labs share /tmp, but each has its own /run.
func elsewhere(lab *lab.OARLab, flags ...string) (said string, serves bool) {
	const script = `hostname elsewhere && mkdir -p /run/accordion-sidecars && mount -t tmpfs none /run/accordion-sidecars &&
		sed 's/journal\.db/elsewhere.db/' /etc/accordion/accordion.toml >/run/elsewhere.toml && printf '[session]\nsocket = "/run/elsewhere.sock"\n' >>/run/elsewhere.toml &&
		exec timeout 10 accordion serve --config /run/elsewhere.toml "$@"`
	out, errs, _ := lab.ExecWithin(2*time.Minute, "root", append([]string{"unshare", "--mount", "--uts", "sh", "-c", script, "sh"}, flags...)...)
	return out + errs, strings.Contains(errs, "accordion: ready")
}

const reservations = "select count(*) from accordion_reservations"

// reservesAhead submits jobs, one of which waits and gets reserved nodes.
func reservesAhead(t *testing.T, lab *lab.OARLab) (jobs []string) {
	t.Helper()
	busy := lab.Submit(t, "bob", "sleep 3000", "-q", "evolve", "-l", "nodes=3,walltime=0:30:0")
	lab.Await(t, long, "an ordinary job runs", func() bool { return lab.State(t, busy) == "Running" })
	waits := lab.Submit(t, "alice", "sleep 3000", "-q", "evolve", "-t", "ep=2x600s,3x600s")
	lab.Await(t, time.Minute, "nodes are reserved ahead", func() bool { return lab.SQL(t, reservations) == "2" })
	if said := lab.Run(t, "root", "accordion", "release-all"); !strings.Contains(said, "lives: nothing is given back") || lab.SQL(t, reservations) != "2" {
		t.Errorf("while a sidecar runs release-all prints %s", said)
	}
	return []string{busy, waits}
}

// reservesNothing waits until the lease of a dead sidecar has expired. Then it runs `accordion release-all`, as the systemd timer does,
// which deletes that sidecar's reservations.
func reservesNothing(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	said := ""
	lab.Await(t, 2*time.Minute, "the lease has ended", func() bool {
		said = lab.Run(t, "root", "accordion", "release-all", "--after-lease")
		return !strings.Contains(said, "lives: nothing is given back")
	})
	if n := lab.SQL(t, reservations); n != "0" {
		t.Errorf("release-all prints %s and leaves %s reservations", said, n)
	}
}

func TestASecondSidecarOnAnotherHostIsSeen(t *testing.T) {
	onBothDatabases(t, 3, func(t *testing.T, lab *lab.OARLab) {
		refused := func(when string) {
			t.Helper()
			said, serves := elsewhere(lab)
			for _, word := range []string{"another sidecar serves this cluster", "on host ", "(process ", "journal.db", "until", "--take-over"} {
				if serves || !strings.Contains(said, word) {
					t.Errorf("%s, the second serves (%v), or its message lacks %q: %s", when, serves, word, said)
				}
			}
		}
		lab.Do(t, "serve")
		refused("beside the first")
		if said := lab.Run(t, "root", "accordion", "status"); !strings.Contains(said, "as of") {
			t.Errorf("after the second's try, status shows for the first %s", said)
		}

		lab.Do(t, "serve-stop", "--kill")
		refused("just after kill -9 of the first")
		if said, serves := elsewhere(lab, "--take-over"); !serves {
			t.Errorf("with the option to take over from a dead sidecar it prints %s", said)
		}
		if left := lab.SQL(t, "select count(*) from accordion_leases where holder <> ''"); left != "0" {
			t.Errorf("ended in good order, it leaves %s leases", left)
		}

		lab.Do(t, "serve")
		lab.Do(t, "serve-stop", "--kill")
		lab.Do(t, "serve") // a sidecar on the same host with the same journal starts without delay
		jobs := reservesAhead(t, lab)
		lab.Do(t, "serve-stop", "--kill")
		reservesNothing(t, lab)
		lab.Run(t, "root", append([]string{"oardel"}, jobs...)...)
		lab.Await(t, 3*time.Minute, "the lease of the killed one has ended", func() bool {
			_, serves := elsewhere(lab)
			return serves
		})

		// If an older Accordion was installed, the table of leases does not exist.
		lab.SQL(t, "drop table accordion_leases")
		if said := lab.Run(t, "root", "accordion", "oar", "install"); !strings.Contains(said, "mended: tables") {
			t.Errorf("without the table of leases, install prints %s", said)
		}
		lab.SQL(t, "drop table accordion_leases")
		if said, serves := elsewhere(lab); !serves {
			t.Errorf("without the table of leases the sidecar prints %s", said)
		}
		awaitNothingLeft(t, lab)
	})
}
