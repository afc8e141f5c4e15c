package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/jobs/jobstest"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// A cluster holds all jobs in slurmctld's order.
type cluster struct {
	jobs   []*outputtest.Printed
	quiet  bool // squeue may not run now
	asked  int  // runs of squeue
	alones int
	folds  bool // squeue is 23.02 or later
	tasked int  // runs of squeue that list only tasks
}

const forgedStamp = "QRSTUVWXYZ234567"

func (c *cluster) shown() string {
	var b strings.Builder
	for _, p := range c.jobs {
		b.WriteString(p.Line(forgedStamp))
	}
	return b.String()
}

// truth returns the true records, as squeue prints them.
func (c *cluster) truth(t failer) []output.Record {
	var b strings.Builder
	for _, p := range c.jobs {
		b.WriteString(p.Row("WORD"))
	}
	all, err := output.ParseSqueue(b.String(), "WORD")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A clusterVerifier verifies records against the cluster's jobs.
type clusterVerifier struct {
	t     failer
	c     *cluster
	known *verifiedCache
}

func (h clusterVerifier) alone(id core.JobID) (*shown, error) {
	h.c.alones++
	for _, p := range h.c.jobs {
		if core.JobID(p.ID) == id {
			jobs, undecided, err := parseShown(p.Line(forgedStamp), forgedStamp, h.known.job)
			if err != nil || len(jobs) != 1 || len(undecided) > 0 {
				h.t.Fatalf("job %d alone: %d jobs, %v undecided: %v", id, len(jobs), undecided, err)
			}
			return &jobs[0], nil
		}
	}
	return nil, nil
}

func (h clusterVerifier) all(bool) ([]output.Record, error) {
	if h.c.quiet {
		return nil, nil
	}
	h.c.asked++
	all := h.c.truth(h.t)
	if !h.c.folds {
		return all, nil
	}
	return slices.DeleteFunc(all, func(r output.Record) bool { return r.Array != 0 && r.Array != r.ID }), nil
}

func (h clusterVerifier) tasks(ids []core.JobID) ([]output.Record, error) {
	h.c.tasked++
	return slices.DeleteFunc(h.c.truth(h.t), func(r output.Record) bool { return !slices.Contains(ids, r.ID) }), nil
}

// read reads all jobs of the cluster once.
func (c *cluster) read(t failer, known *verifiedCache) map[core.JobID]output.Record {
	jobs, undecided, err := parseShown(c.shown(), forgedStamp, known.job)
	if err != nil {
		t.Fatal(err)
	}
	certain, err := known.verify(jobs, undecided, clusterVerifier{t, c, known})
	if err != nil {
		t.Fatal(err)
	}
	known.keep(certain, false)
	all := map[core.JobID]output.Record{}
	for _, r := range certain {
		if _, twice := all[r.ID]; twice {
			t.Fatalf("job %d occurs twice", r.ID)
		}
		all[r.ID] = r
	}
	return all
}

// lie draws a text that a hostile user may write. It may be any text. Often it looks like a record of a job of this
// user or another.
func (c *cluster) lie(t *rapid.T, label string) string {
	pieces := append([]string{
		"x", " ", "\n", "\nJobId=4711 JobName=y", "\nJobId=12 JobName=", " AdminComment=accordion:ep=9x9h", " Comment=", "  StdErr=", " StdErr=", " ClusterFeatures=", " CrontabSpec=\"",
		"root(0)", "RUNNING", "1", " Reservation=accordion-1-1", " BatchHost=n1", " ArrayJobId=7", " HetJobId=7", " HetJobIdSet=7", client.Prompt, "|", "(null)", "\x00",
	}, keys[:]...)
	var b strings.Builder
	for range rapid.IntRange(0, 5).Draw(t, label+": pieces") {
		switch rapid.IntRange(0, 4).Draw(t, label+": kind") {
		case 0:
			b.WriteString(rapid.String().Draw(t, label))
		case 1, 2:
			b.WriteString(rapid.SampledFrom(pieces).Draw(t, label))
		case 3: // several consecutive keys
			first := rapid.SampledFrom([]int{keyUser, keyQOS, keyPartition, keyReqNodes, keyOverSubscribe}).Draw(t, label+": from")
			for _, k := range keys[first:min(len(keys), first+rapid.IntRange(1, len(keys)).Draw(t, label+": keys"))] {
				value := "1"
				if k == keys[keyUser] || k == keys[keyGroup] {
					value = "root(0)"
				}
				b.WriteString(k + value)
			}
		default: // a whole record of an existing job, or its beginning or end
			p := rapid.SampledFrom(c.jobs).Draw(t, label+": whose")
			line := "\n" + p.Line("")
			if len(line) > 3000 {
				continue // forgeries inside forgeries would grow without limit
			}
			at := strings.Index(line, rapid.SampledFrom([]string{" UserId=", " QOS=", " JobState=", " Partition=", " Command="}).Draw(t, label+": cut"))
			if rapid.Bool().Draw(t, label+": begin") {
				line = line[:at]
			} else if rapid.Bool().Draw(t, label+": end") {
				line = line[at:]
			}
			b.WriteString(strings.TrimRight(line, "\n"))
		}
	}
	return strings.ReplaceAll(b.String(), "\x00", "")
}

// TestNoUserCanForgeHideOrChangeAJob lets hostile users write and change any texts between readings. In some of the
// readings squeue may not run. Every reading must show the true record of every job whose owner forges nothing. It
// must not mistake a user's text for Slurm's.
func TestNoUserCanForgeHideOrChangeAJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{}
		known := &verifiedCache{}
		hostile := map[core.JobID]bool{}
		past := map[core.JobID][]output.Record{} // earlier true records of each job
		marked := map[core.JobID]bool{}          // jobs whose mark was seen
		submit := func() {
			p := &outputtest.Printed{ID: 11 + len(past), Submitted: 1795000000 + rapid.IntRange(0, 1).Draw(t, "second"), User: "alice", UID: 1001,
				Priority: rapid.IntRange(0, 3).Draw(t, "priority"), State: "PENDING"}
			p.Words = outputtest.Words{Name: "wrap", Host: "login1", Command: "/home/alice/run", Output: "/home/alice/out"}
			if rapid.Bool().Draw(t, "hostile") {
				hostile[core.JobID(p.ID)], p.User, p.UID = true, "mallory", 1066
			} else if rapid.Bool().Draw(t, "marked") {
				p.Mark, p.Comment = "accordion:ep=1x1h", "ep=1x1h"
			}
			past[core.JobID(p.ID)] = nil
			c.jobs = append(c.jobs, p)
			if hostile[core.JobID(p.ID)] && rapid.IntRange(0, 3).Draw(t, "own client") == 0 {
				p.Host = c.lie(t, "host")
			}
		}
		for range rapid.IntRange(2, 6).Draw(t, "jobs") {
			submit()
		}
		for reading := range rapid.IntRange(1, 6).Draw(t, "readings") {
			if rapid.Bool().Draw(t, "another job") {
				submit()
			}
			gone := -1
			for i, p := range c.jobs {
				if hostile[core.JobID(p.ID)] && rapid.Bool().Draw(t, "changes") {
					for _, text := range []*string{&p.Name, &p.Account, &p.Label, &p.Features, &p.Network, &p.Command, &p.Comment, &p.Output} {
						if rapid.IntRange(0, 2).Draw(t, "which") == 0 {
							*text = c.lie(t, "lie")
						}
					}
				}
				switch rapid.IntRange(0, 7).Draw(t, "what happens") {
				case 0:
					p.Priority++
				case 1, 2:
					switch p.State {
					case "PENDING":
						p.State, p.Nodes = "RUNNING", fmt.Sprintf("n%d", p.ID)
					case "RUNNING":
						p.State = "COMPLETED"
					default:
						gone = i
					}
				case 3:
					p.Reserved = rapid.SampledFrom([]string{"", "accordion-7-1"}).Draw(t, "reservation")
				}
			}
			if gone >= 0 && len(c.jobs) > 1 {
				c.jobs = append(c.jobs[:gone:gone], c.jobs[gone+1:]...)
			}
			c.quiet = reading > 0 && rapid.Bool().Draw(t, "quiet")
			before := c.asked
			got := c.read(t, known)
			if c.asked > before+1 {
				t.Fatalf("squeue was asked %d times in a reading", c.asked-before)
			}
			for _, want := range c.truth(t) {
				past[want.ID] = append(past[want.ID], want)
				r, there := got[want.ID]
				delete(got, want.ID)
				switch {
				case want.State == adapter.Done:
					if there {
						t.Fatalf("job %d has ended, but was listed as %+v ", want.ID, r)
					}
				case !there && (!hostile[want.ID] || !c.quiet):
					t.Fatalf("job %d is missing", want.ID)
				case there && hostile[want.ID] && c.quiet:
					if why := believable(r, want, past[want.ID]); why != "" {
						t.Fatalf("job %d: %s is a user's word", want.ID, why)
					}
				case there:
					if c.quiet && r.Mark == "" && !marked[want.ID] { // squeue has not verified this job yet
						want.Mark, want.Comment, want.Unverified = "", "", r.Unverified
					}
					if hostile[want.ID] && r.Mark == "" { // a hostile user's text may be lost, but only in the user's own job
						want.Comment = r.Comment
					}
					marked[want.ID] = r.Mark != ""
					if diff := gocmp.Diff(jobstest.Alike(want), jobstest.Alike(r), gocmp.AllowUnexported(output.Record{})); diff != "" {
						t.Fatalf("job %d, (-is +was told):\n%s", want.ID, diff)
					}
				}
			}
			for id := range got {
				t.Fatalf("job %d does not exist, but was listed", id)
			}
		}
	})
}

