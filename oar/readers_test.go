package oar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// A program that reads OAR's tables for a long time, such as a dump, delays an installation, but does not leave Accordion half installed.
func TestInstallAndUninstallOutlastALongReader(t *testing.T) {
	onBothDatabases(t, 1, func(t *testing.T, lab *lab.OARLab) {
		all := told(t, lab, "install")
		reading := func(seconds string) {
			t.Helper()
			query := "begin; select count(*) from jobs, resources, accordion_jobs, accordion_locks; select pg_sleep(" + seconds + "); commit"
			client := "PGPASSWORD=lab psql -q -h 127.0.0.1 -U oar oar"
			if lab.Database == "mariadb" {
				query = strings.Replace(strings.Replace(query, "begin", "start transaction", 1), "pg_sleep", "sleep", 1)
				client = "mysql -h 127.0.0.1 -u oar -plab oar"
			}
			lab.Run(t, "root", "bash", "-c", "echo '"+query+"' | "+client+" >/dev/null 2>&1 & sleep 1")
		}
		reading("9")
		begin := time.Now()
		if got := told(t, lab, "install"); got != "there" {
			t.Errorf("install during a long read made %s, want %s", got, all)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("install waited %v for a reader, though all is there", took)
		}
		out := lab.Run(t, "root", "accordion", "oar", "uninstall")
		if !strings.Contains(out, "waiting: others use the table ") || strings.Count(out, "removed: ") < 5 {
			t.Errorf("uninstall during a long read prints\n%s", out)
		}
		if left := strings.TrimSpace(installed(t, lab)); left != "" {
			t.Errorf("uninstall during a long read has left %s", left)
		}
	}, lab.Plain())
}
