package jobs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"accordion/core"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

// noJobs finds no verified record of any job.
func noJobs(core.JobID) *output.Record { return nil }

func TestAWordThatLooksLikeAKeyDoesNoHarm(t *testing.T) {
	truth := outputtest.Printed{ID: 7, Submitted: 1795000000, User: "alice", UID: 1001, Priority: 9, State: "RUNNING", Nodes: "n1", Words: outputtest.Words{Host: "login1"}}
	for _, text := range []string{" Partition=x", " NodeList=n9 NumNodes=9", " JobState=PENDING", "JobId=5 JobName=x", " Priority=0", " QOS=x", " WorkDir=/", " SubmitTime=1"} {
		p := truth
		p.Words = outputtest.Words{Name: "x" + text, Host: "login1", Command: "scontrol update" + text, Comment: text + " y", Output: text}
		jobs, undecided, err := parseShown(p.Line(outputtest.Stamp), outputtest.Stamp, noJobs)
		if err != nil || len(undecided) > 0 || len(jobs) != 1 || jobs[0].doubt != 0 {
			t.Errorf("%q: %d jobs, %v undecided, %v, doubt %v", text, len(jobs), undecided, err, jobs)
			continue
		}
		j := jobs[0]
		j.finish()
		if j.User != "alice" || j.Partition != "main" || strings.Join(j.Nodes, ",") != "n1" || j.Priority != 9 || j.Name != "x"+text || j.State != "running" {
			t.Errorf("%q: %+v", text, j.Record)
		}
	}
}

func TestNamesOfUsersAndGroupsMayHaveBlanks(t *testing.T) {
	p := outputtest.Printed{ID: 7, Submitted: 1795000000, User: `AD\ann lee`, UID: 70001, State: "PENDING", Words: outputtest.Words{Name: "x", Host: "login1"}}
	jobs, _, err := parseShown(strings.Replace(p.Line(outputtest.Stamp), "users(100)", "domain users(100)", 1), outputtest.Stamp, noJobs)
	if err != nil || len(jobs) != 1 || jobs[0].User != `AD\ann lee` || jobs[0].UID != 70001 || jobs[0].GID != 100 || jobs[0].Unreadable != "" {
		t.Errorf("%v, %+v", err, jobs)
	}
}

// For such a list an error is right, because squeue then lists the jobs.
func TestAListOfAnotherReleaseIsAnErrorNotAShorterList(t *testing.T) {
	truth, _ := plainJobs(3)
	for _, k := range keys {
		if _, _, err := parseShown(strings.ReplaceAll(truth, k, " Other="), outputtest.Stamp, noJobs); err == nil {
			t.Errorf("without%s: no error", k)
		}
	}
	for _, text := range []string{strings.ReplaceAll(truth, outputtest.Stamp, ""), strings.ReplaceAll(truth, "JobId=", "Job=")} {
		if jobs, _, err := parseShown(text, outputtest.Stamp, noJobs); err == nil {
			t.Errorf("%d jobs of %.60q", len(jobs), text)
		}
	}
	if jobs, undecided, err := parseShown("No jobs in the system\n", outputtest.Stamp, noJobs); err != nil || len(jobs)+len(undecided) != 0 {
		t.Errorf("no jobs: %v, %v", jobs, err)
	}
}

