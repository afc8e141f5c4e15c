package jobs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

// A scriptedReader reads from client programs that print given texts: a scontrol that works as a console and adds its
// stamp, and a squeue.
type scriptedReader struct {
	*Reader
	t        *testing.T
	dir, bin string
}

func newScriptedReader(t *testing.T, clients int, shown, listed string) *scriptedReader {
	t.Helper()
	p := &scriptedReader{t: t, dir: t.TempDir()}
	p.bin = clienttest.Programs(t, map[string]string{"scontrol": clienttest.Speaking(t.TempDir(), `stamp=${SLURM_TIME_FORMAT%\%s}
	case $line in
	"show job") sed "s/`+outputtest.Stamp+`/$stamp/g" `+p.dir+`/show.txt ;;
	"show job "*) if [ -e `+p.dir+`/job-${line##* } ]; then sed "s/`+outputtest.Stamp+`/$stamp/g" `+p.dir+`/job-${line##* }; else echo "slurm_load_jobs error: Invalid job id specified" >&2; fi ;;
	"show node") echo "NodeName=n1 State=IDLE BootTime=${stamp}1795290421" ;;
	"show reservation") echo "ReservationName=r StartTime=${stamp}1795290421 EndTime=${stamp}1795290521 Nodes=n1 Users=alice" ;;
	"show partition") echo "PartitionName=main OverSubscribe=EXCLUSIVE Nodes=n1 PriorityTier=1 State=UP" ;;
	esac`)})
	run := client.New(client.Config{Bin: p.bin, Timeout: time.Minute, AtOnce: 6, Clients: clients})
	t.Cleanup(run.Close)
	p.Reader = New(run)
	squeue := "#!/bin/sh\necho \"$*\" >>" + p.dir + "/asked\nword=${SQUEUE_FORMAT2##*:}\nsed \"s/WORD/$word/g\" " + p.dir + "/squeue.txt\n"
	if err := os.WriteFile(filepath.Join(p.bin, "squeue"), []byte(squeue), 0o755); err != nil {
		t.Fatal(err)
	}
	p.prints(shown, listed)
	return p
}

