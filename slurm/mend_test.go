package slurm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/slurm/output/outputtest"
)

// slurmWithLostNode returns a Slurm whose node n2 is allocated although no job holds it, until slurmctld is
// reconfigured. It counts reconfigures as lines of a file.
func slurmWithLostNode(t *testing.T, pause time.Duration, cured bool) (s *System, reconfigured func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reconfigured")
	state := "ALLOCATED"
	if cured {
		state = "IDLE"
	}
	s = scriptedSystem(t, func(c *Config) { c.Reconfigure = pause }, map[string]string{
		"squeue": "true",
		"scontrol": `if [ "$1" = reconfigure ]; then echo >>` + file + `; exit; fi
state=ALLOCATED; [ ! -e ` + file + ` ] || state=` + state + `
echo "NodeName=n1 State=IDLE"; echo "NodeName=n2 State=$state"
echo "PartitionName=main OverSubscribe=EXCLUSIVE Nodes=n[1-2] PriorityTier=1 State=UP"`,
	})
	return s, func() int {
		text, _ := os.ReadFile(file)
		return strings.Count(string(text), "\n")
	}
}

func TestALostNodeIsSetFreeByOneReconfigure(t *testing.T) {
	s, reconfigured := slurmWithLostNode(t, 0, true)
	if err := s.Mend(t.Context(), []string{"n2"}); err != nil || reconfigured() != 1 {
		t.Errorf("%v after %d times, want nil after 1", err, reconfigured())
	}
}

// A slurmctld that reads its configuration again assumes that a job's script runs on the job's first node, and
// ignores reports of the script's end from other nodes. The job would then hold its nodes until its time limit.
func TestSlurmctldIsNotReconfiguredWhileAScriptRunsOnAnotherNodeThanTheFirst(t *testing.T) {
	s, reconfigured := slurmWithLostNode(t, 0, true)
	p := outputtest.Printed{ID: 7, Submitted: 1000, User: "alice", UID: 1000, State: "RUNNING", Nodes: "n3", Words: outputtest.Words{Host: "login"}}
	row := strings.Replace(p.Row("WORD"), "|n3|n3|", "|n3|n[1,3]|", 1)
	runs := filepath.Join(t.TempDir(), "runs")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(runs, row)
	write(filepath.Join(s.config.Bin, "squeue"), "#!/bin/sh\nsed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" "+runs+"\n")
	if err := s.Mend(t.Context(), []string{"n2"}); err == nil || !strings.Contains(err.Error(), "waits for the end of job 7") || reconfigured() != 0 {
		t.Errorf("%v after %d times, want none before job 7 is over", err, reconfigured())
	}
	write(runs, "")
	if err := s.Mend(t.Context(), []string{"n2"}); err != nil || reconfigured() != 1 {
		t.Errorf("%v after %d times, want nil after 1", err, reconfigured())
	}
}

func TestANodeThatWasSetFreeIsNotWaitedForWhileAJobEndsOnIt(t *testing.T) {
	s, reconfigured := slurmWithLostNode(t, 0, true)
	p := outputtest.Printed{ID: 7, Submitted: 1000, User: "alice", UID: 1000, State: "COMPLETING", Nodes: "n2"}
	ends := filepath.Join(t.TempDir(), "ends")
	if err := os.WriteFile(ends, []byte(p.Row("WORD")), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nscontrol() { " + filepath.Join(s.config.Bin, "scontrol") + " show node; }\n" +
		"! scontrol | grep -q 'n2 State=IDLE' || sed \"s/WORD/${SQUEUE_FORMAT2##*:}/g\" " + ends + "\n"
	if err := os.WriteFile(filepath.Join(s.config.Bin, "squeue"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Mend(ctx, []string{"n2"}); err != nil || reconfigured() != 1 {
		t.Errorf("%v after %d times, want nil after 1", err, reconfigured())
	}
}

func TestSlurmctldIsNotReconfiguredOverAndOver(t *testing.T) {
	s, reconfigured := slurmWithLostNode(t, time.Hour, false)
	for _, want := range []string{"also after `scontrol reconfigure`", "run again in", "run again in"} {
		if err := s.Mend(t.Context(), []string{"n2"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want: %s", err, want)
		}
	}
	if n := reconfigured(); n != 1 {
		t.Errorf("slurmctld was reconfigured %d times, want once", n)
	}
}

func TestANodeThatSomebodyDrainedIsNotNudged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "undrained")
	s := scriptedSystem(t, nil, map[string]string{
		"squeue": "true",
		"scontrol": `if [ "$1" = update ]; then echo "$*" >>` + file + `; exit; fi
echo "NodeName=n1 State=IDLE"; echo "NodeName=n2 State=IDLE+DRAIN"; echo "NodeName=n3 State=ALLOCATED"
echo "PartitionName=main OverSubscribe=EXCLUSIVE Nodes=n[1-3] PriorityTier=1 State=UP"`,
	})
	if err := s.Repair(t.Context(), []string{"n1", "n2"}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "update NodeName=n1 State=UNDRAIN\n" {
		t.Errorf("slurmctld was told %q, want n1 alone undrained", text)
	}
}