// Many hostile jobs are before and after other users' jobs in the list. They name these jobs in texts that keep
// changing, while squeue may not run.
func TestAJobIsSeenAmongManyThatNameIt(t *testing.T) {
	c, known := &cluster{}, &verifiedCache{}
	for i := range 90 {
		p := &outputtest.Printed{ID: 11 + i, Submitted: 1795000000 + i/30, User: "mallory", UID: 1066, State: "PENDING", Words: outputtest.Words{Name: "wrap", Host: "login1"}}
		if i%9 == 5 {
			p.User, p.UID, p.Mark, p.Comment = "alice", 1001, "accordion:ep=1x1h", "ep=1x1h"
		}
		c.jobs = append(c.jobs, p)
	}
	for reading := range 20 {
		for i, p := range c.jobs {
			if p.User == "alice" {
				if reading > 0 {
					p.State, p.Nodes = "RUNNING", fmt.Sprintf("n[%d-%d]", 100*i, 100*i+reading)
				}
				continue
			}
			text := fmt.Sprintf("x%d", reading)
			for k := range 6 { // forged beginnings of the previous job, the next job, and a job that does not exist
				text += fmt.Sprintf("\nJobId=%d JobName=wrap", 11+(i+k*k-9+len(c.jobs))%len(c.jobs))
			}
			text += fmt.Sprintf("\nJobId=%d JobName=y UserId=alice(1001) GroupId=", 4711+reading)
			switch reading % 3 {
			case 0:
				p.Words = outputtest.Words{Name: text, Host: "login1"}
			case 1:
				p.Words = outputtest.Words{Name: "wrap", Host: "login1", Comment: text}
			default:
				p.Words = outputtest.Words{Name: text, Host: "login1", Output: text, Account: text}
			}
		}
		c.quiet, c.alones = reading > 0, 0
		got := c.read(t, known)
		for _, want := range c.truth(t) {
			r, there := got[want.ID]
			if !there || r.User != want.User {
				t.Fatalf("reading %d: job %d is %+v, told %v", reading, want.ID, r, there)
			}
			if diff := gocmp.Diff(jobstest.Alike(want), jobstest.Alike(r), gocmp.AllowUnexported(output.Record{})); want.User == "alice" && diff != "" {
				t.Fatalf("reading %d: job %d (-is +was told):\n%s", reading, want.ID, diff)
			}
		}
		if c.alones > mostAlone {
			t.Errorf("reading %d: %d jobs were asked for alone", reading, c.alones)
		}
	}
}

