package oar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/scripts/lab"
)

// elsewhere lets a sidecar serve for some seconds as on another host: with a name, a journal and a folder of locks of its own. It gives
// what the sidecar said, and whether it served. Labs share /tmp, and each has its own /run.
func elsewhere(lab *lab.OARLab, flags ...string) (said string, serves bool) {
	const script = `hostname elsewhere && mkdir -p /run/accordion-sidecars && mount -t tmpfs none /run/accordion-sidecars &&
		sed 's/journal\.db/elsewhere.db/' /etc/accordion/accordion.toml >/run/elsewhere.toml && printf '[session]\nsocket = "/run/elsewhere.sock"\n' >>/run/elsewhere.toml &&
		exec timeout 10 accordion serve --config /run/elsewhere.toml "$@"`
	out, errs, _ := lab.ExecWithin(2*time.Minute, "root", append([]string{"unshare", "--mount", "--uts", "sh", "-c", script, "sh"}, flags...)...)
	return out + errs, strings.Contains(errs, "accordion: ready")
}

func TestASecondSidecarOnAnotherHostIsSeen(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, lab *lab.OARLab) {
		refused := func(when string) {
			t.Helper()
			said, serves := elsewhere(lab)
			for _, word := range []string{"another sidecar serves this cluster", "on host ", "(process ", "journal.db", "until", "--take-over"} {
				if serves || !strings.Contains(said, word) {
					t.Errorf("%s, the second serves (%v) or is told, without %q: %s", when, serves, word, said)
				}
			}
		}
		lab.Do(t, "serve")
		refused("beside the first")
		if said := lab.Run(t, "root", "accordion", "status"); !strings.Contains(said, "as of") {
			t.Errorf("after the second's try, status says of the first %s", said)
		}

		lab.Do(t, "serve-stop", "--kill")
		refused("just after kill -9 of the first")
		if said, serves := elsewhere(lab, "--take-over"); !serves {
			t.Errorf("told to take over from a dead sidecar it says %s", said)
		}
		if left := lab.SQL(t, "select count(*) from accordion_leases where holder <> ''"); left != "0" {
			t.Errorf("ended in good order, it leaves %s leases", left)
		}

		lab.Do(t, "serve")
		lab.Do(t, "serve-stop", "--kill")
		lab.Do(t, "serve") // the same host and journal: at once
		lab.Do(t, "serve-stop", "--kill")
		lab.Await(t, 3*time.Minute, "the lease of the killed one is over", func() bool {
			_, serves := elsewhere(lab)
			return serves
		})

		// An OAR in which an older Accordion was installed has no table of leases.
		lab.SQL(t, "drop table accordion_leases")
		if said := lab.Run(t, "root", "accordion", "oar", "install"); !strings.Contains(said, "mended: tables") {
			t.Errorf("without the table of leases, install says %s", said)
		}
		lab.SQL(t, "drop table accordion_leases")
		if said, serves := elsewhere(lab); !serves {
			t.Errorf("without the table of leases the sidecar says %s", said)
		}
		nothingLeft(t, lab)
	})
}