func TestAnOddRecordPutsNoOtherInDoubt(t *testing.T) {
	truth, _ := plainJobs(5)
	lines := strings.SplitAfter(truth, "\n")
	for _, k := range keys {
		if k == keys[keySubmitTime] { // a record without this key is not recognized as a record
			continue
		}
		lines[2] = strings.Replace(strings.SplitAfter(truth, "\n")[2], k, " Other=", 1)
		jobs, undecided, err := parseShown(strings.Join(lines, ""), outputtest.Stamp, noJobs)
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

// In the names of these texts, `a` (attacker) is mallory's job and `v` (victim) is alice's.
func TestRivalBeginningsAreDecidedByKnownJobs(t *testing.T) {
	head := func(id int, name, user string) string {
		return fmt.Sprintf("\nJobId=%d JobName=%s UserId=%s(%d) GroupId=users(100) MCS_label=(null) Priority=0 Nice=0 Account=", id, name, user, map[string]int{"mallory": 1066, "alice": 1001}[user])
	}
	job := func(id int, user string, w outputtest.Words) *outputtest.Printed {
		w.Host = "login1"
		return &outputtest.Printed{ID: id, Submitted: 1795000000, User: user, UID: map[string]int{"mallory": 1066, "alice": 1001}[user], State: "PENDING", Words: w}
	}
	v := job(20, "alice", outputtest.Words{Name: "victim"})
	for name, c := range map[string]struct {
		jobs      []*outputtest.Printed
		known     []*outputtest.Printed
		undecided string
	}{
		"one forges a job that is not":                    {[]*outputtest.Printed{job(10, "mallory", outputtest.Words{Name: "x" + head(4711, "y", "alice")}), v}, nil, "[[10 4711]]"},
		"… and is known":                                  {[]*outputtest.Printed{job(10, "mallory", outputtest.Words{Name: "x" + head(4711, "y", "alice")}), v}, []*outputtest.Printed{job(10, "mallory", outputtest.Words{Name: "x" + head(4711, "y", "alice")})}, "[]"},
		"one forges a job that is":                        {[]*outputtest.Printed{job(9, "alice", outputtest.Words{}), job(10, "mallory", outputtest.Words{Name: "x" + head(9, "y", "alice")}), v}, nil, "[]"},
		"one forges before another's":                     {[]*outputtest.Printed{job(10, "mallory", outputtest.Words{Output: "x" + head(4711, "y", "alice")}), v}, []*outputtest.Printed{v}, "[]"},
		"two change places":                               {[]*outputtest.Printed{job(10, "mallory", outputtest.Words{Output: head(11, "a"+head(20, "victim", "alice"), "mallory")}), v, job(11, "mallory", outputtest.Words{Name: "a" + head(20, "victim", "alice")})}, []*outputtest.Printed{v, job(11, "mallory", outputtest.Words{Name: "a" + head(20, "victim", "alice")})}, "[[11 20] [11 20]]"},
		"one has changed its name into one with its last": {[]*outputtest.Printed{job(9, "alice", outputtest.Words{}), job(10, "mallory", outputtest.Words{Name: "x\nJobId=10 JobName=y"})}, []*outputtest.Printed{job(10, "mallory", outputtest.Words{Name: "y"})}, "[[10]]"},
		"the first of all cannot be another":              {[]*outputtest.Printed{job(10, "mallory", outputtest.Words{Name: "x" + head(20, "victim", "alice")}), v}, nil, "[]"},
	} {
		if name != "the first of all cannot be another" {
			c.jobs = append([]*outputtest.Printed{job(5, "alice", outputtest.Words{Name: "first"})}, c.jobs...)
		}
		all := cluster{jobs: c.jobs}
		known := cluster{jobs: c.known}
		table := map[core.JobID]*output.Record{}
		for _, r := range known.truth(t) {
			table[r.ID] = &r
		}
		jobs, undecided, err := parseShown(all.shown(), forgedStamp, func(id core.JobID) *output.Record { return table[id] })
		if err != nil || fmt.Sprint(undecided) != c.undecided {
			t.Errorf("%s: %v undecided, want %s; %v", name, undecided, c.undecided, err)
		}
		for _, j := range jobs {
			if i := j.ID; i != 5 && i != 9 && i != 10 && i != 11 && i != 20 {
				t.Errorf("%s: unexpected job %d", name, i)
			}
		}
	}
}

func FuzzParseShown(f *testing.F) {
	for _, release := range outputtest.Releases {
		for line := range strings.Lines(outputtest.ShownBy(f, release)) {
			f.Add(line)
		}
	}
	f.Add("No jobs in the system\n")
	f.Fuzz(func(t *testing.T, text string) {
		truth, _ := plainJobs(2)
		jobs, _, err := parseShown(truth+text, outputtest.Stamp, noJobs)
		if err != nil {
			return
		}
		known := &verifiedCache{}
		for i := range jobs {
			if j := &jobs[i]; known.trust(j) && (j.ID < 0 || j.Want < 0 || j.Limit < 0 || j.Submitted < 0) {
				t.Errorf("job %+v", j.Record)
			}
		}
		if !strings.Contains(text, outputtest.Stamp) && (len(jobs) != 2 || jobs[0].ID != 100 || jobs[1].ID != 101) {
			t.Errorf("%d jobs, and nothing has the stamp", len(jobs))
		}
	})
}

// BenchmarkParseShown parses a console's list.
func BenchmarkParseShown(b *testing.B) {
	one, _, _ := strings.Cut(outputtest.ShownBy(b, "22.05"), "\n")
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
				if jobs, _, err := parseShown(text.String(), outputtest.Stamp, noJobs); err != nil || len(jobs) != n || jobs[0].doubt != 0 {
					b.Fatal(len(jobs), err)
				}
			}
		})
	}
}

// BenchmarkParseHostile parses 2,000 jobs. 200 of them are full of texts that look like beginnings of other records,
// the worst case.
func BenchmarkParseHostile(b *testing.B) {
	c, known := &cluster{}, map[core.JobID]*output.Record{}
	for i := range 2000 {
		p := &outputtest.Printed{ID: 1 + i, Submitted: 1795000000, User: "alice", UID: 1001, State: "PENDING", Words: outputtest.Words{Name: "wrap", Host: "login1", Output: "/home/alice/out"}}
		if i%10 == 5 {
			p.User, p.UID = "mallory", 1066
			var text strings.Builder
			for k := 0; text.Len() < 1000; k++ {
				fmt.Fprintf(&text, "\nJobId=%d JobName=", 1+(i*7+k*13)%2500)
			}
			p.Words = outputtest.Words{Name: text.String(), Host: "login1", Account: text.String(), Network: text.String(), Comment: text.String(), Output: text.String()}
		}
		c.jobs = append(c.jobs, p)
	}
	for _, r := range c.truth(b) {
		known[r.ID] = &r
	}
	text := c.shown()
	b.ReportAllocs()
	for b.Loop() {
		jobs, undecided, err := parseShown(text, forgedStamp, func(id core.JobID) *output.Record { return known[id] })
		if err != nil || len(jobs)+len(undecided) != 2000 {
			b.Fatal(len(jobs), len(undecided), err)
		}
	}
}
