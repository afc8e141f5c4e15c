package slurm

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"

	gocmp "github.com/google/go-cmp/cmp"
)

// The folders of testdata that are named after releases hold what the clients of each printed of one cluster with 28 awkward
// jobs: a console's `show job` with a stamp, squeue under format("WORD"), and the nodes, reservations and partitions.
var releases = []string{"20.11", "22.05", "24.11", "26.05"}

const stampThere = "STAMPSTAMPSTAMP7"

// shownBy is the console's list of a release.
func shownBy(t testing.TB, release string) string {
	t.Helper()
	return recorded(t, release+"/show.txt")
}

// listedBy is squeue's list of a release, by number.
func listedBy(t testing.TB, release string) map[core.JobID]*record {
	t.Helper()
	list, err := parseSqueue(recorded(t, release+"/squeue.txt"), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[core.JobID]*record{}
	for i := range list {
		jobs[list[i].ID] = &list[i]
	}
	return jobs
}

// alike is a record without what the two clients are known to tell differently.
func alike(r record) record {
	r.Why = strings.ReplaceAll(r.Why, " ", "_") // scontrol writes it as one word
	if len(r.Nodes) > 0 {
		r.maxNodes = 0 // of a running job scontrol tells what it has
	}
	r.memoryPer, r.most, r.upfront = "", 0, false // the first two only scontrol tells, the other is what is known of its record
	return r
}

func TestOfEveryReleaseAConsoleTellsWhatSqueueTells(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			said := listedBy(t, release)
			jobs, undecided, err := parseShown(shownBy(t, release), stampThere, func(id core.JobID) *record { return said[id] })
			if err != nil || len(undecided) > 0 || len(jobs) < len(said)-1 { // one that is over stands behind one that forges
				t.Fatalf("%d jobs, %v undecided, of %d: %v", len(jobs), undecided, len(said), err)
			}
			var doubted []string
			for _, j := range jobs {
				var known testimony
				if !known.believe(&j) {
					doubted = append(doubted, said[j.ID].Name[:min(len(said[j.ID].Name), 8)])
					known.swear([]*shown{&j}, nil, []record{*said[j.ID]})
					if !known.believe(&j) {
						t.Errorf("job %d is not believed though squeue said what it is", j.ID)
					}
				}
				if j.open { // what follows is over, and blurs its end
					j.Comment = said[j.ID].Comment
				}
				if diff := gocmp.Diff(alike(*said[j.ID]), alike(j.record), gocmp.AllowUnexported(record{})); j.State != adapter.Done && diff != "" {
					t.Errorf("job %d, %s (-squeue +console):\n%s", j.ID, j.Name, diff)
				}
			}
			// One has a mark, one a comment that looks like one, one a name, one a comment and one cluster features with whole records.
			slices.Sort(doubted)
			if want := []string{"features", "managed", "many", "x JobSta", "x UserId"}; !slices.Equal(doubted, want) {
				t.Errorf("in doubt were %q, want %q", doubted, want)
			}
		})
	}
}

func TestOfEveryReleaseTheFieldsAreRead(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			byName := map[string]*record{}
			for _, r := range listedBy(t, release) {
				if r.array == 0 || r.State == adapter.Pending {
					byName[r.Name] = r
				}
			}
			for name, check := range map[string]func(r *record) bool{
				"ranged": func(r *record) bool {
					return r.Want == 1 && r.maxNodes == 3 && r.Held && r.HeldByUser && r.Limit == 300
				},
				"two words": func(r *record) bool {
					return r.Tasks == 6 && r.nice == 7 && r.Begin > r.Submitted && r.Blocked && r.Comment == `a "b" c=d`
				},
				"runs": func(r *record) bool {
					return r.State == adapter.Running && len(r.Nodes) == 2 && r.batchHost == "n1" && r.features == "thin&fat" && r.Started > 0
				},
				"depends": func(r *record) bool {
					return r.Blocked && strings.HasPrefix(r.dependsOn, "afterok:") && r.Limit == 93780
				},
				"array": func(r *record) bool { return r.elements == "3-9%2" && r.several() && r.minMemory == 10 },
				"het":   func(r *record) bool { return r.Unfit == unfitHet },
				"tapes": func(r *record) bool { return r.Partition == "shared,main" && r.tresPerNode == "" },
				"picky": func(r *record) bool {
					return r.minCPUs == 3 && r.minMemory == 123 && r.features == "thin|fat" && r.tres == "cpu=2,mem=246M,node=2,billing=2"
				},
				"shares": func(r *record) bool { return r.overSubscribe == "YES" },
				"alone":  func(r *record) bool { return r.overSubscribe == "NO" },
				"managed": func(r *record) bool {
					return r.Mark == "accordion:ep=2x1h,3x1h" && slices.Equal(r.perNodeOptions(), []string{"--gres=tape:2"}) && r.Comment == "ep=2x1h,3x1h my run"
				},
				"many":      func(r *record) bool { return r.Mark == "" && r.Want == 1 },
				"fails":     func(r *record) bool { return r.State == adapter.Done && r.Why == "FAILED" && r.Nodes == nil },
				"hangs":     func(r *record) bool { return r.State == adapter.Running && r.suspended && len(r.Nodes) == 1 },
				"cancelled": func(r *record) bool { return r.State == adapter.Done && r.Tasks == 0 },
				"reserved":  func(r *record) bool { return r.Reservation == "accordion-r1" && r.Why == "Reservation" },
				"features":  func(r *record) bool { return r.Reservation == "" },
				"alloc": func(r *record) bool {
					return r.User == "bob" && r.batchHost == "" && r.Comment == "by hand" && len(r.Nodes) == 1
				},
				"grows": func(r *record) bool {
					return r.State == adapter.Running && r.CPUs == 4 && r.tres == "cpu=4,node=1,billing=4" && !r.suspended
				},
			} {
				if r := byName[name]; r == nil || !check(r) || r.unreadable != "" {
					t.Errorf("job %q was read as %+v", name, r)
				}
			}
			if r := byName["x UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=5 Nice=0 Account=a QOS=b JobState=RUNNING\nJobId=4711 JobName=y"]; r == nil || r.account != "q|w e" || r.User != "alice" {
				t.Errorf("the job that calls itself another was read as %+v", r)
			}
			if t.Failed() {
				t.Log(slices.SortedFunc(maps.Keys(byName), cmp.Compare[string]))
			}
		})
	}
}
