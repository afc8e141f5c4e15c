package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// fate is an event that ends or damages an evolving job, and its moment. The job's name contains both. A change of OAR's or Accordion's
// tables marks the moment, and a trigger in the database causes the event in the same transaction (see carryOutFates). A moment in the life
// of a companion also counts as a moment of its job.
type fate struct {
	what   string // what happens, such as deleted or base-Absent; "base" stands for a node of the base, "part" for a companion or its node
	moment string
	daily  bool
	sizes  string // what the job saw of itself, step by step; "" if it does not reach its end
}

const whole = "2 5 3"

var fates = []fate{
	// The job is deleted (oardel) while it waits.
	{what: "deleted", moment: "Waiting", daily: false, sizes: ""},
	{what: "deleted", moment: "adopted", daily: false, sizes: ""},
	{what: "deleted", moment: "reserved", daily: true, sizes: ""},
	{what: "deleted", moment: "attached", daily: false, sizes: ""},
	{what: "deleted", moment: "released", daily: true, sizes: ""},
	// The job is deleted while it begins, on two nodes, or on two nodes and a companion's two nodes.
	{what: "deleted", moment: "toLaunch", daily: true, sizes: ""},
	{what: "deleted", moment: "Launching", daily: false, sizes: ""},
	{what: "deleted", moment: "Running", daily: false, sizes: ""},
	{what: "deleted", moment: "first.made", daily: true, sizes: ""},
	{what: "deleted", moment: "first.toLaunch", daily: false, sizes: ""},
	{what: "deleted", moment: "first.Launching", daily: false, sizes: ""},
	{what: "deleted", moment: "first.Running", daily: false, sizes: ""},
	// The job is deleted while it grows.
	{what: "deleted", moment: "reserved.1", daily: false, sizes: ""},
	{what: "deleted", moment: "grown.made", daily: true, sizes: ""},
	{what: "deleted", moment: "grown.toLaunch", daily: false, sizes: ""},
	{what: "deleted", moment: "grown.Launching", daily: false, sizes: ""},
	{what: "deleted", moment: "grown.Running", daily: false, sizes: ""},
	{what: "deleted", moment: "merged", daily: true, sizes: ""},
	// The job is deleted while it shrinks, and at its end.
	{what: "deleted", moment: "leaves", daily: true, sizes: ""},
	{what: "deleted", moment: "left", daily: false, sizes: ""},
	{what: "deleted", moment: "Finishing", daily: false, sizes: whole},
	{what: "deleted", moment: "Terminated", daily: false, sizes: whole},

	// A companion is deleted by the job's user, who also owns the companion.
	{what: "part-deleted", moment: "first.made", daily: false, sizes: "4 2 3"},
	{what: "part-deleted", moment: "first.Running", daily: false, sizes: "4 2 3"},
	{what: "part-deleted", moment: "grown.made", daily: true, sizes: whole},
	{what: "part-deleted", moment: "grown.Launching", daily: false, sizes: whole},
	{what: "part-deleted", moment: "grown.Running", daily: false, sizes: whole},
	{what: "part-deleted", moment: "merged", daily: true, sizes: whole},

	// A node of its base, or of a companion, is lost.
	{what: "base-Suspected", moment: "released", daily: false, sizes: whole},
	{what: "base-Absent", moment: "released", daily: false, sizes: whole},
	{what: "base-Suspected", moment: "Running", daily: false, sizes: whole},
	{what: "base-Suspected", moment: "merged", daily: false, sizes: whole},
	{what: "base-Absent", moment: "Running", daily: false, sizes: ""},
	{what: "base-Absent", moment: "grown.made", daily: false, sizes: ""},
	{what: "base-Absent", moment: "merged", daily: true, sizes: ""},
	{what: "base-Dead", moment: "merged", daily: false, sizes: ""},
	{what: "part-Suspected", moment: "grown.made", daily: false, sizes: whole},
	{what: "part-Suspected", moment: "merged", daily: true, sizes: whole},
	{what: "part-Absent", moment: "first.made", daily: false, sizes: "4 2 3"},
	{what: "part-Absent", moment: "grown.made", daily: false, sizes: whole},
	{what: "part-Absent", moment: "merged", daily: true, sizes: whole},
	{what: "part-Dead", moment: "merged", daily: false, sizes: whole},
}