func TestVerifiedRecordsAreRenewedForAllJobsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, known := &cluster{}, &verifiedCache{}
		for i := range 5 {
			c.jobs = append(c.jobs, &outputtest.Printed{ID: 11 + i, Submitted: 1795000000, User: "alice", UID: 1001, State: "PENDING", Mark: "accordion:ep=1x1h", Words: outputtest.Words{Host: "login1", Comment: "ep=1x1h"}})
			c.read(t, known)
			time.Sleep(time.Minute)
		}
		if c.asked != 5 {
			t.Errorf("squeue was run %d times for 5 jobs that came one after the other", c.asked)
		}
		for range 60 {
			c.read(t, known)
			time.Sleep(time.Minute)
		}
		if c.asked < 10 || c.asked > 12 {
			t.Errorf("squeue was run %d times in an hour, want once in ten minutes", c.asked-5)
		}
	})
}

// A list runs squeue for one job in doubt. Before squeue's answer is stored, an action marks another job and
// reads that job again, as Adopt does.
func TestAnOlderAnswerOfSqueueDoesNotTakeBackAMark(t *testing.T) {
	const mark = "accordion:ep=1x1h"
	job := func(id int, mark string) *outputtest.Printed {
		return &outputtest.Printed{ID: id, Submitted: 1795000000, User: "alice", UID: 1001, State: "PENDING", Mark: mark, Words: outputtest.Words{Host: "login1", Comment: "ep=1x1h"}}
	}
	c, known := &cluster{jobs: []*outputtest.Printed{job(11, mark), job(12, "")}}, &verifiedCache{}
	markOf := func() string {
		j, err := clusterVerifier{t, c, known}.alone(12)
		if err != nil {
			t.Fatal(err)
		}
		if !known.trust(j) {
			asked := time.Now()
			known.store([]*shown{j}, nil, c.truth(t), asked)
			j, _ = clusterVerifier{t, c, known}.alone(12)
			if !known.trust(j) {
				t.Fatal("job 12 is not trusted although squeue verified it")
			}
		}
		return j.Mark
	}
	jobs, undecided, err := parseShown(c.shown(), forgedStamp, known.job)
	if err != nil {
		t.Fatal(err)
	}
	slow := slowVerifier{clusterVerifier{t, c, known}, func() {
		c.jobs[1].Mark = mark
		if got := markOf(); got != mark {
			t.Errorf("the action reads the mark %q, want %q", got, mark)
		}
	}}
	if _, err := known.verify(jobs, undecided, slow); err != nil {
		t.Fatal(err)
	}
	if got := markOf(); got != mark {
		t.Errorf("after the list the mark is %q, want %q", got, mark)
	}
}

