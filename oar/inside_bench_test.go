package oar

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/oar/server"
)

// BenchmarkGrowth measures the time from the call of Expand until a running job has grown by three nodes. It measures
// on a quiet OAR, and on an OAR that plans all the time. Each growth is in a reservation, as the sidecar's growths
// are. Shrinks are measured, too. The benchmark prints the median, which should be below one second, and the 95th
// percentile, which should be below two seconds.
func BenchmarkGrowth(b *testing.B) {
	for _, database := range []string{lab.PostgreSQL, lab.MariaDB} {
		b.Run(database, func(b *testing.B) {
			if os.Getenv(insideLab) != "" {
				b.Skip("this is the part outside the lab")
			}
			program, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			lab := lab.OAR(b, 9, lab.Database(database), lab.Users("alice", "bob"))
			for b.Loop() {
				out, errs, err := lab.ExecWithin(longest, "root", "env", insideLab+"="+database, program, "-test.run=^TestGrowthsInsideTheLab$", "-test.v", "-test.timeout=9m")
				b.Log(out)
				if err != nil {
					b.Fatalf("%v\n%s", err, errs)
				}
			}
		})
	}
}

func TestGrowthsInsideTheLab(t *testing.T) {
	in := enter(t)
	for _, load := range []string{"quiet", "planning"} {
		in.growths(load)
	}
	in.clean()
}

// growths measures twenty growths.
func (in *inside) growths(load string) {
	in.Helper()
	job := in.Submit("alice", "1x20s,4x20s,1x20s", "sleep 1000", "-l", "nodes=1,walltime=0:30:0")
	in.start(job, 1000, "n2")
	over := make(chan struct{})
	done := make(chan struct{})
	go func() { // simulates the load that other users' jobs put on OAR
		defer close(done)
		for i := 0; load != "quiet"; i++ {
			select {
			case <-over:
				return
			case <-time.After(700 * time.Millisecond):
			}
			if err := server.Tell(in.ctx, in.server.Address, server.Starts); err != nil {
				in.Error(err)
			}
		}
	}()
	var grew, shrank []time.Duration
	nodes := []string{"n3", "n4", "n5"}
	for i := range 20 {
		name := fmt.Sprintf("accordion-%d-%d", job.ID, i)
		in.reserve(name, 0, 100, nodes...)
		time.Sleep(time.Duration(i*137%1000) * time.Millisecond) // the sidecar's seconds are not in step with OAR's
		running, err := in.Inspect(in.ctx, job)
		in.must(err)
		begin := time.Now()
		e, err := in.Expand(in.ctx, running, nodes, name)
		in.must(err)
		in.must(in.Merge(in.ctx, job, e))
		grew = append(grew, time.Since(begin))
		in.must(in.Unreserve(in.ctx, name))
		begin = time.Now()
		in.must(in.Shrink(in.ctx, job, []string{"n2"}))
		shrank = append(shrank, time.Since(begin))
	}
	close(over)
	<-done
	in.Logf("%s: growth %s; shrink %s", load, spread(grew), spread(shrank))
	in.must(in.End(in.ctx, job, ""))
	in.quiet()
}

// spread returns the median, the 95th percentile and the maximum.
func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(share float64) string { return fmt.Sprintf("%.2f", all[int(share*float64(len(all)-1))].Seconds()) }
	return fmt.Sprintf("median %s s, 95 %% within %s s, at most %s s", at(0.5), at(0.95), at(1))
}

// BenchmarkReading measures one reading of an OAR with 2,000 waiting jobs on 1,000 nodes. The sidecar reads OAR once
// per second.
func BenchmarkReading(b *testing.B) {
	if os.Getenv(insideLab) == "" {
		for _, database := range []string{lab.PostgreSQL, lab.MariaDB} {
			b.Run(database, func(b *testing.B) {
				program, err := os.Executable()
				if err != nil {
					b.Fatal(err)
				}
				lab := lab.OAR(b, 1000, lab.Database(database), lab.Plain())
				for b.Loop() {
					out, errs, err := lab.ExecWithin(longest, "root", "env", insideLab+"="+database, program, "-test.run=^$", "-test.bench=BenchmarkReading", "-test.timeout=9m")
					b.Log(out)
					if err != nil || !strings.Contains(out, "PASS") {
						b.Fatalf("%v\n%s", err, errs)
					}
				}
			})
		}
		return
	}
	in := enter(b)
	in.exec("UPDATE queues SET state = 'notActive'") // so that none of the jobs starts
	series := "generate_series(1001, 3000) AS s(i)"
	if in.db.Conf.Type == "mysql" {
		series = "(SELECT seq AS i FROM seq_1001_to_3000) AS s"
	}
	if in.answer("SELECT COUNT(*) FROM jobs WHERE job_id > 1000") == "0" {
		for _, insert := range []string{
			`jobs (job_id, initial_request, job_name, job_env, state, job_user, queue_name, properties, launching_directory, submission_time, command, message, checkpoint_signal)
				SELECT i, '', '', '', 'Waiting', 'alice', 'evolve', '', '/', 1, 'true', 'R=1', 12 FROM S`,
			`moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) SELECT 2 * i, i, 600 FROM S`,
			`moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) SELECT 2 * i + 1, i, 400 FROM S`,
			`job_resource_groups (res_group_id, res_group_moldable_id, res_group_property) SELECT 2 * i, 2 * i, '' FROM S`,
			`job_resource_groups (res_group_id, res_group_moldable_id, res_group_property) SELECT 2 * i + 1, 2 * i + 1, '' FROM S`,
			`job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) SELECT 2 * i, 'network_address', 4, 1 FROM S`,
			`job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) SELECT 2 * i + 1, 'network_address', 8, 1 FROM S`,
			`gantt_jobs_predictions_visu (moldable_job_id, start_time) SELECT 2 * i, 1000000000 + i FROM S`,
			`gantt_jobs_resources_visu (moldable_job_id, resource_id) SELECT 2 * i, r.resource_id FROM S JOIN resources r ON r.resource_id <= 4`,
			`job_types (job_id, type) SELECT i, 'ep=2x20s,5x20s' FROM S WHERE i % 10 = 0`,
		} {
			in.exec("INSERT INTO " + strings.ReplaceAll(insert, "FROM S", "FROM "+series))
		}
	}
	for b.Loop() {
		snapshot, err := in.Observe(in.ctx)
		in.must(err)
		if len(snapshot.Jobs) != 2000 {
			b.Fatalf("%d jobs", len(snapshot.Jobs))
		}
	}
}
