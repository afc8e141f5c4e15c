package jobs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/jobs/jobstest"
	"accordion/slurm/number"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestConsolesAndSqueueAgreeOnEveryRelease(t *testing.T) {
	for _, release := range outputtest.Releases {
		t.Run(release, func(t *testing.T) {
			said := listedBy(t, release)
			jobs, undecided, err := parseShown(outputtest.ShownBy(t, release), outputtest.Stamp, func(id core.JobID) *output.Record { return said[id] })
			if err != nil || len(undecided) > 0 || len(jobs) < len(said)-1 { // after a job with forged texts, the list may also have a job that ended
				t.Fatalf("%d jobs, %v undecided, of %d: %v", len(jobs), undecided, len(said), err)
			}
			var doubted []string
			resized := 0
			for _, j := range jobs {
				if j.Resized > j.Submitted {
					resized++
				}
				var known verifiedCache
				if !known.trust(&j) {
					doubted = append(doubted, said[j.ID].Name[:min(len(said[j.ID].Name), 8)])
					known.store([]*shown{&j}, nil, []output.Record{*said[j.ID]}, time.Now())
					if !known.trust(&j) {
						t.Errorf("job %d is not trusted although squeue verified it", j.ID)
					}
				}
				if j.open { // the end of the record is uncertain because an ended job follows
					j.Comment = said[j.ID].Comment
				}
				if diff := gocmp.Diff(jobstest.Alike(*said[j.ID]), jobstest.Alike(j.Record), gocmp.AllowUnexported(output.Record{})); j.State != adapter.Done && diff != "" {
					t.Errorf("job %d, %s (-squeue +console):\n%s", j.ID, j.Name, diff)
				}
			}
			if resized != 1 {
				t.Errorf("%d jobs have changed their size, want 1", resized)
			}
			// Five jobs are in doubt. One has a mark, and one has a comment that looks like a mark. The other three
			// have whole records in their name, comment, or cluster features.
			slices.Sort(doubted)
			if want := []string{"features", "managed", "many", "x JobSta", "x UserId"}; !slices.Equal(doubted, want) {
				t.Errorf("in doubt were %q, want %q", doubted, want)
			}
		})
	}
}

func TestFieldsAreParsedOnEveryRelease(t *testing.T) {
	for _, release := range outputtest.Releases {
		t.Run(release, func(t *testing.T) {
			byName := map[string]*output.Record{}
			for _, r := range listedBy(t, release) {
				if r.Array == 0 || r.State == adapter.Pending {
					byName[r.Name] = r
				}
			}
			for name, check := range map[string]func(r *output.Record) bool{
				"ranged": func(r *output.Record) bool {
					return r.Want == 1 && r.MaxNodes == 3 && r.Held && r.HeldByUser && r.Limit == 300
				},
				"two words": func(r *output.Record) bool {
					return r.Tasks == 6 && r.Nice == 7 && r.Begin > r.Submitted && r.Blocked && r.Comment == `a "b" c=d`
				},
				"runs": func(r *output.Record) bool {
					return r.State == adapter.Running && len(r.Nodes) == 2 && r.BatchHost == "n1" && r.Features == "thin&fat" && r.Started > 0
				},
				"depends": func(r *output.Record) bool {
					return r.Blocked && strings.HasPrefix(r.DependsOn, "afterok:") && r.Limit == 93780
				},
				"array": func(r *output.Record) bool { return r.Elements == "3-9%2" && r.Several() && r.MinMemory == 10 },
				"het":   func(r *output.Record) bool { return r.Unfit == output.UnfitHet },
				"tapes": func(r *output.Record) bool { return r.Partition == "shared,main" && r.TRESPerNode == "" },
				"picky": func(r *output.Record) bool {
					return r.MinCPUs == 3 && r.MinMemory == 123 && r.Features == "thin|fat" && r.TRES == "cpu=2,mem=246M,node=2,billing=2"
				},
				"shares": func(r *output.Record) bool { return r.OverSubscribe == "YES" },
				"alone":  func(r *output.Record) bool { return r.OverSubscribe == "NO" },
				"managed": func(r *output.Record) bool {
					return r.Mark == "accordion:ep=2x1h,3x1h" && asksFor(r, "tape", 2) && r.Comment == "ep=2x1h,3x1h my run"
				},
				"many":      func(r *output.Record) bool { return r.Mark == "" && r.Want == 1 },
				"fails":     func(r *output.Record) bool { return r.State == adapter.Done && r.Why == "FAILED" && r.Nodes == nil },
				"hangs":     func(r *output.Record) bool { return r.State == adapter.Running && r.Suspended && len(r.Nodes) == 1 },
				"cancelled": func(r *output.Record) bool { return r.State == adapter.Done && r.Tasks == 0 },
				"reserved":  func(r *output.Record) bool { return r.Reservation == "accordion-r1" && r.Why == "Reservation" },
				"features":  func(r *output.Record) bool { return r.Reservation == "" },
				"alloc": func(r *output.Record) bool {
					return r.User == "bob" && r.BatchHost == "" && r.Comment == "by hand" && len(r.Nodes) == 1
				},
				"grows": func(r *output.Record) bool {
					return r.State == adapter.Running && r.CPUs == 4 && r.TRES == "cpu=4,node=1,billing=4" && !r.Suspended
				},
			} {
				if r := byName[name]; r == nil || !check(r) || r.Unreadable != "" {
					t.Errorf("job %q was read as %+v", name, r)
				}
			}
			if r := byName["x UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=5 Nice=0 Account=a QOS=b JobState=RUNNING\nJobId=4711 JobName=y"]; r == nil || r.Account != "q|w e" || r.User != "alice" {
				t.Errorf("the job with another's name was read as %+v", r)
			}
			if t.Failed() {
				t.Log(slices.SortedFunc(maps.Keys(byName), cmp.Compare[string]))
			}
		})
	}
}

// listedBy returns the jobs in a release's list of squeue, by number.
func listedBy(t testing.TB, release string) map[core.JobID]*output.Record {
	t.Helper()
	list, err := output.ParseSqueue(outputtest.Recorded(t, release+"/squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[core.JobID]*output.Record{}
	for i := range list {
		jobs[list[i].ID] = &list[i]
	}
	return jobs
}

// asksFor reports whether a job requests exactly `count` of the generic resource on each node.
func asksFor(r *output.Record, name string, count int64) bool {
	return slices.Equal(slices.Collect(number.Resources(r.TRESPerNode)), []number.Resource{{Kind: number.Device, Name: name, Count: count}})
}
