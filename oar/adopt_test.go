package oar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// oarsub writes a job in several transactions. A reader between two of these transactions sees only a part of the
// job's profile.
func TestJobIsAdoptedOnlyWhenItIsComplete(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 4, lab.Database(lab.PostgreSQL), lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { checkAudit(t, lab) })
	// The database is slow between the first and the second of three types.
	lab.SQL(t, `create function linger() returns trigger as 'begin perform pg_sleep(12); return new; end' language plpgsql`)
	lab.SQL(t, `create trigger linger before insert on job_types for each row when (new.type like 'ep2=%') execute procedure linger()`)
	job := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-t", "ep1=1x50s", "-t", "ep2=2x20s", "-t", "ep3=4x10s")
	accepted := ""
	lab.Await(t, time.Minute, "job "+job+" is accepted", func() bool {
		for line := range strings.Lines(lab.Run(t, "root", "accordion", "journal", "--job", job)) {
			if strings.Contains(line, "accepted") {
				accepted = strings.TrimSpace(line)
			}
		}
		return accepted != ""
	})
	if want := "accepted: ep=1x50s|2x20s|4x10s"; !strings.Contains(accepted, want+" ") {
		t.Errorf("the sidecar says %q, want all of the profile: %s", accepted, want)
	}
	ends(t, lab, job)
}