func (f fate) name() string { return f.what + "." + f.moment }

// profile returns steps that are long enough for a slow OAR. If the job will not reach its end, the last step is long enough for the fate.
func (f fate) profile() string {
	first := "2x20s,5x20s"
	if strings.Contains(f.moment, "first") {
		first = "4x20s,2x20s"
	}
	if f.sizes == "" {
		return first + ",3x2m"
	}
	return first + ",3x20s"
}

// carryOutFates is the code of the triggers by which PostgreSQL causes the events.
const carryOutFates = `
create function deleted(victim bigint) returns void as $$ begin
	insert into frag_jobs (frag_id_job, frag_date) values (victim, 1) on conflict do nothing;
	insert into event_logs (type, job_id, date, description, to_check) values ('FRAG_JOB_REQUEST', victim, 1, 'User alice requested to frag the job ' || victim, 'NO');
end $$ language plpgsql;
create table fates (job bigint primary key);
create function happens(job bigint, part bigint, moment text) returns void as $$ declare what text; node text; begin
	select split_part(j.job_name, '.', 1) into what from jobs j where j.job_id = job and j.job_name like '%.' || moment and split_part(j.job_name, '.', 1) || '.' || moment = j.job_name;
	if what is null then return; end if;
	insert into fates (job) values (job) on conflict do nothing;
	if not found then return; end if;
	case split_part(what, '-', 1) || '-' || (split_part(what, '-', 2) in ('Suspected', 'Absent', 'Dead'))
	when 'deleted-false' then perform deleted(job);
	when 'part-false' then perform deleted(part);
	else
		select max(r.network_address) into node from accordion_places p join resources r on r.resource_id = p.resource_id
			where p.job_id = case split_part(what, '-', 1) when 'base' then job else part end;
		update resources set next_state = split_part(what, '-', 2), next_finaud_decision = 'NO' where network_address = node;
	end case;
end $$ language plpgsql;
create table begun (what text);
create function on_job() returns trigger as $$ begin
	if new.job_name like 'accordion-%' and new.state <> 'Waiting' then
		insert into begun select new.job_id || ' ' || new.job_name || ' ' || new.state || ' at ' || extract(epoch from clock_timestamp()) || ', planned for ' ||
			coalesce((select string_agg(p.start_time::text, ',') from gantt_jobs_predictions p join moldable_job_descriptions m on m.moldable_id = p.moldable_job_id where m.moldable_job_id = new.job_id), '?')
			|| ', OAR plans for ' || coalesce((select string_agg(p.start_time::text, ',') from gantt_jobs_predictions p where p.moldable_job_id = 0), '?') || ', reserved from ' ||
			coalesce((select v.start_time::text from accordion_reservations v where v.holder = new.job_id), '?') || ', submitted ' || new.submission_time;
	end if;
	perform happens(new.job_id, 0, new.state);
	if new.job_name like 'ep-%' then
		perform happens(a.base, new.job_id, case when a.mark = 'first' then 'first.' else 'grown.' end || new.state) from accordion_jobs a where a.job_id = new.job_id;
		if new.state = 'Terminated' then perform happens(substr(new.job_name, 4)::bigint, new.job_id, 'left'); end if;
	end if;
	return new; end $$ language plpgsql;
create function on_place() returns trigger as $$ begin
	perform happens(a.base, new.job_id, case when a.mark = 'first' then 'first.made' else 'grown.made' end) from accordion_jobs a where a.job_id = new.job_id and a.base <> 0;
	return new; end $$ language plpgsql;
create function on_ours() returns trigger as $$ begin
	if tg_op = 'INSERT' and new.base = 0 then perform happens(new.job_id, 0, 'adopted');
	elsif new.base = 0 and new.released = 1 and old.released = 0 then perform happens(new.job_id, 0, 'released');
	elsif new.base = 0 and new.reservation <> old.reservation then perform happens(new.job_id, 0, 'attached');
	elsif new.base <> 0 and new.mark = 'grown' and old.mark <> 'grown' then perform happens(new.base, new.job_id, 'merged');
	end if;
	return new; end $$ language plpgsql;
create function on_reservation() returns trigger as $$ begin
	perform happens(split_part(new.name, '-', 2)::bigint, 0, case split_part(new.name, '-', 3) when '0' then 'reserved' else 'reserved.' || split_part(new.name, '-', 3) end);
	return new; end $$ language plpgsql;
create function on_end() returns trigger as $$ begin
	perform happens(a.base, new.frag_id_job, 'leaves') from accordion_jobs a where a.job_id = new.frag_id_job and a.base <> 0;
	return new; end $$ language plpgsql;
create trigger fate after insert or update of state on jobs for each row execute function on_job();
create trigger fate after insert on accordion_places for each row execute function on_place();
create trigger fate after insert or update on accordion_jobs for each row execute function on_ours();
create trigger fate after insert on accordion_reservations for each row execute function on_reservation();
create trigger fate after insert on frag_jobs for each row execute function on_end();`

