package oar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// BenchmarkPass measures a whole pass over a queue of a real OAR with 1,000 nodes, as OAR calls it: program start, SQL, planning, check and
// writing. Each job has two configurations. Every tenth job wants two switches, and every tenth is an evolving one that waits for the
// sidecar. The sidecar has 20 reservations, and lets 20 jobs begin. For comparison, OAR's own scheduler runs over the same queue, and looks
// at 1,000 of the jobs. A pass may take half a second for 2,000 jobs, and three seconds for 10,000.
func BenchmarkPass(b *testing.B) {
	for _, database := range []string{lab.PostgreSQL, lab.MariaDB} {
		b.Run(database, func(b *testing.B) {
			lab := lab.OAR(b, 1000, lab.Database(database), lab.Plain())
			lab.Run(b, "root", "pkill", "-STOP", "-x", "Almighty") // the benchmark calls the scheduler, and OAR must not call it meanwhile
			lab.Await(b, long, "OAR does nothing", func() bool {
				_, _, none := lab.Exec("root", "pgrep", "-f", "^/usr/bin/perl /usr/lib/oar/[a-z]")
				return none != nil
			})
			waiting := 0
			for _, jobs := range []int{2000, 10000} {
				submit(b, lab, waiting, jobs)
				if waiting == 0 {
					decide(b, lab)
				}
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

// spent runs a command and prints its elapsed time and its processor time, in its own processes and in the database. Other programs on the
// machine lengthen the elapsed time, but not the processor time.
const spent = `import os, resource, subprocess, sys
def database():
    ticks = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, rest = open("/proc/%s/stat" % pid).read().split("(", 1)[1].rsplit(")", 1)
            if name in ("postgres", "mariadbd"):
                ticks += sum(map(int, rest.split()[11:15]))
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")
before = database()
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("processor time %.2f s, of the database %.2f s, memory %d MiB" % (used.ru_utime + used.ru_stime, database() - before, used.ru_maxrss / 1024))
sys.exit(status)`

// submit adds waiting jobs to the queue without oarsub. Their numbers are from `from`+1 to `to`.
func submit(b *testing.B, lab *lab.OARLab, from, to int) {
	b.Helper()
	series := fmt.Sprintf("generate_series(%d, %d) as s(i)", from+1, to)
	if lab.Database == "mariadb" {
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
		`job_types (job_id, type) select i, 'ep=2x10m,8x20m,4x10m' from S where i % 10 = 5`,
		`accordion_jobs (job_id, submitted, mark, base, released) select i, 1, 'accordion:ep=2x10m,8x20m,4x10m', 0, 0 from S where i % 10 = 5`,
	} {
		lab.SQL(b, "insert into "+strings.NewReplacer("from S", "from "+series, ", N,", ", "+size+",", "2 * N", "2 * "+size, "i, L", "i, "+length).Replace(insert))
	}
}

// decide writes decisions of a sidecar. The first twenty evolving jobs begin now, each on ten hosts. Each of the next twenty has a
// reservation of ten hosts. The first reservation starts now, and each other one a minute after the previous one.
func decide(b *testing.B, lab *lab.OARLab) {
	b.Helper()
	now := time.Now().Unix()
	for n := range 20 {
		job, holder := 10*n+5, 10*(n+20)+5
		lab.SQL(b, fmt.Sprintf("update accordion_jobs set released = 1 where job_id = %d", job))
		lab.SQL(b, fmt.Sprintf(`insert into accordion_places (job_id, resource_id) select %d, %d + r.resource_id from resources r
			where r.resource_id <= (select d.res_job_value from job_resource_descriptions d where d.res_job_group_id = %d)`, job, 10*n, 2*job))
		lab.SQL(b, fmt.Sprintf("delete from job_types where job_id = %d", holder))
		lab.SQL(b, fmt.Sprintf("delete from accordion_jobs where job_id = %d", holder))
		lab.SQL(b, fmt.Sprintf("insert into accordion_places (job_id, resource_id) select %d, r.resource_id from resources r where r.resource_id between %d and %d",
			holder, 301+10*n, 310+10*n))
		lab.SQL(b, fmt.Sprintf("insert into accordion_reservations (name, owner, start_time, end_time, over_managed, idle, holder) values ('accordion-%d', 'alice', %d, %d, 0, 0, %d)",
			n, now+int64(60*n), now+int64(60*n)+7200, holder))
	}
}