// prints sets what the clients print from now on. If a console is asked for one job, it shows everything up to the
// next job in squeue's list.
func (p *scriptedReader) prints(shown, listed string) {
	p.t.Helper()
	files := map[string]string{"show.txt": shown, "squeue.txt": listed}
	all, err := output.ParseSqueue(listed, "WORD")
	if err != nil {
		p.t.Fatal(err)
	}
	begins := map[int]core.JobID{}
	for _, r := range all {
		begins[strings.Index("\n"+shown, fmt.Sprintf("\nJobId=%d ", r.ID))] = r.ID
	}
	end := len(shown)
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(begins))) {
		files[fmt.Sprintf("job-%d", begins[at])] = shown[at:end]
		end = at
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// asked returns how often squeue ran.
func (p *scriptedReader) asked() int {
	text, err := os.ReadFile(filepath.Join(p.dir, "asked"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// listed reads all jobs and returns their number.
func (p *scriptedReader) listed() int {
	p.t.Helper()
	jobs, err := p.List(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return len(jobs)
}

// plainJobs returns n jobs without doubtful fields, as a console shows them and as squeue lists them.
func plainJobs(n int) (shown, listed string) {
	for i := range n {
		p := outputtest.Printed{ID: 100 + i, Submitted: 1795000000, User: "alice", UID: 1001, Priority: 9, State: "PENDING",
			Words: outputtest.Words{Name: "wrap", Host: "login1", Command: "/home/alice/run", Output: "/home/alice/out"}}
		shown += p.Line(outputtest.Stamp)
		listed += p.Row("WORD")
	}
	return shown, listed
}

func TestReadingsOfJobsNeedNoProgramsOfTheirOwn(t *testing.T) {
	shown, listed := plainJobs(30)
	p := newScriptedReader(t, 0, shown, listed)
	for range 5 {
		jobs, err := p.List(t.Context())
		if err != nil || len(jobs) != 30 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		if _, err := p.Find(t.Context(), jobs[0].Key); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Find(t.Context(), adapter.Key{ID: jobs[0].ID, Submitted: 1}); !errors.Is(err, adapter.ErrGone) {
			t.Fatalf("another job of the id: %v", err)
		}
		if _, err := p.Find(t.Context(), adapter.Key{ID: 4711, Submitted: 1}); !errors.Is(err, adapter.ErrGone) {
			t.Fatalf("a job that is not: %v", err)
		}
		out, err := p.run.Run(t.Context(), client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all"}, Input: output.InventoryCommands, Kind: client.Listing})
		if err != nil {
			t.Fatal(err)
		}
		in, err := output.ParseInventory(out.Stdout)
		if err != nil || len(in.Reservations) != 1 || in.Reservations[0].Start != 1795290421 {
			t.Fatalf("%+v, %v", in.Reservations, err)
		}
	}
	if n := p.run.Begun(); n != 2 {
		t.Errorf("%d programs, want a console for lists and one for jobs", n)
	}
}

func TestSqueueIsAskedOnceForTextsThatAreNew(t *testing.T) {
	for _, release := range outputtest.Releases {
		t.Run(release, func(t *testing.T) {
			p := newScriptedReader(t, 0, outputtest.ShownBy(t, release), outputtest.Recorded(t, release+"/squeue.txt"))
			want := 0
			for _, r := range listedBy(t, release) {
				if r.State != adapter.Done {
					want++
				}
			}
			for range 3 {
				if n := p.listed(); n != want {
					t.Fatalf("%d jobs, want %d", n, want)
				}
			}
			if n := p.asked(); n != 1 {
				t.Errorf("squeue was run %d times, want once", n)
			}
		})
	}
}

func TestAReadingDoesNotFailWithSqueue(t *testing.T) {
	shown, listed := plainJobs(3)
	hostile := outputtest.Printed{ID: 99, Submitted: 1795000000, User: "mallory", UID: 1066, Priority: 9, State: "PENDING", Words: outputtest.Words{Name: "x", Host: "login1"}}
	p := newScriptedReader(t, 0, shown+hostile.Line(outputtest.Stamp), listed+hostile.Row("WORD"))
	if n := p.listed(); n != 4 {
		t.Fatalf("%d jobs, want 4", n)
	}
	hostile.Name = strings.Join(keys[:keyPartition], "x")
	p.prints(shown+hostile.Line(outputtest.Stamp), listed+hostile.Row("WORD"))
	if err := os.WriteFile(filepath.Join(p.bin, "squeue"), []byte("#!/bin/sh\necho no >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if n := p.listed(); n != 4 {
		t.Errorf("%d jobs, want 4: three current ones, and one as last verified", n)
	}
}

// The reading also must not use the programs that are reserved for actions.
func TestAJobThatChangesItsTextAllTheTimeCostsFewPrograms(t *testing.T) {
	shown, listed := plainJobs(3)
	hostile := outputtest.Printed{ID: 99, Submitted: 1795000000, User: "mallory", UID: 1066, Priority: 9, State: "PENDING", Words: outputtest.Words{Host: "login1"}}
	p := newScriptedReader(t, 60, shown, listed)
	for i := range 50 {
		hostile.Name = "x" + strconv.Itoa(i) + " UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=5 Nice=0 Account=a QOS=b JobState=RUNNING\nJobId=4711 JobName=y"
		p.prints(shown+hostile.Line(outputtest.Stamp), listed+hostile.Row("WORD"))
		if n := p.listed(); n != 4 {
			t.Fatalf("%d jobs, want 4", n)
		}
		j, err := p.Find(t.Context(), adapter.Key{ID: 99, Submitted: 1795000000})
		if err != nil || j.User != "mallory" || j.State != adapter.Pending {
			t.Fatalf("%+v, %v", j, err)
		}
	}
	if n := p.asked(); n > 3 {
		t.Errorf("squeue was run %d times within seconds, want few", n)
	}
}

func TestManyNewHostileJobsLeaveHalfOfTheProgramsToActs(t *testing.T) {
	shown, listed := plainJobs(3)
	p := newScriptedReader(t, 60, shown, listed)
	for i := range 80 {
		hostile := outputtest.Printed{ID: 1000 + i, Submitted: 1795000000, User: "mallory", UID: 1066, Priority: 9, State: "PENDING", Words: outputtest.Words{Host: "login1"}}
		hostile.Comment = strings.Join(keys[keyPartition:], "x")
		p.prints(shown+hostile.Line(outputtest.Stamp), listed+hostile.Row("WORD"))
		if n := p.listed(); n != 3 && n != 4 {
			t.Fatalf("%d jobs, want 3 or 4", n)
		}
	}
	if n := p.run.Begun(); n < 5 || n > 32 {
		t.Errorf("%d programs, want some, and at most half of 60", n)
	}
}
