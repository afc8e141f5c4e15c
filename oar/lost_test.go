package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// suspectAPlace is a trigger. In the transaction that releases an evolving job, it sets one node of the job's places
// to Suspected. It acts only once.
const suspectAPlace = `
create table loss (node text);
create function loses() returns trigger as $$ begin
	if new.base = 0 and new.released = 1 and old.released = 0 and not exists (select 1 from loss) then
		insert into loss select max(r.network_address) from accordion_places p join resources r on r.resource_id = p.resource_id where p.job_id = new.job_id;
		update resources set state = 'Suspected' where network_address = (select node from loss);
	end if;
	return new; end $$ language plpgsql;
create trigger loses after update on accordion_jobs for each row execute function loses();`

// A job is released on a node that has just become Suspected. Its start is taken back, and it starts on other nodes without delay.
func TestAStartOnANodeThatIsLostIsTakenBackAtOnceOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 6, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	lab.SQL(t, suspectAPlace)
	job := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x12s,3x12s", 10, "10"))
	ends(t, lab, job)
	node := lab.SQL(t, "select node from loss")
	said := lab.Run(t, "root", "accordion", "journal", "--job", job)
	if !strings.Contains(said, node+" was lost before it began; its start is planned anew") || strings.Contains(said, "did not start in time") {
		t.Errorf("the start of job %s on %s, which was lost, was not taken back at once:\n%s", job, node, said)
	}
	if on := hosts(t, lab, job); slices.Contains(on, node) {
		t.Errorf("job %s ran on %v, and %s was lost", job, on, node)
	}
	if got := stepSizes(t, lab, "alice", job); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 3", job, got)
	}
	awaitNothingLeft(t, lab)
	checkNoOverlap(t, lab)
}