// A user may delete a job, or one of its companions, at any time, and any of the job's nodes may be lost. Afterwards
// nothing is left of the job, and its nodes are free for other jobs. No node is ever in two jobs. A caller that waits
// for the job gets the reason why the job ended. A job that continues has all its nodes again from its next step on.
// With -accordion.long all fates are tested, simultaneously.
func TestDeletedJobsAndLostNodesLeaveNothing(t *testing.T) {
	t.Parallel()
	chosen := fates
	if !*everything {
		chosen = slices.DeleteFunc(slices.Clone(fates), func(f fate) bool { return !f.daily })
	}
	nodes := 5*len(chosen) + 5
	lab := lab.OAR(t, nodes)
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	lab.SQL(t, carryOutFates)
	const where = `w() { sort -u "$OAR_NODEFILE" | wc -l >>sizes.$OAR_JOB_ID; }; w; for n in 1 2; do sleep 4; eval "$(accordion step)"; w; done; sleep %d`
	script := ""
	for _, f := range chosen {
		last := 4
		if f.sizes == "" {
			last = 100 // OAR may be slow
		}
		script += fmt.Sprintf("oarsub -q evolve -t ep=%s -n %s '%s' >/dev/null || exit &\n", f.profile(), f.name(), fmt.Sprintf(where, last))
	}
	lab.Run(t, "alice", "bash", "-c", script+"wait")
	lab.Await(t, long, "all of them have ended", func() bool {
		// The database changes these states itself, so OAR's server gets no notification.
		lab.Run(t, "root", "bash", "-c", "for word in Qdel ChState; do echo $word >/dev/tcp/127.0.0.1/6666; done; sleep 1")
		return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error') and job_name like '%.%'") == "0"
	})
	awaitNothingLeft(t, lab)
	checkNoOverlap(t, lab)
	if begun := lab.SQL(t, "select * from begun"); begun != "" {
		t.Errorf("what only shows reservations has begun: %s", begun)
	}
	met := map[string]string{} // number of the job, by the name of its fate
	for line := range strings.Lines(lab.SQL(t, "select j.job_name, j.job_id from jobs j join fates f on f.job = j.job_id")) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), "|")
		met[name] = id
	}
	for _, f := range chosen {
		f.checkOutcome(t, lab, met[f.name()])
	}
	lab.SQL(t, "update resources set state = 'Alive', next_state = 'UnChanged'")
	nodesAreClean(t, lab)
	ends(t, lab, lab.Submit(t, "alice", "true", "-q", "evolve", "-l", fmt.Sprintf("nodes=%d,walltime=0:1:0", nodes)))
}

// checkOutcome checks how the job with this fate ended.
func (f fate) checkOutcome(t *testing.T, lab *lab.OARLab, job string) {
	t.Helper()
	if job == "" {
		t.Errorf("%s: the moment never came", f.name())
		return
	}
	told := lab.Run(t, "root", "accordion", "explain", job)
	if f.sizes == "" {
		if state := lab.State(t, job); state != "Error" {
			t.Errorf("%s: job %s is %s, want Error\n%s", f.name(), job, state, told)
		}
	} else if got := strings.Join(strings.Fields(lab.Run(t, "alice", "cat", "sizes."+job)), " "); got != f.sizes {
		t.Errorf("%s: job %s saw %q nodes in its steps, want %q\n%s", f.name(), job, got, f.sizes, told)
	}
	if f.what == "deleted" && f.sizes == "" && f.moment != "Waiting" && !strings.Contains(told, "User alice requested to frag the job "+job) {
		t.Errorf("%s: explain does not show who ended job %s:\n%s", f.name(), job, told)
	}
}
