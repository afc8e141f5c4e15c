package output

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output/outputtest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTheSnapshotHasOnlyNodesOfThePool(t *testing.T) {
	in, err := ParseInventory(outputtest.Recorded(t, "scontrol.txt"))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := ParseSqueue(outputtest.Recorded(t, "squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	in.Partitions[0].Nodes = []string{"n2", "n3", "n8"} // partition main has only these nodes; partition shared still has all
	in.Partitions = append(in.Partitions, Partition{Name: "far", Nodes: []string{"n7"}})
	for i := range jobs {
		jobs[i].Account = fmt.Sprint("account-", jobs[i].ID)
	}
	far := Record{Job: adapter.Job{Key: adapter.Key{ID: 99}, State: adapter.Pending, Partition: "far"}}
	s, err := Snapshot(in, append(jobs, far), []string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	if !slices.Equal(names, []string{"n2", "n3", "n8"}) {
		t.Errorf("nodes of the pool: %v", names)
	}
	holders := map[core.JobID]string{}
	for _, j := range s.Jobs {
		if j.ID == 99 {
			t.Error("a job that can only run elsewhere is in the snapshot")
		}
		if want := fmt.Sprint("account-", j.ID%(1<<32)); j.Account != want {
			t.Errorf("job %d has the account %q, want %q", j.ID, j.Account, want)
		}
		if j.State != adapter.Pending {
			holders[j.ID] = strings.Join(j.Nodes, ",")
		}
	}
	if diff := cmp.Diff(map[core.JobID]string{46: "n2", 47: "n3"}, holders); diff != "" {
		t.Errorf("the holders of the pool's nodes (-want +got):\n%s", diff)
	}
	if len(s.Reservations) != 1 || !slices.Equal(s.Reservations[0].Nodes, []string{"n2"}) {
		t.Errorf("reservations: %+v", s.Reservations)
	}
	if _, err := Snapshot(in, jobs, []string{"nosuch"}); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("a pool that does not exist: %v", err)
	}
}

func TestAPendingArrayIsListedByItsTasks(t *testing.T) {
	r := Record{Job: adapter.Job{Key: adapter.Key{ID: 50}, State: adapter.Pending}, Elements: "1-1000%2"}
	jobs := appendTasks(nil, &r)
	if len(jobs) != MaxTasks {
		t.Fatalf("%d jobs, want %d", len(jobs), MaxTasks)
	}
	seen := map[core.JobID]bool{}
	for i, j := range jobs {
		array, n := j.ID&(1<<32-1), int(j.ID>>32)
		if seen[j.ID] || array != 50 || n != i {
			t.Fatalf("task %d has id %d: array %d, number %d", i, j.ID, array, n)
		}
		if j.Blocked != (i >= 2) {
			t.Errorf("task %d: blocked %v under a throttle of 2", i, j.Blocked)
		}
		seen[j.ID] = true
	}
}

// The order of every two jobs must follow the documented rule.
func TestRankIsSlurmsAndHeldJobsOvertakeNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Record
		for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
			r := Record{tier: rapid.IntRange(1, 2).Draw(t, "tier")}
			r.ID, r.State = core.JobID(i+1), adapter.Pending
			r.Submitted = rapid.Int64Range(1, 6).Draw(t, "submitted")
			r.Priority = rapid.Int64Range(0, 3).Draw(t, "priority")
			r.Blocked = r.Priority > 0 && rapid.Bool().Draw(t, "blocked")
			r.Held = r.Priority == 0
			jobs = append(jobs, r)
		}
		place := map[core.JobID]int{}
		for i, j := range ranked(jobs) {
			place[j.ID] = i
		}
		if len(place) != len(jobs) {
			t.Fatalf("%d of %d jobs are left", len(place), len(jobs))
		}
		earlier := func(a, b Record) bool {
			return a.Submitted < b.Submitted || a.Submitted == b.Submitted && a.ID < b.ID
		}
		for _, a := range jobs {
			for _, b := range jobs {
				var before bool
				switch {
				case !a.Held && !b.Held:
					before = a.tier > b.tier || a.tier == b.tier && (a.Priority > b.Priority || a.Priority == b.Priority && earlier(a, b))
				case a.Held && b.Held:
					before = earlier(a, b)
				default:
					before = !a.Held && !a.Blocked && earlier(a, b) // both jobs can start, so the job that was submitted first comes first
				}
				if before && place[a.ID] > place[b.ID] {
					t.Fatalf("job %d must precede job %d in %v", a.ID, b.ID, place)
				}
			}
		}
	})
}