// A slowVerifier calls a function before squeue's answer arrives.
type slowVerifier struct {
	clusterVerifier
	meanwhile func()
}

func (h slowVerifier) all(strange bool) ([]output.Record, error) {
	all, err := h.clusterVerifier.all(strange)
	h.meanwhile()
	return all, err
}

// believable returns the part of a record that is not empty and is neither true now nor was true before. It returns
// "" if there is no such part.
func believable(r, now output.Record, past []output.Record) string {
	if r.Key != now.Key || r.State != now.State || r.Limit != now.Limit || r.DependsOn != now.DependsOn {
		return "what only Slurm writes"
	}
	for what, of := range map[string]func(r output.Record) string{
		"its owner":       func(r output.Record) string { return fmt.Sprint(r.User, r.UID) },
		"its name":        func(r output.Record) string { return r.Name },
		"its account":     func(r output.Record) string { return r.Account },
		"its priority":    func(r output.Record) string { return fmt.Sprint(r.Priority) },
		"its QOS":         func(r output.Record) string { return r.QOS },
		"its partition":   func(r output.Record) string { return r.Partition },
		"its nodes":       func(r output.Record) string { return strings.Join(r.Nodes, ",") },
		"its reservation": func(r output.Record) string { return r.Reservation },
		"its mark":        func(r output.Record) string { return r.Mark },
		"its size": func(r output.Record) string {
			return fmt.Sprint(r.Want, r.Tasks, r.CPUs, r.MinCPUs, r.TRES, r.OverSubscribe)
		},
	} {
		same := of(r) == of(output.Record{}) || what == "its owner" && of(r) == "0"
		for _, p := range past {
			same = same || of(r) == of(p)
		}
		if !same {
			return fmt.Sprintf("%s (%s)", what, of(r))
		}
	}
	return ""
}

