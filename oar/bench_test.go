package oar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/oar/labtest"
)

// BenchmarkPass is a whole pass over a queue of a real OAR with 1,000 nodes, as OAR calls it: program start, SQL, planning,
// check, writing. Jobs have two configurations each; every tenth wants two switches. Beside it, OAR's own scheduler over the
// same queue, of which it looks at 1,000 jobs. The bounds: 2,000 jobs in half a second, 10,000 in three.
func BenchmarkPass(b *testing.B) {
	for _, database := range []string{labtest.PostgreSQL, labtest.MariaDB} {
		b.Run(database, func(b *testing.B) {
			lab := labtest.Up(b, 1000, database, "alice")
			lab.SQL(b, "update queues set state = 'notActive'") // we call, OAR does not
			waiting := 0
			for _, jobs := range []int{2000, 10000} {
				submit(b, lab, waiting, jobs)
				waiting = jobs
				pass := func(name string, command ...string) {
					b.Run(fmt.Sprintf("%s-%d", name, jobs), func(b *testing.B) {
						for b.Loop() {
							b.StopTimer()
							lab.SQL(b, "delete from gantt_jobs_resources")
							lab.SQL(b, "delete from gantt_jobs_predictions")
							now := fmt.Sprint(time.Now().Unix() + 1)
							lab.SQL(b, "insert into gantt_jobs_predictions (moldable_job_id, start_time) values (0, "+now+")")
							b.StartTimer()
							out := lab.Run(b, "oar", append([]string{"python3", "-c", spent}, append(command, "evolve", now, "now")...)...)
							b.StopTimer()
							b.Log(out)
							b.StartTimer()
						}
						b.Log("planned: " + lab.SQL(b, "select count(*) from gantt_jobs_predictions where moldable_job_id > 0"))
					})
				}
				pass("accordion", "/usr/lib/oar/schedulers/accordion_oar")
				if jobs == 2000 {
					pass("stock", "env", "OARCONFFILE=/etc/oar/oar.conf", "OARDIR=/usr/lib/oar", "/usr/lib/oar/schedulers/oar_sched_gantt_with_timesharing")
				}
			}
		})
	}
}

// spent runs a command and tells what it has cost.
const spent = `import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("processor time %.2f s, memory %d MiB" % (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
sys.exit(status)`

// submit puts waiting jobs into the queue past oarsub, from number from+1 to number to.
func submit(b *testing.B, lab *labtest.Lab, from, to int) {
	b.Helper()
	series := fmt.Sprintf("generate_series(%d, %d) as s(i)", from+1, to)
	if lab.Database == labtest.MariaDB {
		series = fmt.Sprintf("(select seq as i from seq_%d_to_%d) as s", from+1, to)
	}
	const size = "(1 + (i * 7919) % 8)"
	const length = "(600 * (1 + (i * 104729) % 24))"
	for _, insert := range []string{
		`jobs (job_id, initial_request, job_name, job_env, state, job_user, queue_name, properties, launching_directory, submission_time, command, message, checkpoint_signal)
			select i, '', '', '', 'Waiting', 'alice', 'evolve', '(desktop_computing = ''NO'') AND drain=''NO''', '/', 1, 'true', 'R=1', 12 from S`,
		`moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) select 2 * i, i, L from S`,
		`moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) select 2 * i + 1, i, L * 6 / 10 from S`,
		`job_resource_groups (res_group_id, res_group_moldable_id, res_group_property) select 2 * i, 2 * i, 'type = ''default''' from S`,
		`job_resource_groups (res_group_id, res_group_moldable_id, res_group_property) select 2 * i + 1, 2 * i + 1, 'type = ''default''' from S`,
		`job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) select 2 * i, 'network_address', N, 1 from S where i % 10 <> 0`,
		`job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) select 2 * i, 'switch', 2, 0 from S where i % 10 = 0`,
		`job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) select 2 * i + 1, 'network_address', 2 * N, 1 from S`,
	} {
		lab.SQL(b, "insert into "+strings.NewReplacer("from S", "from "+series, ", N,", ", "+size+",", "2 * N", "2 * "+size, "i, L", "i, "+length).Replace(insert))
	}
}
