package oar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// A besteffort job may make OAR wait for its checkpoint as long as its user likes. While other nodes are idle, no other job waits for that.
func TestABesteffortJobWithACheckpointHoldsUpNobodyWhileNodesAreIdle(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 6, lab.Users("alice", "bob"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	patient := lab.Submit(t, "bob", "trap '' USR2; sleep 1000", "-t", "besteffort", "--checkpoint", "3600", "-l", "nodes=2,walltime=2:0:0", "-p", "network_address in ('n1', 'n2')")
	lab.Await(t, long, "the besteffort job runs", func() bool { return lab.State(t, patient) == "Running" })
	ordinary := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-l", "nodes=1,walltime=0:1:0")
	lab.Await(t, time.Minute, "an ordinary job ends", func() bool { return lab.State(t, ordinary) == "Terminated" })
	if got := hosts(t, lab, ordinary); slices.Contains([]string{"n1", "n2"}, got[0]) {
		t.Errorf("the ordinary job ran on %v", got)
	}
	job := lab.Submit(t, "alice", "sleep 1000", "-q", "evolve", "-t", "ep=2x15s,4x15s")
	lab.Await(t, time.Minute, "the evolving job runs", func() bool { return lab.State(t, job) == "Running" })
	lab.Await(t, time.Minute, "the evolving job has grown", func() bool {
		return strings.Contains(lab.Run(t, "root", "accordion", "journal", "--job", job), "grew: from 2 to 4 nodes")
	})
	if events := lab.SQL(t, "select type, description from event_logs where type in ('CHECKPOINT', 'BESTEFFORT_KILL') and job_id = "+patient); events != "" {
		t.Errorf("the besteffort job was asked to make way: %s", events)
	}
	lab.Run(t, "alice", "oardel", job)
	// This job needs the besteffort job's nodes too. The besteffort job may take an hour for its checkpoint.
	wide := lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-t", "ep=6x15s")
	asked := func(id string) func() bool {
		return func() bool {
			return lab.SQL(t, "select count(*) from event_logs where type = 'CHECKPOINT' and job_id = "+id) != "0"
		}
	}
	lab.Await(t, time.Minute, "it gets the checkpoint signal", asked(patient))
	lab.Run(t, "alice", "oardel", wide)
	lab.Run(t, "bob", "oardel", patient)
	lab.Await(t, long, "the wide job is gone", func() bool { return lab.State(t, wide) == "Error" || lab.State(t, wide) == "Terminated" })
	// Another besteffort job has ten seconds for its checkpoint, and does not end by itself.
	brief := lab.Submit(t, "bob", "trap '' USR2; sleep 1000", "-t", "besteffort", "--checkpoint", "10", "-l", "nodes=2,walltime=2:0:0", "-p", "network_address in ('n1', 'n2')")
	lab.Await(t, long, "the other besteffort job runs", func() bool { return lab.State(t, brief) == "Running" })
	wide = lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-t", "ep=6x15s")
	lab.Await(t, time.Minute, "it gets the checkpoint signal", asked(brief))
	lab.Await(t, 90*time.Second, "the wide job ends", func() bool { return lab.State(t, wide) == "Terminated" })
	if had := lab.SQL(t, `select count(*) from jobs j where j.job_id = `+brief+` and j.stop_time >= 10 + (select min(e.date) from event_logs e where e.type = 'CHECKPOINT' and e.job_id = j.job_id)`); had != "1" {
		t.Errorf("the besteffort job had no ten seconds: %s", lab.SQL(t, "select e.type, e.date, j.stop_time, e.description from event_logs e join jobs j on j.job_id = e.job_id where e.job_id = "+brief))
	}
	awaitNothingLeft(t, lab)
	checkNoOverlap(t, lab)
}