func TestAMarkedJobIsUnverifiedUntilSqueueWasAsked(t *testing.T) {
	c, known := &cluster{}, &verifiedCache{}
	plain := &outputtest.Printed{ID: 11, Submitted: 1795000000, User: "alice", UID: 1001, Priority: 9, State: "PENDING", Words: outputtest.Words{Name: "wrap", Host: "login1"}}
	marked := *plain
	marked.ID, marked.Mark, marked.Comment = 12, "accordion:ep=1x1h", "ep=1x1h"
	c.jobs = append(c.jobs, plain)
	c.read(t, known)
	c.jobs = append(c.jobs, &marked)
	for reading, test := range []struct{ quiet, unread bool }{{true, true}, {true, true}, {false, false}, {true, false}} {
		c.quiet = test.quiet
		got := c.read(t, known)
		if r, there := got[12]; !there || r.Unverified != test.unread || (r.Mark == "") != test.unread {
			t.Errorf("reading %d: %+v, want unread %v", reading, r, test.unread)
		}
		if got[11].Unverified {
			t.Errorf("reading %d: a job without doubt is unverified", reading)
		}
	}
}

// Since 23.02 squeue omits tasks that are jobs of their own while their array's last task is pending.
func TestTasksThatSqueueCountsInTheirArrayAreRead(t *testing.T) {
	c, known := &cluster{folds: true}, &verifiedCache{}
	task := func(id int, number, mark string) *outputtest.Printed {
		return &outputtest.Printed{ID: id, Array: 50, Task: number, Submitted: 1795000000, User: "alice", UID: 1001, Priority: 9, State: "PENDING", Mark: mark,
			Deadline: 1795000600, MinTime: 2, Words: outputtest.Words{Name: "wrap", Host: "login1", Comment: "ep=1x1h"}}
	}
	c.jobs = append(c.jobs, task(51, "1", "accordion:ep=1x1h"), task(50, "2", "accordion:ep=1x1h"))
	for reading := range 3 {
		c.quiet = reading > 0
		got := c.read(t, known)
		for id, name := range map[core.JobID]string{50: "50_2", 51: "50_1"} {
			r, there := got[id]
			if !there || r.Unverified || r.Mark != "accordion:ep=1x1h" || r.TaskName != name || r.Deadline != 1795000600 || r.Latest != 1795000480 {
				t.Errorf("reading %d: job %d is there: %v, %+v", reading, id, there, r)
			}
		}
	}
	if c.tasked != 1 {
		t.Errorf("squeue was asked %d times for tasks alone, want once", c.tasked)
	}
}

func TestTasksAreAskedForWhereAListLeavesThemOut(t *testing.T) {
	task := func(id core.JobID, tasks string, state adapter.State) output.Record {
		r := output.Record{TaskIDs: tasks}
		r.ID, r.Array, r.State, r.TaskName = id, 50, state, "50_"+tasks
		return r
	}
	s := &Reader{}
	for number := 1; number <= 3; number++ {
		s.NoteSplit(50, number)
	}
	s.NoteSplit(60, 1)
	if got := s.omittedTasks([]output.Record{task(50, "1-9", adapter.Pending), task(52, "2", adapter.Pending)}); !slices.Equal(got, []string{"50_1", "50_3"}) {
		t.Errorf("of an array that waits: %v", got)
	}
	if got := s.omittedTasks([]output.Record{task(50, "4", adapter.Running), task(52, "2", adapter.Pending)}); len(got) > 0 || len(s.splitTasks) > 0 {
		t.Errorf("of one that runs: %v", got)
	}
}
