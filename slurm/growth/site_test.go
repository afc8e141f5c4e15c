package growth

import (
	"strings"
	"testing"

	"accordion/slurm/output"
)

func TestTheWayToGrowIsTheQuickestThatIsSound(t *testing.T) {
	plain := Site{Release: 2205, expands: true, Memory: true, Guarded: true}
	bound := plain
	bound.Binds = "ConstrainCores=yes"
	for _, test := range []struct {
		name string
		site func(*Site)
		wish Kind
		in   output.Sharing
		gres bool
		want Kind // "" if the way is refused
		why  string
	}{
		{"nothing is bound", func(*Site) {}, Auto, "EXCLUSIVE", false, Merge, "sound"},
		{"shared nodes, nothing bound", func(*Site) {}, Auto, "NO", false, Merge, "sound"},
		{"cores are bound", func(s *Site) { *s = bound }, Auto, "YES:2", false, Overlap, "ConstrainCores=yes"},
		{"cores are bound on 21.08, which merges rightly", func(s *Site) { *s = bound; s.Release = 2108 }, Auto, "EXCLUSIVE", false, Merge, "sound"},
		{"cores are bound, whole nodes", func(s *Site) { *s = bound }, Auto, "EXCLUSIVE", false, Companions, "YES:2"},
		{"cores are bound, nodes of one job", func(s *Site) { *s = bound }, Auto, "NO", false, Companions, "OverSubscribe=NO"},
		{"YES:1 is no sharing", func(s *Site) { *s = bound }, Auto, "YES:1", false, Companions, "YES:1"},
		{"a prolog at the allocation", func(s *Site) { s.NeedsIntroduction = true }, Auto, "EXCLUSIVE", false, Companions, "has not heard of"},
		{"a prolog at the allocation, nothing bound", func(s *Site) { s.NeedsIntroduction = true }, Auto, "YES:2", false, Overlap, "has not heard of"},
		{"a prolog at the allocation, shared nodes", func(s *Site) { *s = bound; s.NeedsIntroduction = true }, Auto, "YES:2", false, Overlap, "bound"},
		{"GRES in whole nodes", func(s *Site) { s.Gres = true }, Auto, "EXCLUSIVE", false, Companions, "GresTypes"},
		{"GRES in shared nodes", func(s *Site) { s.Gres = true }, Auto, "YES:4", false, Merge, "sound"},
		{"the job asks for GRES", func(s *Site) { s.Gres = true }, Auto, "YES:2", true, Companions, "generic resources"},
		{"no expansion", func(s *Site) { s.expands = false }, Auto, "EXCLUSIVE", false, Companions, "permit_job_expansion"},
		{"no slurmdbd", func(s *Site) { s.Trap = "no slurmdbd" }, Auto, "YES:2", false, Companions, "no slurmdbd"},
		{"bound, the plug-in keeps others off", func(s *Site) { *s = bound; s.Memory = false }, Auto, "YES:2", false, Overlap, "bound"},
		{"bound, nothing keeps others off", func(s *Site) { *s = bound; s.Memory, s.Guarded = false, false }, Auto, "YES:2", false, Companions, "other users"},
		{"bound, only memory does, and some MB are left", func(s *Site) { *s = bound; s.Guarded = false }, Auto, "YES:2", false, Companions, "ExclusiveUser=YES"},
		{"bound, nodes are one user's at a time", func(s *Site) { *s = bound; s.Guarded = false }, Auto, "YES:2,USER", false, Overlap, "bound"},
		{"bound, nodes are one user's and not shared", func(s *Site) { *s = bound; s.Guarded = false }, Auto, "NO,USER", false, Companions, "OverSubscribe=NO, and"},
		{"bound, partitions preempt", func(s *Site) { *s = bound; s.tiers = true }, Auto, "YES:2", false, Companions, "to two allocations"},
		{"companions are wished for", func(*Site) {}, Companions, "EXCLUSIVE", false, Companions, "configured"},
		{"overlap is wished for and possible", func(*Site) {}, Overlap, "YES:2", false, Overlap, "configured"},
		{"overlap is wished for and not possible", func(*Site) {}, Overlap, "EXCLUSIVE", false, "", "YES:2"},
		{"merge is wished for and unsound", func(s *Site) { *s = bound }, Merge, "EXCLUSIVE", false, "", "garbles"},
		{"forced sharing", func(*Site) {}, Merge, "FORCE:4", false, "", "shares cores"},
	} {
		s := plain
		test.site(&s)
		got, err := s.WayOf(test.wish, test.in, test.gres)
		why := got.why
		if err != nil {
			why = err.Error()
		}
		if got.Growth != test.want || !strings.Contains(why, test.why) {
			t.Errorf("%s: %s %q, want %s and %q", test.name, got.Growth, why, test.want, test.why)
		}
	}
}

func TestASiteIsReadFromTheSettings(t *testing.T) {
	c, err := output.ParseConfiguration(`Configuration data as of 2026-11-22T18:02:56
SLURM_VERSION           = 22.05.8
TaskPlugin              = task/cgroup,task/affinity
SchedulerParameters     = permit_job_expansion,defer
SelectTypeParameters    = CR_CORE_MEMORY
GresTypes               = gpu
Prolog                  = (null)
Epilog                  = /etc/slurm/epilog
JobSubmitPlugins        = lua
PreemptType             = preempt/partition_prio
AccountingStorageType   = accounting_storage/none

Cgroup Support Configuration:
ConstrainCores          = yes
`)
	if err != nil {
		t.Fatal(err)
	}
	if SiteOf(c).Guarded {
		t.Error("a job_submit.lua that is not known to be ours counts as protection for jobs that grow by overlap")
	}
	c.NotePlugin()
	got := SiteOf(c)
	want := Site{Release: 2205, expands: true, Binds: "TaskPlugin=task/affinity", Gres: true, Memory: true, Guarded: true, tiers: true, Epilogs: true, Deferred: true,
		Trap: "Slurm 22.05.8 cannot resize a job twice without slurmdbd (AccountingStorageType is accounting_storage/none)"}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for version, want := range map[string]bool{"22.05.8": true, "24.05.3": true, "24.11.5": false, "26.05.0": false} {
		c["SLURM_VERSION"] = version
		if got := SiteOf(c).tiers; got != want {
			t.Errorf("Slurm %s gives no core twice where partitions preempt: %v, want %v", version, got, want)
		}
	}
	c["TaskPlugin"] = "task/cgroup"
	if got := SiteOf(c).Binds; got != "ConstrainCores=yes" {
		t.Errorf("task/cgroup with ConstrainCores binds by %q", got)
	}
	c["ConstrainCores"] = "no"
	if got := SiteOf(c).Binds; got != "" {
		t.Errorf("task/cgroup without ConstrainCores binds by %q", got)
	}
}
