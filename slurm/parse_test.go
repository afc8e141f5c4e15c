package slurm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"

	"pgregory.net/rapid"
)

// The files in testdata are what Slurm 22.05.8 printed for a small cluster in which everything awkward happened at once.
func recorded(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOnlyAnExpanderInOurReservationIsOne(t *testing.T) {
	for _, test := range []struct {
		name, reservation, mark string
		want                    role
	}{
		{GrowPrefix + "7", "accordion-7-1", "", expander},
		{overPrefix + "7", "accordion-7-1", "", expander},
		{withPrefix + "7", "accordion-7-1", "", companion},
		{withPrefix + "7", "", companionMark + "7@1795000000", companion},
		{GrowPrefix + "7", "", "", ordinary},
		{GrowPrefix + "7", "maintenance", "", ordinary},
		{GrowPrefix + "7", Park, "", ordinary}, // in which everybody's jobs may be, also on nodes
		{withPrefix + "7", Park, "", ordinary},
		{withPrefix + "7", "", adapter.MarkPrefix + "ep=1x1h", ordinary},
		{"x\n" + GrowPrefix + "7", "accordion-7-1", "", ordinary},
		{GrowPrefix + "7 ", "accordion-7-1", "", ordinary},
		{GrowPrefix, "accordion-7-1", "", ordinary},
		{GrowPrefix + "-7", "accordion-7-1", "", ordinary},
		{GrowPrefix + "7x", "accordion-7-1", "", ordinary},
		{GrowPrefix + "99999999999", "accordion-7-1", "", ordinary},
		{"wrap", "accordion-7-1", companionMark + "7@1795000000", ordinary},
	} {
		r := record{Job: adapter.Job{Name: test.name, Reservation: test.reservation, Mark: test.mark}}
		if got := r.role(); got != test.want || (expands(&r) == 7) != (test.want != ordinary) {
			t.Errorf("%q in %q with the mark %q: role %d of job %d, want role %d", test.name, test.reservation, test.mark, got, expands(&r), test.want)
		}
	}
}

func TestStatesOfJobs(t *testing.T) {
	for word, want := range map[string]adapter.State{
		"PENDING": adapter.Pending, "RESV_DEL_HOLD": adapter.Pending, "RUNNING": adapter.Running,
		"CONFIGURING": adapter.Running, "SUSPENDED": adapter.Running, "STOPPED": adapter.Running, "RESIZING": adapter.Running,
		"COMPLETING": adapter.Ending, "STAGE_OUT": adapter.Ending, "CANCELLED": adapter.Done, "NODE_FAIL": adapter.Done,
		"STATE_OF_A_LATER_RELEASE": adapter.Running,
	} {
		if got, _ := state(word); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

func TestReasonsThatMeanNodes(t *testing.T) {
	for reason, want := range map[string]bool{
		"None": false, "Priority": false, "Resources": false, "ReqNodeNotAvail, May be reserved for other job": false,
		"ReqNodeNotAvail, UnavailableNodes:n3": true, "ReqNodeNotAvail, UnavailableNodes:": false, "Dependency": true,
		"BeginTime": true, "AssocGrpNodeLimit": true, "QOSMaxJobsPerUserLimit": true, "PartitionDown": true, "Licenses": true,
		"JobArrayTaskLimit": true, "Reservation": true, "PartitionTimeLimit": true,
	} {
		if got := blocked(reason); got != want {
			t.Errorf("%s: blocked %v, want %v", reason, got, want)
		}
	}
}

func TestTimesAndCounts(t *testing.T) {
	for text, want := range map[string]core.Time{
		"5:00": 300, "1:00:00": 3600, "1-02:03:04": 93784, "0:30": 30, "UNLIMITED": core.Forever, "NOT_SET": core.Forever,
		"365-00:00:00": 365 * 86400,
	} {
		if got, err := limit(text); err != nil || got != want {
			t.Errorf("limit %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"5", "1-5", "1:2:3:4", "-1:00", "1-:1:1", "99999999999:00", "a:b", "INVALID"} {
		if got, err := limit(text); err == nil {
			t.Errorf("limit %q: %d, want an error", text, got)
		}
	}
	for text, want := range map[string]int{"0": 0, "3": 3, "3-5": 3, "2K": 2048, "1.50K": 1536, "1M": 1 << 20, "4294967294": 0, "N/A": 0} {
		if got, err := count(text); err != nil || got != want {
			t.Errorf("count %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"K", "-1", "NaN", "1e99", "x", "9999999999"} {
		if got, err := count(text); err == nil {
			t.Errorf("count %q: %d, want an error", text, got)
		}
	}
	for seconds, want := range map[core.Time]string{1: "1", 60: "1", 61: "2", 3600: "60", core.Forever: "UNLIMITED"} {
		if got := minutes(seconds); got != want {
			t.Errorf("%d s is TimeLimit=%s, want %s", seconds, got, want)
		}
	}
}

func TestArrayTasksAreCounted(t *testing.T) {
	for text, want := range map[string][2]int{
		"7": {1, 0}, "1-7": {7, 0}, "7-40:3%2": {12, 2}, "1,3,5-6": {4, 0}, "[1-3]": {3, 0}, "3-1": {1, 0}, "": {1, 0},
		"1,3,...%3": {3, 3}, "0-4294967295": {1, 0}, "1-3:0": {3, 0}, "1-2%x": {2, 0},
	} {
		if tasks, throttle := arrayTasks(text); tasks != want[0] || throttle != want[1] {
			t.Errorf("%q: %d tasks, %d at a time; want %v", text, tasks, throttle, want)
		}
	}
}

func TestAPendingArrayStandsForItsTasks(t *testing.T) {
	r := record{Job: adapter.Job{Key: adapter.Key{ID: 50}, State: adapter.Pending}, elements: "1-1000%2"}
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

// TestRankIsSlurmsAndHeldJobsOvertakeNobody compares with the words of the rule, one pair of jobs at a time.
func TestRankIsSlurmsAndHeldJobsOvertakeNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []record
		for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
			r := record{tier: rapid.IntRange(1, 2).Draw(t, "tier")}
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
		earlier := func(a, b record) bool {
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
					before = !a.Held && !a.Blocked && earlier(a, b) // ordinary and first come
				}
				if before && place[a.ID] > place[b.ID] {
					t.Fatalf("job %d must stand before job %d in %v", a.ID, b.ID, place)
				}
			}
		}
	})
}

func FuzzConfiguration(f *testing.F) {
	f.Add(recorded(f, "config.txt"))
	f.Fuzz(func(t *testing.T, out string) {
		c, err := parseConfiguration(out)
		if err != nil {
			return
		}
		if c.guard(nil) < sweep {
			t.Errorf("a guard of %d s is below the sweep", c.guard(nil))
		}
		c.needsDatabase()
	})
}

// BenchmarkParse is a large site's cycle: 2,000 pending and 500 running jobs on 1,000 nodes. Bound: 25 ms.
func BenchmarkParse(b *testing.B) {
	jobs, cluster := largeSite()
	b.SetBytes(int64(len(jobs) + len(cluster)))
	b.ReportAllocs()
	for b.Loop() {
		in, err := parseInventory(cluster)
		if err != nil {
			b.Fatal(err)
		}
		list, err := parseSqueue(jobs, "WORD")
		if err != nil {
			b.Fatal(err)
		}
		s, err := assemble(in, list, []string{"main"})
		if err != nil || len(s.Jobs) != 2500 || len(s.Nodes) != 1000 {
			b.Fatal(err)
		}
	}
}

// largeSite is what squeue and scontrol print for it.
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

func TestGuardAndTrapFollowTheConfiguration(t *testing.T) {
	c, err := parseConfiguration(recorded(t, "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.guard([]partition{{overTime: "NONE"}}); got != 60 {
		t.Errorf("guard %d s, want the sweep's 30 and KillWait's 30", got)
	}
	if got := c.guard([]partition{{overTime: "NONE"}, {overTime: "5"}}); got != 360 {
		t.Errorf("guard %d s with a partition's OverTimeLimit of 5 minutes, want 360", got)
	}
	c["OverTimeLimit"] = "UNLIMITED"
	if got := c.guard(nil); got != core.Forever {
		t.Errorf("guard %d s though limits are not enforced", got)
	}
	for version, want := range map[string]bool{
		"20.11.9": false, "21.08.7": false, "21.08.8-2": true, "22.05.8": true, "23.11.10": true, "24.05.1": true, "24.11.0": false,
		"25.05.0-rc1": false, "x": false,
	} {
		if got := (configuration{"SLURM_VERSION": version}).needsDatabase(); got != want {
			t.Errorf("Slurm %s needs slurmdbd to resize: %v, want %v", version, got, want)
		}
	}
	none := configuration{"SLURM_VERSION": "22.05.8", "AccountingStorageType": "accounting_storage/none"}
	if why := none.trap(t.Context()); !strings.Contains(why, "slurmdbd") {
		t.Errorf("no slurmdbd, and the trap says %q", why)
	}
}

func TestTheBatchHostComesFirst(t *testing.T) {
	nodes := []string{"n1", "n3", "n7"}
	for host, want := range map[string][]string{
		"n1": {"n1", "n3", "n7"}, "n3": {"n3", "n1", "n7"}, "n7": {"n7", "n1", "n3"}, "": {"n1", "n3", "n7"}, "n9": {"n1", "n3", "n7"},
	} {
		if got := hostFirst(nodes, host); !slices.Equal(got, want) {
			t.Errorf("batch host %q: %v, want %v", host, got, want)
		}
	}
	if !slices.Equal(nodes, []string{"n1", "n3", "n7"}) {
		t.Errorf("the list, which other jobs share, became %v", nodes)
	}
}

func TestARequeuedJobWaitsForWhatItAsksForAndNotForWhatItHad(t *testing.T) {
	for _, test := range []struct {
		reservation, tres string
		want, most        int
	}{
		{Park, "cpu=1,mem=5400M,node=1,billing=1", 1, 1},
		{Park, "cpu=9,node=3", 3, 3},
		{Park, "", 3, 3},
		{"", "cpu=8,node=1", 3, 3}, // of other jobs Slurm guesses how many their tasks need
	} {
		r := record{maxNodes: 3, tres: test.tres}
		r.Want, r.Reservation = 3, test.reservation
		r.settle("PENDING", "", 0, 0)
		if r.Want != test.want || r.maxNodes != test.most {
			t.Errorf("%+v: it waits for %d to %d nodes", test, r.Want, r.maxNodes)
		}
	}
}
