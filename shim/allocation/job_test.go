package allocation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/core/hostlist"
)

// Output lines of scontrol of Slurm 22.05.8 and 24.11.5. The job's name, which the user chose, looks like other fields.
const (
	slurm22 = "JobId=14 JobName=a JobState=CANCELLED Reason=x NodeList=n9 UserId=alice(999) GroupId=alice(995) MCS_label=N/A Priority=1 Nice=0 " +
		"Account=(null) QOS=normal JobState=RUNNING Reason=None Dependency=(null) Requeue=1 BatchFlag=0 AllocNode:Sid=localhost:28444 " +
		"ReqNodeList=n[1-2] ExcNodeList=(null) NodeList=n[1-2] BatchHost=n1 NumNodes=2 NumCPUs=4 TRES=cpu=4,mem=600M,node=2,billing=4 JOB_GRES=gpu:4 " +
		"  Nodes=n[1-2] CPU_IDs=0-1 Mem=300 GRES=gpu:2(IDX:0-1) MinCPUsNode=1"
	slurm24 = "JobId=2 JobName=c1 UserId=alice(61101) JobState=COMPLETING Reason=None Dependency=(null) ReqNodeList=n[3,7] ExcNodeList=(null) " +
		"NodeList=n[3,7] BatchHost=n3 NumNodes=2 JOB_GRES=gpu:a100:4   Nodes=n3 CPU_IDs=0-1 Mem=3600 GRES=(null)   Nodes=n7 CPU_IDs=0-1 Mem=3600 " +
		"GRES=gpu:a100:4(IDX:0-1,3,5),nic:1(IDX:0),tmp(CNT:10737418240) MinCPUsNode=1"
)

func TestAJobIsReadFromScontrolsLine(t *testing.T) {
	for name, c := range map[string]struct {
		line, state, nodes string
		runs               bool
		gres               map[string]string
	}{
		"22.05": {slurm22, "RUNNING", "n[1-2]", true, map[string]string{"n1": "gpu:2", "n2": "gpu:2", "n9": ""}},
		"24.11": {slurm24, "COMPLETING", "n[3,7]", false, map[string]string{"n3": "", "n7": "gpu:a100:4,nic:1,tmp:10737418240"}},
	} {
		j, err := parseJob(c.line)
		if err != nil || j.State != c.state || hostlist.Compact(j.Nodes) != c.nodes || j.Runs() != c.runs {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
		for node, want := range c.gres {
			if got := j.Gres(node); got != want {
				t.Errorf("%s: node %s has %q, want %q", name, node, got, want)
			}
		}
	}
	for _, line := range []string{"", "NodeList=n1 BatchHost=n1", strings.Replace(slurm22, "NodeList=n[1-2] BatchHost", "NodeList=n[1- BatchHost", 1),
		strings.Replace(slurm22, "NodeList=n[1-2] BatchHost", "NodeList= BatchHost", 1)} {
		if j, err := parseJob(line); err == nil {
			t.Errorf("%q: %+v", line, j)
		}
	}
}

// fake puts a scontrol into PATH.
func fake(t *testing.T, body string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestUnknownJobIsDistinguishedFromAnAbsentController(t *testing.T) {
	fake(t, `echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1`)
	if _, err := Show(t.Context(), 7); !errors.Is(err, ErrUnknown) || err.Error() != "scontrol show job 7: the job does not exist any more" {
		t.Errorf("got %v", err)
	}
	fake(t, `echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1`)
	if _, err := Show(t.Context(), 7); err == nil || errors.Is(err, ErrUnknown) || !strings.HasSuffix(err.Error(), "Unable to contact slurm controller") {
		t.Errorf("got %v", err)
	}
	fake(t, `echo 'KillOnBadExit           = 1'`)
	if kills, err := KillsOnBadExit(t.Context()); err != nil || !kills {
		t.Errorf("KillOnBadExit=1: %v, %v", kills, err)
	}
	fake(t, `echo 'KillOnBadExit           = 0'`)
	if kills, err := KillsOnBadExit(t.Context()); err != nil || kills {
		t.Errorf("KillOnBadExit=0: %v, %v", kills, err)
	}
}
