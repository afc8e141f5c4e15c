package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

func TestTheLimitOfAJobThatStartsEndsBeforeItsDeadline(t *testing.T) {
	for _, test := range []struct {
		name                   string
		deadline, limit, least core.Time
		want                   core.Time
	}{
		{"no deadline", 0, 600, 100, 600},
		{"time enough", 1000 + 700, 600, 100, 600},
		{"whole minutes", 1000 + 10 + 179, 600, 100, 120},
		{"not below the least", 1000 + 10 + 100, 600, 100, 100},
		{"a part of an application", 1000 + 70, 600, 0, 600},
	} {
		r := &output.Record{}
		r.Deadline = test.deadline
		if got := limitBy(r, adapter.Shape{Nodes: 1, Limit: test.limit, Least: test.least}, 1000); got != test.want {
			t.Errorf("%s: %d s, want %d", test.name, got, test.want)
		}
	}
}

// Slurm does not check the deadline of a job that waits in a reservation of the future.
func TestAJobThatCannotMeetItsDeadlineIsLeftToSlurmOnce(t *testing.T) {
	now := int(time.Now().Unix())
	for _, test := range []struct {
		name     string
		deadline int
		reserved string
		want     []string
	}{
		{"parked", now + 500, output.Park, []string{"update JobId=7 ReservationName="}}, // its limit is 10 minutes
		{"left to Slurm before", now + 500, "", []string{"scancel 7"}},
		{"refused for another reason", now + 900, output.Park, []string{"scancel 7"}},
		{"without a deadline", 0, output.Park, []string{"scancel 7"}},
	} {
		log := filepath.Join(t.TempDir(), "log")
		job := outputtest.Printed{ID: 7, Submitted: 1, User: "a", UID: 1, State: "PENDING", Priority: 9, Reserved: test.reserved, Deadline: test.deadline, Mark: "accordion:ep=1x1m"}
		s := scriptedSystem(t, nil, map[string]string{
			"squeue":   "sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + job.Row("WORD") + "END",
			"scontrol": "case \"$*\" in *AdminComment*) exit 0;; update*) echo \"$*\" >>" + log + ";; *) exit 1;; esac",
			"scancel":  "echo scancel \"$*\" >>" + log,
		})
		if err := s.Refuse(t.Context(), adapter.Key{ID: 7, Submitted: 1}, "too late"); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		text, _ := os.ReadFile(log)
		if got := strings.Split(strings.TrimSpace(string(text)), "\n"); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Some commands read A_T as the job whose id is A. Others read A as all tasks of the array.
func TestEachCommandOnAnArraysTaskNamesThatTask(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	var rows string
	for id, task := range map[int]string{50: "2", 51: "1"} {
		job := outputtest.Printed{ID: id, Array: 50, Task: task, Submitted: 1, User: "a", UID: 1, State: "RUNNING", Nodes: "n1", Priority: 9, Mark: "accordion:ep=1x1m"}
		rows += job.Row("WORD")
	}
	s := scriptedSystem(t, nil, map[string]string{
		"squeue":   "sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" <<'END'\n" + rows + "END",
		"scontrol": "case \"$1\" in update|notify|write|hold|release) echo \"$*\" >>" + log + ";; *) exit 1;; esac",
		"scancel":  "echo scancel \"$*\" >>" + log,
	})
	if _, err := s.Jobs.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []core.JobID{50, 51} {
		key := adapter.Key{ID: id, Submitted: 1}
		for _, err := range []error{
			s.Update(t.Context(), key, "TimeLimit=5"), s.Command(t.Context(), key, "hold"), s.Tell(t.Context(), key, "hello"), s.Signal(t.Context(), key, "B:URG"), s.Cancel(t.Context(), key),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Speaks(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := `update JobId=50_2 TimeLimit=5
hold 50_2
notify 50 accordion: hello
scancel --batch --signal=URG 50_2
scancel 50_2
write batch_script 50 -
update JobId=50_1 TimeLimit=5
hold 50_1
notify 51 accordion: hello
scancel --batch --signal=URG 50_1
scancel 50_1
write batch_script 51 -
`
	if string(text) != want {
		t.Errorf("the commands were\n%s\nwant\n%s", text, want)
	}
}
