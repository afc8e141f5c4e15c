package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"accordion/core"
)

// nobody knows a job from before.
func nobody(core.JobID) *record { return nil }

func TestAWordThatLooksLikeAKeyDoesNoHarm(t *testing.T) {
	truth := printed{id: 7, submitted: 1795000000, user: "alice", uid: 1001, priority: 9, state: "RUNNING", nodes: "n1", words: words{host: "login1"}}
	for _, text := range []string{" Partition=x", " NodeList=n9 NumNodes=9", " JobState=PENDING", "JobId=5 JobName=x", " Priority=0", " QOS=x", " WorkDir=/", " SubmitTime=1"} {
		p := truth
		p.words = words{name: "x" + text, host: "login1", command: "scontrol update" + text, comment: text + " y", output: text}
		jobs, undecided, err := parseShown(p.line(stampThere), stampThere, nobody)
		if err != nil || len(undecided) > 0 || len(jobs) != 1 || jobs[0].doubt != 0 {
			t.Errorf("%q: %d jobs, %v undecided, %v, doubt %v", text, len(jobs), undecided, err, jobs)
			continue
		}
		j := jobs[0]
		j.finish()
		if j.User != "alice" || j.Partition != "main" || strings.Join(j.Nodes, ",") != "n1" || j.Priority != 9 || j.Name != "x"+text || j.State != "running" {
			t.Errorf("%q: %+v", text, j.record)
		}
	}
}

func TestNamesOfUsersAndGroupsMayHaveBlanks(t *testing.T) {
	p := printed{id: 7, submitted: 1795000000, user: `AD\ann lee`, uid: 70001, state: "PENDING", words: words{name: "x", host: "login1"}}
	jobs, _, err := parseShown(strings.Replace(p.line(stampThere), "users(100)", "domain users(100)", 1), stampThere, nobody)
	if err != nil || len(jobs) != 1 || jobs[0].User != `AD\ann lee` || jobs[0].UID != 70001 || jobs[0].GID != 100 || jobs[0].unreadable != "" {
		t.Errorf("%v, %+v", err, jobs)
	}
}

// TestAListOfAnotherReleaseIsAnErrorNotAShorterList: squeue tells then.
func TestAListOfAnotherReleaseIsAnErrorNotAShorterList(t *testing.T) {
	truth, _ := plainJobs(3)
	for _, k := range keys {
		if _, _, err := parseShown(strings.ReplaceAll(truth, k, " Other="), stampThere, nobody); err == nil {
			t.Errorf("without%s: no error", k)
		}
	}
	for _, text := range []string{strings.ReplaceAll(truth, stampThere, ""), strings.ReplaceAll(truth, "JobId=", "Job=")} {
		if jobs, _, err := parseShown(text, stampThere, nobody); err == nil {
			t.Errorf("%d jobs of %.60q", len(jobs), text)
		}
	}
	if jobs, undecided, err := parseShown("No jobs in the system\n", stampThere, nobody); err != nil || len(jobs)+len(undecided) != 0 {
		t.Errorf("no jobs: %v, %v", jobs, err)
	}
}

func TestOneRecordThatIsOddIsInDoubtAloneOfAll(t *testing.T) {
	truth, _ := plainJobs(5)
	lines := strings.SplitAfter(truth, "\n")
	for _, k := range keys {
		if k == keys[keySubmitTime] { // without it there is no record
			continue
		}
		lines[2] = strings.Replace(strings.SplitAfter(truth, "\n")[2], k, " Other=", 1)
		jobs, undecided, err := parseShown(strings.Join(lines, ""), stampThere, nobody)
		if err != nil || len(undecided) > 0 || len(jobs) != 5 {
			t.Fatalf("without%s: %d jobs, %v undecided, %v", k, len(jobs), undecided, err)
		}
		for i, j := range jobs {
			if (j.doubt != 0) != (i == 2) {
				t.Errorf("without%s in the third: doubt %d of number %d", k, j.doubt, i+1)
			}
		}
	}
}

