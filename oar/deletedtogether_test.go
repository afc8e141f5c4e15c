package oar_test

import (
	"fmt"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// deletePaired is the code of a trigger that deletes all jobs with the same name, like oardel with several jobs. It
// runs in the transaction in which a companion of one of the jobs reaches a state. The name contains that state: the
// companion is made, is launched, runs, or is merged.
const deletePaired = `
create table struck (name text primary key);
create function strikes(job bigint, moment text) returns void as $$ declare pair text; begin
	select j.job_name into pair from jobs j where j.job_id = job and j.job_name = 'pair-' || moment;
	if pair is null then return; end if;
	insert into struck (name) values (pair) on conflict do nothing;
	if not found then return; end if;
	insert into frag_jobs (frag_id_job, frag_date) select j.job_id, 1 from jobs j where j.job_name = pair on conflict do nothing;
	insert into event_logs (type, job_id, date, description, to_check)
		select 'FRAG_JOB_REQUEST', j.job_id, 1, 'User alice requested to frag the job ' || j.job_id, 'NO' from jobs j where j.job_name = pair;
end $$ language plpgsql;
create function on_state() returns trigger as $$ begin
	perform strikes(a.base, new.state) from accordion_jobs a where a.job_id = new.job_id and a.base <> 0;
	return new; end $$ language plpgsql;
create function on_made() returns trigger as $$ begin
	perform strikes(a.base, 'made') from accordion_jobs a where a.job_id = new.job_id and a.base <> 0;
	return new; end $$ language plpgsql;
create function on_mark() returns trigger as $$ begin
	if new.base <> 0 and new.mark = 'grown' and old.mark <> 'grown' then perform strikes(new.base, 'merged'); end if;
	return new; end $$ language plpgsql;
create trigger strikes after update of state on jobs for each row execute function on_state();
create trigger strikes after insert on accordion_places for each row execute function on_made();
create trigger strikes after update on accordion_jobs for each row execute function on_mark();`

// Jobs that grow at the same second are deleted together, in the middle of the growth of one of them.
func TestTwoJobsDeletedAtOnceInTheirGrowthLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	moments := []string{"made", "toLaunch", "Launching", "Running", "merged"}
	lab := lab.OAR(t, 6*len(moments), lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	lab.SQL(t, deletePaired)
	script := ""
	for _, moment := range moments {
		for range 2 {
			script += fmt.Sprintf("oarsub -q evolve -t ep=1x20s,3x5m -n pair-%s 'sleep 18; eval \"$(accordion step)\"; sleep 280' >/dev/null || exit &\n", moment)
		}
	}
	lab.Run(t, "alice", "bash", "-c", script+"wait")
	lab.Await(t, long, "all of them have ended", func() bool {
		// The database changes these states itself, so OAR's server gets no notification.
		lab.Run(t, "root", "bash", "-c", "for word in Qdel ChState; do echo $word >/dev/tcp/127.0.0.1/6666; done; sleep 1")
		return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error') and job_name like 'pair-%'") == "0"
	})
	if struck := strings.Fields(lab.SQL(t, "select name from struck")); len(struck) != len(moments) {
		t.Errorf("of the pairs %v only %v were deleted", moments, struck)
	}
	if whole := lab.SQL(t, "select job_id from jobs where state = 'Terminated' and job_name like 'pair-%'"); whole != "" {
		t.Errorf("these came to their end: %s", whole)
	}
	awaitNothingLeft(t, lab)
	nodesAreClean(t, lab)
	checkNoOverlap(t, lab)
}