// BenchmarkParse parses one cycle of a large site: 2,000 pending and 500 running jobs on 1,000 nodes. It should
// take at most 25 ms.
func BenchmarkParse(b *testing.B) {
	jobs, cluster := largeSite()
	b.SetBytes(int64(len(jobs) + len(cluster)))
	b.ReportAllocs()
	for b.Loop() {
		in, err := ParseInventory(cluster)
		if err != nil {
			b.Fatal(err)
		}
		list, err := ParseSqueue(jobs, "WORD")
		if err != nil {
			b.Fatal(err)
		}
		s, err := Snapshot(in, list, []string{"main"})
		if err != nil || len(s.Jobs) != 2500 || len(s.Nodes) != 1000 {
			b.Fatal(err)
		}
	}
}

// largeSite returns the output of squeue and scontrol for the site of BenchmarkParse.
func largeSite() (jobs, cluster string) {
	var q, c strings.Builder
	const free = "WORD(null)WORDsolver-runWORDep=4x1h,8x2h and a remarkWORDacctWORD(null)WORDlogin1WORDN/AWORDN/AWORDN/AWORD\n"
	for i := range 2000 {
		fmt.Fprintf(&q, "%d|%d|N/A|N/A|1|PENDING|user%d|%d|100|main|normal|%d|%d|16|64|1-00:00:00|N/A|1795290000|1795290000|%d|0|(null)|(null)|n/a||1|0|NO|cpu=64,mem=64000M,node=1,billing=64|Priority%s",
			10000+i, 10000+i, i%40, 1000+i%40, 1+i%64, 1+i%64, 4294900000-i, free)
	}
	for i := range 500 {
		fmt.Fprintf(&q, "%d|%d|N/A|N/A|1|RUNNING|user%d|%d|100|main|normal|2|2|16|64|4:00:00|1795290000|1795290000|1795280000|%d|0|(null)|(null)|n%d|n[%d-%d]|1|0|NO|cpu=64,mem=64000M,node=2,billing=64|None%s",
			1000+i, 1000+i, i%40, 1000+i%40, 4294910000-i, 2*i+1, 2*i+1, 2*i+2, free)
	}
	for i := range 1000 {
		fmt.Fprintf(&c, "NodeName=n%d Arch=x86_64 CoresPerSocket=32  CPUAlloc=64 CPUEfctv=64 CPUTot=64 CPULoad=63.98 AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) NodeAddr=n%d NodeHostName=n%d Port=6818 Version=22.05.8 OS=Linux 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1  RealMemory=256000 AllocMem=0 FreeMem=232960 Sockets=2 Boards=1 State=ALLOCATED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=main,shared  BootTime=1795290421 SlurmdStartTime=1795291163 LastBusyTime=1795291764 CfgTRES=cpu=64,mem=250G,billing=64 AllocTRES=cpu=64 CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n",
			i+1, i+1, i+1)
	}
	c.WriteString("PartitionName=main Nodes=n[1-1000] PriorityTier=1 OverSubscribe=EXCLUSIVE State=UP\nPartitionName=shared Nodes=n[1-1000] PriorityTier=1 OverSubscribe=NO State=UP\n")
	return q.String(), c.String()
}