// TestRivalsAreDecidedByWhatIsKnown: a is mallory's, v is alice's.
func TestRivalsAreDecidedByWhatIsKnown(t *testing.T) {
	head := func(id int, name, user string) string {
		return fmt.Sprintf("\nJobId=%d JobName=%s UserId=%s(%d) GroupId=users(100) MCS_label=(null) Priority=0 Nice=0 Account=", id, name, user, map[string]int{"mallory": 1066, "alice": 1001}[user])
	}
	job := func(id int, user string, w words) *printed {
		w.host = "login1"
		return &printed{id: id, submitted: 1795000000, user: user, uid: map[string]int{"mallory": 1066, "alice": 1001}[user], state: "PENDING", words: w}
	}
	v := job(20, "alice", words{name: "victim"})
	for name, c := range map[string]struct {
		jobs      []*printed
		known     []*printed
		undecided string
	}{
		"one forges a job that is not":                    {[]*printed{job(10, "mallory", words{name: "x" + head(4711, "y", "alice")}), v}, nil, "[[10 4711]]"},
		"… and is known":                                  {[]*printed{job(10, "mallory", words{name: "x" + head(4711, "y", "alice")}), v}, []*printed{job(10, "mallory", words{name: "x" + head(4711, "y", "alice")})}, "[]"},
		"one forges a job that is":                        {[]*printed{job(9, "alice", words{}), job(10, "mallory", words{name: "x" + head(9, "y", "alice")}), v}, nil, "[]"},
		"one forges before another's":                     {[]*printed{job(10, "mallory", words{output: "x" + head(4711, "y", "alice")}), v}, []*printed{v}, "[]"},
		"two change places":                               {[]*printed{job(10, "mallory", words{output: head(11, "a"+head(20, "victim", "alice"), "mallory")}), v, job(11, "mallory", words{name: "a" + head(20, "victim", "alice")})}, []*printed{v, job(11, "mallory", words{name: "a" + head(20, "victim", "alice")})}, "[[11 20] [11 20]]"},
		"one has changed its name into one with its last": {[]*printed{job(9, "alice", words{}), job(10, "mallory", words{name: "x\nJobId=10 JobName=y"})}, []*printed{job(10, "mallory", words{name: "y"})}, "[[10]]"},
		"the first of all cannot be another":              {[]*printed{job(10, "mallory", words{name: "x" + head(20, "victim", "alice")}), v}, nil, "[]"},
	} {
		if name != "the first of all cannot be another" {
			c.jobs = append([]*printed{job(5, "alice", words{name: "first"})}, c.jobs...)
		}
		all := cluster{jobs: c.jobs}
		known := cluster{jobs: c.known}
		table := map[core.JobID]*record{}
		for _, r := range known.truth(t) {
			table[r.ID] = &r
		}
		jobs, undecided, err := parseShown(all.shown(), forgedStamp, func(id core.JobID) *record { return table[id] })
		if err != nil || fmt.Sprint(undecided) != c.undecided {
			t.Errorf("%s: %v undecided, want %s; %v", name, undecided, c.undecided, err)
		}
		for _, j := range jobs {
			if i := j.ID; i != 5 && i != 9 && i != 10 && i != 11 && i != 20 {
				t.Errorf("%s: there is a job %d", name, i)
			}
		}
	}
}

func FuzzParseShown(f *testing.F) {
	for _, release := range releases {
		for line := range strings.Lines(shownBy(f, release)) {
			f.Add(line)
		}
	}
	f.Add("No jobs in the system\n")
	f.Fuzz(func(t *testing.T, text string) {
		truth, _ := plainJobs(2)
		jobs, _, err := parseShown(truth+text, stampThere, nobody)
		if err != nil {
			return
		}
		known := &testimony{}
		for i := range jobs {
			if j := &jobs[i]; known.believe(j) && (j.ID < 0 || j.Want < 0 || j.Limit < 0 || j.Submitted < 0) {
				t.Errorf("job %+v", j.record)
			}
		}
		if !strings.Contains(text, stampThere) && (len(jobs) != 2 || jobs[0].ID != 100 || jobs[1].ID != 101) {
			t.Errorf("%d jobs, and nothing has the stamp", len(jobs))
		}
	})
}

// BenchmarkParseShown reads a console's list.
func BenchmarkParseShown(b *testing.B) {
	one, _, _ := strings.Cut(shownBy(b, "22.05"), "\n")
	begin, _, _ := strings.Cut(one, " JobName=")
	for _, n := range []int{2000, 10000} {
		var text strings.Builder
		for i := range n {
			text.WriteString(strings.Replace(one, begin, "JobId="+strconv.Itoa(i+1), 1) + "\n")
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if jobs, _, err := parseShown(text.String(), stampThere, nobody); err != nil || len(jobs) != n || jobs[0].doubt != 0 {
					b.Fatal(len(jobs), err)
				}
			}
		})
	}
}

// BenchmarkParseHostile reads 2,000 jobs of which 200 are full of what looks like the begins of others, at the worst.
func BenchmarkParseHostile(b *testing.B) {
	c, known := &cluster{}, map[core.JobID]*record{}
	for i := range 2000 {
		p := &printed{id: 1 + i, submitted: 1795000000, user: "alice", uid: 1001, state: "PENDING", words: words{name: "wrap", host: "login1", output: "/home/alice/out"}}
		if i%10 == 5 {
			p.user, p.uid = "mallory", 1066
			var text strings.Builder
			for k := 0; text.Len() < 1000; k++ {
				fmt.Fprintf(&text, "\nJobId=%d JobName=", 1+(i*7+k*13)%2500)
			}
			p.words = words{name: text.String(), host: "login1", account: text.String(), network: text.String(), comment: text.String(), output: text.String()}
		}
		c.jobs = append(c.jobs, p)
	}
	for _, r := range c.truth(b) {
		known[r.ID] = &r
	}
	text := c.shown()
	b.ReportAllocs()
	for b.Loop() {
		jobs, undecided, err := parseShown(text, forgedStamp, func(id core.JobID) *record { return known[id] })
		if err != nil || len(jobs)+len(undecided) != 2000 {
			b.Fatal(len(jobs), len(undecided), err)
		}
	}
}
